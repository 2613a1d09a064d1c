// The tables of `roofline` and its picture.
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "analysis/roofline/roofline.h"
#include "analysis/shared/cells.h"
#include "base/saturating.h"
#include "base/units.h"

namespace ridge {
namespace {

Table kernels_table(const Roofline& roofline) {
  Table table;
  table.name = "roofline";
  table.chart = Chart::scatter_log;
  table.hints.important = {"label",        "time_ns",   "pct_of_roof", "bound", "headroom_ns",
                           "pct_gpu_time", "intensity", "flops_per_s", "count"};
  table.columns = {{"kernel", Type::text},
                   {"intensity", Type::number},
                   {"flops_per_s", Type::number, Unit::flop_per_s},
                   {"roof_flops_per_s", Type::number, Unit::flop_per_s},
                   {"pct_of_roof", Type::number, Unit::percent},
                   {"bound", Type::text},
                   {"time_ns", Type::integer, Unit::ns},
                   {"headroom_ns", Type::number, Unit::ns},
                   {"count", Type::integer, Unit::count},
                   {"pct_gpu_time", Type::number, Unit::percent},
                   {"bytes_per_s", Type::number, Unit::bytes_per_s},
                   {"dtype", Type::text},
                   {"estimate", Type::text},
                   {"device", Type::integer},
                   {"label", Type::text}};
  const std::int64_t whole = roofline.kernels.time_ns;
  const auto add = [&](Row* row, const CostSum& sum, std::int64_t time_ns, std::int64_t count) {
    const RoofPoint point = roof_point(sum);
    const CostSum cost = sum.told();
    row->insert(row->end(), {cells::number(point.intensity), cells::number(point.flops_per_s),
                             cells::number(point.roof_flops_per_s), cells::number(point.pct_of_roof),
                             cells::text(name_of(cost.bound())), time_ns, cells::number(cost.headroom_ns.value()), count,
                             cells::percent(time_ns, whole), cells::number(cost.bytes.per_second())});
  };
  for (const KernelRow& k : roofline.kernels.rows) {
    Row row = {std::string(k.kernel)};
    add(&row, k.cost, k.time_ns, k.count);
    row.insert(row.end(),
               {cells::text(k.cost.dtype_text()), cells::text(name_of(k.cost.estimate)), k.device, std::string(k.label)});
    table.add_row(row);
  }
  Row total = {Cell()};
  add(&total, roofline.kernels.cost, whole, roofline.kernels.count);
  total.resize(table.columns.size());
  total[5] = Cell();  // one bound for all says nothing
  table.total = std::move(total);
  return table;
}

Table iterations_table(const Roofline& roofline) {
  Table table;
  table.name = "iterations";
  table.columns = {{"iteration", Type::integer},
                   {"duration_ns", Type::integer, Unit::ns},
                   {"kernel_time_ns", Type::integer, Unit::ns},
                   {"flops", Type::number, Unit::flop},
                   {"bytes", Type::number, Unit::bytes},
                   {"mfu_pct", Type::number, Unit::percent},
                   {"bandwidth_pct", Type::number, Unit::percent},
                   {"flops_known_pct", Type::number, Unit::percent},
                   {"bytes_known_pct", Type::number, Unit::percent}};
  const auto row_of = [&](const IterationUse& use, Cell number) {
    const CostSum cost = use.cost.told();
    return Row{std::move(number),
               use.duration_ns,
               cost.time_ns,
               cells::number(cost.flops.value()),
               cells::number(cost.bytes.value()),
               cells::number(mfu_pct(use, roofline.use.devices)),
               cells::number(bandwidth_pct(use, roofline.use.devices)),
               cells::number(cost.flops_known_pct()),
               cells::number(cost.bytes_known_pct())};
  };
  for (const IterationUse& use : roofline.use.iterations) table.add_row(row_of(use, use.iteration));
  if (!table.empty()) table.total = row_of(roofline.use.all, Cell());
  return table;
}

std::string_view unit_name(MathUnit unit) { return unit == MathUnit::matrix ? "matrix" : "vector"; }

Table roofs_table(const Roofline& roofline) {
  Table table;
  table.name = "roofs";
  table.columns = {{"device", Type::integer},
                   {"name", Type::text},
                   {"dtype", Type::text},
                   {"unit", Type::text},
                   {"peak_flops_per_s", Type::number, Unit::flop_per_s},
                   {"bandwidth_bytes_per_s", Type::number, Unit::bytes_per_s},
                   {"ridge_intensity", Type::number},
                   {"measured", Type::boolean},
                   {"source", Type::text}};
  for (const DeviceRoof& roof : roofline.roofs) {
    const double bandwidth = roof.spec.bandwidth.high;
    table.add_row({roof.device, roof.spec.name, std::string(name_of(roof.dtype)), std::string(unit_name(roof.unit)),
                   roof.peak.high, bandwidth > 0 ? Cell(bandwidth) : Cell(), cells::ratio(roof.peak.high, bandwidth),
                   roof.spec.measured, roof.spec.source});
  }
  return table;
}

bool drawable(double value) { return std::isfinite(value) && value > 0; }

std::string label_of(const DeviceRoof& roof) {
  return std::string(name_of(roof.dtype)) + " " + std::string(unit_name(roof.unit));
}

// From where the memory's slope leaves the picture, up to the peak, and on to its right edge.
PlotLine roof_line(const DeviceRoof& roof, double left, double right) {
  const double bandwidth = roof.spec.bandwidth.high, ridge = roof.peak.high / bandwidth;
  PlotLine line;
  line.label = label_of(roof);
  if (left < ridge) line.points.emplace_back(left, left * bandwidth);
  line.points.emplace_back(std::max(left, ridge), roof.peak.high);
  if (right > ridge) line.points.emplace_back(right, roof.peak.high);
  return line;
}

// Where a kernel is drawn: under the roofs, by its FLOPs and bytes; by its bytes alone; or nowhere, as neither is known.
enum class DrawnBy : std::uint8_t { intensity, bandwidth, nothing };

DrawnBy drawn_by(const KernelRow& kernel, const RoofPoint& point) {
  if (drawable(point.intensity.value_or(0)) && drawable(point.flops_per_s.value_or(0))) return DrawnBy::intensity;
  return drawable(kernel.cost.told().bytes.per_second().value_or(0)) && kernel.time_ns > 0 ? DrawnBy::bandwidth
                                                                                           : DrawnBy::nothing;
}

// The kernels of some devices, by where they are drawn, with the time of each part.
struct KernelParts {
  std::array<std::vector<const KernelRow*>, 3> kernels;
  std::array<std::int64_t, 3> time_ns{};
  std::int64_t whole_ns = 0;

  const std::vector<const KernelRow*>& of(DrawnBy part) const { return kernels[static_cast<std::size_t>(part)]; }
  std::string share(DrawnBy part) const {
    return format_percent(100.0 * static_cast<double>(time_ns[static_cast<std::size_t>(part)]) /
                          static_cast<double>(std::max<std::int64_t>(1, whole_ns)));
  }
};

KernelParts parts_of(const Roofline& roofline, const std::vector<std::int64_t>& devices) {
  KernelParts parts;
  for (const KernelRow& k : roofline.kernels.rows) {
    if (std::ranges::count(devices, k.device) == 0) continue;
    const auto part = static_cast<std::size_t>(drawn_by(k, roof_point(k.cost)));
    parts.kernels[part].push_back(&k);
    saturating_add(&parts.time_ns[part], k.time_ns);
    saturating_add(&parts.whole_ns, k.time_ns);
  }
  return parts;
}

double weight_of(const KernelRow& kernel, const Roofline& roofline) {
  return static_cast<double>(kernel.time_ns) / static_cast<double>(std::max<std::int64_t>(1, roofline.kernels.time_ns));
}

std::string title_of(const DeviceSpec& spec, std::string_view what) {
  return fmt::format("{}, {}{}", spec.name, spec.measured ? "measured peaks" : "data sheet peaks", what);
}

// "3 kernels (4.1 %) are not drawn: neither their FLOPs nor their bytes are known: a, b, c"
std::string not_drawn(const KernelParts& parts) {
  constexpr std::size_t kNamed = 3;
  const std::vector<const KernelRow*>& left = parts.of(DrawnBy::nothing);
  if (left.empty()) return "";
  std::string text = fmt::format("; {} {} ({}) not drawn, neither FLOPs nor bytes known: ", left.size(),
                                 left.size() == 1 ? "kernel" : "kernels", parts.share(DrawnBy::nothing));
  for (std::size_t i = 0; i < std::min(kNamed, left.size()); ++i) text += (i == 0 ? "" : ", ") + std::string(left[i]->label);
  return text + (left.size() > kNamed ? ", ..." : "");
}

// One picture for each sort of device, because devices of a sort share their roofs.
Plot roof_plot(const Roofline& roofline, const KernelParts& parts, const DeviceSpec& spec, std::int64_t device) {
  Plot plot;
  plot.title = title_of(spec, "");
  plot.x = {"FLOP per byte", Unit::none};
  plot.y = {"FLOP/s", Unit::flop_per_s};
  double left = 1, right = 1;
  for (const KernelRow* k : parts.of(DrawnBy::intensity)) {
    const RoofPoint point = roof_point(k->cost);
    plot.points.push_back({*point.intensity, *point.flops_per_s, weight_of(*k, roofline), std::string(k->label)});
    left = std::min(left, *point.intensity);
    right = std::max(right, *point.intensity);
  }
  for (const DeviceRoof& roof : roofline.roofs) {
    if (roof.device == device && roof.spec.bandwidth.known())
      right = std::max(right, 4 * roof.peak.high / roof.spec.bandwidth.high);
  }
  for (const DeviceRoof& roof : roofline.roofs) {
    if (roof.device != device || !roof.spec.bandwidth.known()) continue;
    const auto same =
        std::ranges::find_if(plot.lines, [&](const PlotLine& line) { return line.points.back().second == roof.peak.high; });
    if (same == plot.lines.end()) {
      plot.lines.push_back(roof_line(roof, left / 2, right * 2));
    } else {
      same->label += ", " + label_of(roof);
    }
  }
  plot.note = "shows " + parts.share(DrawnBy::intensity) + " of kernel time";
  return plot;
}

// Kernels that only move data, or whose FLOPs are unknown: how near they come to the memory's bandwidth, over how long a
// launch takes, as short ones cannot reach it.
Plot bandwidth_plot(const Roofline& roofline, const KernelParts& parts, const DeviceSpec& spec) {
  Plot plot;
  plot.title = title_of(spec, ": kernels without known FLOPs");
  plot.x = {"time per launch", Unit::ns};
  plot.y = {"bytes/s", Unit::bytes_per_s};
  double left = std::numeric_limits<double>::max(), right = 0;
  for (const KernelRow* k : parts.of(DrawnBy::bandwidth)) {
    const double each_ns = static_cast<double>(k->time_ns) / static_cast<double>(std::max<std::int64_t>(1, k->count));
    plot.points.push_back(
        {each_ns, k->cost.told().bytes.per_second().value_or(0), weight_of(*k, roofline), std::string(k->label)});
    left = std::min(left, each_ns);
    right = std::max(right, each_ns);
  }
  if (spec.bandwidth.known() && !plot.points.empty())
    plot.lines.push_back({"memory", {{left / 2, spec.bandwidth.high}, {right * 2, spec.bandwidth.high}}});
  plot.note = "shows " + parts.share(DrawnBy::bandwidth) + " of kernel time";
  return plot;
}

std::vector<Plot> plots_of(const Roofline& roofline) {
  std::map<std::string, std::vector<std::int64_t>> devices;
  std::map<std::string, const DeviceSpec*> specs;
  for (const DeviceRoof& roof : roofline.roofs) {
    std::vector<std::int64_t>& ids = devices[roof.spec.name];
    if (ids.empty() || ids.back() != roof.device) ids.push_back(roof.device);
    specs.try_emplace(roof.spec.name, &roof.spec);
  }
  std::vector<Plot> plots;
  for (const auto& [name, ids] : devices) {
    const KernelParts parts = parts_of(roofline, ids);
    std::vector<Plot> both = {roof_plot(roofline, parts, *specs[name], ids.front()),
                              bandwidth_plot(roofline, parts, *specs[name])};
    std::erase_if(both, [](const Plot& plot) { return plot.points.empty(); });
    if (!both.empty()) both.back().note += not_drawn(parts);
    std::ranges::move(both, std::back_inserter(plots));
  }
  return plots;
}

}  // namespace

Report report_roofline(const Roofline& roofline) {
  Report report;
  report.tables = {kernels_table(roofline), iterations_table(roofline), roofs_table(roofline)};
  report.plots = plots_of(roofline);
  report.diagnostics = roofline.kernels.diagnostics;
  return report;
}

}  // namespace ridge
