// One function per caveat: device not known, a device that is beaten, no peak for a dtype, an algorithm that is not told, clock
// without effect, costs partly known.
#include "analysis/shared/cost_diagnostics.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/saturating.h"
#include "base/units.h"
#include "facts/scoped_work.h"
#include "model/device_properties.h"
#include "model/model.h"
#include "trace/tables.h"

namespace ridge {
namespace {

constexpr double kMostlyUnknown = 50;  // percent: where less is known, the reader is told
constexpr double kMuchHidden = 10;     // percent of kernel time that graphs replayed without ops: what would help is told
constexpr std::size_t kMostNamed = 8;  // a job's combined trace may have hundreds of devices

// Names of the devices that have work in the scope and no peaks, in their order.
std::vector<std::string> unknown_devices(const Scope& scope) {
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const Device& device : scope.model().timeline().devices) {
    if (!scope.has_device(device.id) || scope.costs().device(device.id) != nullptr) continue;
    const DeviceProperties* properties = properties_of(scope.model(), device.id);
    const bool named = properties != nullptr && !properties->name.empty();
    const std::string name = named ? "'" + properties->name + "'" : "device " + std::to_string(device.id);
    if (seen.insert(name).second) names.push_back(name);
  }
  return names;
}

bool shapes_recorded(const Trace& trace) {
  const OpTable table = ops(trace);
  return std::ranges::any_of(table.events, [&](EventId event) { return table.input_dims.text(event).has_value(); });
}

template <class Names>
std::string joined(const Names& names) {
  std::string text;
  std::size_t named = 0;
  for (const std::string& name : names) {
    if (named++ == kMostNamed) break;
    text += (text.empty() ? "" : ", ") + name;
  }
  return names.size() > kMostNamed ? text + " and " + std::to_string(names.size() - kMostNamed) + " more" : text;
}

// Names of the devices in the scope whose peaks `holds` of.
template <class Holds>
std::set<std::string> devices_where(const Scope& scope, Holds holds) {
  std::set<std::string> names;
  for (const Device& device : scope.model().timeline().devices) {
    const DeviceSpec* spec = scope.has_device(device.id) ? scope.costs().device(device.id) : nullptr;
    if (spec != nullptr && holds(*spec)) names.insert("'" + spec->name + "'");
  }
  return names;
}

// A clock that was asked for and scales nothing.
std::optional<Diagnostic> clock_without_effect(const Scope& scope) {
  if (scope.costs().options().clock_mhz <= 0) return std::nullopt;
  const auto names = devices_where(scope, [](const DeviceSpec& spec) { return spec.boost_mhz <= 0; });
  if (names.empty()) return std::nullopt;
  return Diagnostic{"clock_without_effect", static_cast<std::int64_t>(names.size()),
                    "--clock-mhz has no effect for " + joined(names) +
                        ": the clock of its peaks is unknown; give boost_mhz in a --device-file FILE"};
}

std::optional<Diagnostic> no_peak(const Scope& scope, const CostSum& total) {
  std::set<std::string> missing;
  for (std::size_t i = 0; i < kDTypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    if ((total.dtypes_without_peak >> i & 1U) == 0) continue;
    for (const std::string& device :
         devices_where(scope, [&](const DeviceSpec& spec) { return !peak_flops(spec, dtype, MathUnit::matrix).known(); })) {
      missing.insert(std::string(name_of(dtype)) + " on " + device);
    }
  }
  if (missing.empty()) return std::nullopt;
  return Diagnostic{"no_peak", static_cast<std::int64_t>(missing.size()),
                    "no known peak for " + joined(missing) +
                        ": kernels of that dtype have no percent of peak and no roof; give the peak in a --device-file FILE"};
}

// Convolutions by an algorithm with other arithmetic than their definition, of which the names of the kernels do not tell how
// much they multiply.
std::optional<Diagnostic> untold_algorithm(const Scope& scope) {
  const Trace& trace = scope.trace();
  std::set<std::string_view> kernels;
  for_each_work(scope, [&](const Device& device, const WorkRow& work) {
    const LaunchCost& cost = scope.costs()[work.row];
    const bool computes = scope.model().identities()[work.row].category == Category::conv && cost.flops.value_or(0) > 0;
    if (!computes || duration_ns(work) <= 0 || scope.costs().device(device.id) == nullptr) return;
    const bool has_peak = peak_flops(*scope.costs().device(device.id), cost.dtype, MathUnit::matrix).known();
    if (has_peak && !scope.costs().roof(work.row).pct_peak_flops)
      kernels.insert(trace.text(trace.events.name(trace.of(EventClass::device_work)[work.row])));
  });
  if (kernels.empty()) return std::nullopt;
  return Diagnostic{
      "untold_algorithm", static_cast<std::int64_t>(kernels.size()),
      "convolutions by Winograd's algorithm or by Fourier transforms multiply less than their definition, and " +
          std::to_string(kernels.size()) +
          (kernels.size() == 1 ? " kernel does not tell how much: it has" : " kernels do not tell how much: they have") +
          " no percent of peak and no roof",
      "info"};
}

// Kernel time of the scope that graphs replayed and whose costs are unknown because the op is.
std::int64_t replayed_without_ops_ns(const Scope& scope) {
  const GraphReplays& replays = scope.model().graph_replays();
  if (replays.replays.empty()) return 0;
  std::vector<bool> hidden(scope.trace().of(EventClass::device_work).size());
  for (const std::uint32_t row : replays.rows) hidden[row] = replays.recovered_op(row).op == kNoNode;
  std::int64_t sum = 0;
  for_each_work(scope, [&](const Device&, const WorkRow& work) {
    const bool kernel = scope.trace().kind(scope.trace().of(EventClass::device_work)[work.row]).work == DeviceWork::kernel;
    if (hidden[work.row] && kernel && !scope.costs()[work.row].flops) saturating_add(&sum, duration_ns(work));
  });
  return sum;
}

// A device that was asked for and whose peaks the recorded kernels beat. Short launches and bytes that a cache may serve are no
// proof, nor is attention, of which a mask may leave half.
std::optional<Diagnostic> beaten_device(const Scope& scope, const CostSum& total) {
  constexpr double kBeaten = 110, kShare = 1;  // percent: of a peak, of kernel time
  constexpr std::int64_t kLong_ns = 10'000;
  constexpr double kBeyondCaches = 512e6;  // bytes
  if (!scope.costs().options().device) return std::nullopt;
  double most = 0;
  std::int64_t time_ns = 0;
  for_each_work(scope, [&](const Device&, const WorkRow& work) {
    if (duration_ns(work) < kLong_ns) return;
    const LaunchCost& cost = scope.costs()[work.row];
    const Roof roof = scope.costs().roof(work.row);
    const bool masked = scope.model().identities()[work.row].category == Category::attention || cost.flops_causal;
    const double flops = masked ? 0 : roof.pct_peak_flops.value_or(0);
    const bool cached = cost.bytes_read.value_or(0) + cost.bytes_written.value_or(0) < kBeyondCaches;
    const double reached = std::max(flops, cached ? 0 : roof.pct_peak_bandwidth.value_or(0));
    if (reached < kBeaten) return;
    most = std::max(most, reached);
    saturating_add(&time_ns, duration_ns(work));
  });
  if (100 * static_cast<double>(time_ns) < kShare * static_cast<double>(total.time_ns) || time_ns == 0) return std::nullopt;
  std::set<std::string> recorded;
  for (const Device& device : scope.model().timeline().devices) {
    const DeviceProperties* properties = scope.has_device(device.id) ? properties_of(scope.model(), device.id) : nullptr;
    if (properties != nullptr && !properties->name.empty()) recorded.insert("'" + properties->name + "'");
  }
  return Diagnostic{"device_beaten", 1,
                    "kernels reach up to " + format_percent(most) + " of a peak of '" + scope.costs().options().device->name +
                        "' (--device): it cannot be the device that ran them" +
                        (recorded.empty() ? "" : ", the trace names " + joined(recorded)) +
                        "; percentages of peak, roofs and headroom do not hold"};
}

}  // namespace

std::vector<Diagnostic> cost_diagnostics(const Scope& scope, const CostSum& total) {
  std::vector<Diagnostic> found;
  for (const Device& device : scope.model().timeline().devices) {
    const DeviceProperties* taken = properties_of(scope.model(), device.id);
    if (scope.costs().options().device || taken == nullptr || taken->id == device.id) continue;
    found.push_back({"device_by_elimination", 1,
                     "all work ran on device " + std::to_string(device.id) +
                         ", which the trace does not describe: assumed to be the only one that it describes, '" + taken->name +
                         "'",
                     "info"});
  }
  if (const std::vector<std::string> unknown = unknown_devices(scope); !unknown.empty()) {
    found.push_back({"unknown_device", static_cast<std::int64_t>(unknown.size()),
                     "no known peaks for " + joined(unknown) +
                         ": no percentages, no roofs; choose a similar device with --device (ridge devices lists them) or give "
                         "its figures in a --device-file FILE (docs/adding-a-device.md)"});
  }
  if (auto beaten = beaten_device(scope, total)) found.push_back(std::move(*beaten));
  if (auto clock = clock_without_effect(scope)) found.push_back(std::move(*clock));
  if (auto peak = no_peak(scope, total)) found.push_back(std::move(*peak));
  if (auto untold = untold_algorithm(scope)) found.push_back(std::move(*untold));
  const std::int64_t hidden_ns = scope.trace().borrowed ? 0 : replayed_without_ops_ns(scope);
  const double hidden_pct = total.time_ns > 0 ? 100.0 * static_cast<double>(hidden_ns) / static_cast<double>(total.time_ns) : 0;
  if (hidden_pct >= kMuchHidden) {
    found.push_back({"replays_without_ops", 1,
                     format_percent(hidden_pct) +
                         " of kernel time was replayed by graphs, which hide its ops: give the trace of their capture, or of a "
                         "run without graphs, with --capture FILE"});
  }
  if (total.time_ns > 0 && !total.flops.known && !total.bytes.known && hidden_pct < kMostlyUnknown) {
    found.push_back({"no_costs", 1,
                     shapes_recorded(scope.trace())
                         ? "FLOPs and bytes are unknown for all kernels: no op with a known formula launched them"
                         : "FLOPs and bytes are unknown for all kernels: they need shapes, record with record_shapes=True"});
  }
  return found;
}

std::optional<Diagnostic> partly_known(const CostSum& total) {
  const double flops = total.flops_known_pct().value_or(100), bytes = total.bytes_known_pct().value_or(100);
  if (std::min(flops, bytes) >= kMostlyUnknown || (!total.flops.known && !total.bytes.known)) return std::nullopt;
  return Diagnostic{"costs_partly_known", 1,
                    "FLOPs are known for " + format_percent(flops) + " of kernel time, bytes for " + format_percent(bytes) +
                        ": sums, rates and headroom cover only those kernels"};
}

}  // namespace ridge
