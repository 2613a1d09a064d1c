#include "analysis/kernel_costs.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "analysis/cells.h"
#include "base/saturating.h"
#include "base/units.h"
#include "model/device_properties.h"
#include "model/model.h"

namespace ridge {
namespace {

constexpr double kNsPerSecond = 1e9;
constexpr double kLeastKnown = 1;      // percent of a group's time: what is known of less says nothing about the group
constexpr double kMostlyUnknown = 50;  // percent: where less is known, the reader is told

void add_known(const std::optional<double>& value, std::int64_t time, KnownSum* sum) {
  if (value) sum->add(*value, time);
}

// From the firmest to the weakest.
constexpr std::array kByStrength = {Estimate::exact, Estimate::shapes, Estimate::source, Estimate::ambiguous};

Estimate weaker(Estimate a, Estimate b) {
  for (auto it = kByStrength.rbegin(); it != kByStrength.rend(); ++it) {
    if (a == *it || b == *it) return *it;
  }
  return Estimate::none;
}

std::optional<double> share(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? std::optional(100.0 * static_cast<double>(part) / static_cast<double>(whole)) : std::nullopt;
}

// Names of the devices that have work in the scope and no peaks.
std::set<std::string> unknown_devices(const Scope& scope) {
  std::set<std::string> names;
  for (const Device& device : scope.model().timeline().devices) {
    if (!scope.has_device(device.id) || scope.costs().device(device.id) != nullptr) continue;
    const DeviceProperties* properties = properties_of(scope.model(), device.id);
    const bool named = properties != nullptr && !properties->name.empty();
    names.insert(named ? "'" + properties->name + "'" : "device " + std::to_string(device.id));
  }
  return names;
}

std::string joined(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
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
                    "--clock-mhz changes nothing for " + joined(names) +
                        ": at which clock its peaks hold is not known; --device-file FILE can give them with boost_mhz"};
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
  return Diagnostic{
      "no_peak", static_cast<std::int64_t>(missing.size()),
      "there is no peak for " + joined(missing) +
          ", so kernels that compute in it have no percentage of it and no roof: --device-file FILE can give one"};
}

}  // namespace

void KnownSum::add(const KnownSum& other) {
  sum += other.sum;
  saturating_add(&time_ns, other.time_ns);
  known |= other.known;
}

std::optional<double> KnownSum::per_second() const {
  return known && time_ns > 0 ? std::optional(sum / static_cast<double>(time_ns) * kNsPerSecond) : std::nullopt;
}

std::optional<double> KnownSum::pct_of_time() const {
  return known && time_ns > 0 ? std::optional(100.0 * sum / static_cast<double>(time_ns)) : std::nullopt;
}

bool KnownSum::speaks_for(std::int64_t whole_ns) const {
  if (!known || time_ns >= whole_ns) return known;
  return sum != 0 && 100.0 * static_cast<double>(time_ns) >= kLeastKnown * static_cast<double>(whole_ns);
}

void CostSum::add(const CostModel& costs, std::size_t row, std::int64_t device, std::int64_t time) {
  saturating_add(&time_ns, time);
  const LaunchCost& cost = costs[row];
  add_known(cost.flops, time, &flops);
  add_known(cost.flops_causal, time, &flops_causal);
  add_known(cost.flops_pointwise, time, &flops_pointwise);
  add_known(cost.bytes_read, time, &bytes_read);
  add_known(cost.bytes_written, time, &bytes_written);
  if (cost.bytes_read && cost.bytes_written) bytes.add(*cost.bytes_read + *cost.bytes_written, time);
  if (cost.dtype != DType::unknown) dtypes |= 1U << static_cast<unsigned>(cost.dtype);
  estimate = weaker(estimate, cost.estimate);
  if (costs.device(device) == nullptr) {
    saturating_add(&bound_ns[static_cast<std::size_t>(Bound::unknown)], time);
    return;
  }
  const Roof roof = costs.roof(row);
  const auto ns_at_peak = [&](double percent) { return percent / 100.0 * static_cast<double>(time); };
  if (cost.flops == 0.0) {
    peak_flops_ns.add(0, time);
  } else if (roof.pct_peak_flops && std::isfinite(*roof.pct_peak_flops)) {
    peak_flops_ns.add(ns_at_peak(*roof.pct_peak_flops), time);
  } else if (cost.flops && time > 0 && cost.dtype != DType::unknown) {
    dtypes_without_peak |= 1U << static_cast<unsigned>(cost.dtype);
  }
  if (roof.pct_peak_bandwidth && std::isfinite(*roof.pct_peak_bandwidth))
    peak_bytes_ns.add(ns_at_peak(*roof.pct_peak_bandwidth), time);
  add_known(roof.roof_ns, time, &roof_ns);
  add_known(roof.headroom_ns, time, &headroom_ns);
  saturating_add(&bound_ns[static_cast<std::size_t>(roof.bound)], time);
}

void CostSum::add(const CostSum& other) {
  saturating_add(&time_ns, other.time_ns);
  for (KnownSum CostSum::* const member :
       {&CostSum::flops, &CostSum::flops_causal, &CostSum::flops_pointwise, &CostSum::bytes_read, &CostSum::bytes_written,
        &CostSum::bytes, &CostSum::peak_flops_ns, &CostSum::peak_bytes_ns, &CostSum::roof_ns, &CostSum::headroom_ns}) {
    (this->*member).add(other.*member);
  }
  for (std::size_t i = 0; i < bound_ns.size(); ++i) saturating_add(&bound_ns[i], other.bound_ns[i]);
  dtypes |= other.dtypes;
  dtypes_without_peak |= other.dtypes_without_peak;
  estimate = weaker(estimate, other.estimate);
}

// flops_causal and flops_pointwise are parts by nature: of attention, of fused kernels.
CostSum CostSum::told() const {
  CostSum out = *this;
  for (KnownSum CostSum::* const member :
       {&CostSum::flops, &CostSum::bytes_read, &CostSum::bytes_written, &CostSum::bytes, &CostSum::peak_flops_ns,
        &CostSum::peak_bytes_ns, &CostSum::roof_ns, &CostSum::headroom_ns}) {
    (out.*member).known = (out.*member).speaks_for(time_ns);
  }
  return out;
}

Bound CostSum::bound() const {
  const auto most = std::max_element(bound_ns.begin() + 1, bound_ns.end());
  return *most > 0 ? static_cast<Bound>(most - bound_ns.begin()) : Bound::unknown;
}

std::string CostSum::dtype_text() const {
  std::string text;
  for (std::size_t i = 0; i < kDTypes; ++i) {
    if ((dtypes >> i & 1U) != 0) text += (text.empty() ? "" : ", ") + std::string(name_of(static_cast<DType>(i)));
  }
  return text;
}

std::optional<double> CostSum::flops_known_pct() const { return share(flops.time_ns, time_ns); }
std::optional<double> CostSum::bytes_known_pct() const { return share(bytes.time_ns, time_ns); }

const std::vector<Column>& cost_columns() {
  static const std::vector<Column> columns = {{"flops", Type::number, Unit::flop},
                                              {"flops_pointwise", Type::number, Unit::flop},
                                              {"bytes_read", Type::number, Unit::bytes},
                                              {"bytes_written", Type::number, Unit::bytes},
                                              {"flops_per_s", Type::number, Unit::flop_per_s},
                                              {"bytes_per_s", Type::number, Unit::bytes_per_s},
                                              {"pct_peak_flops", Type::number, Unit::percent},
                                              {"pct_peak_bandwidth", Type::number, Unit::percent},
                                              {"bound", Type::text},
                                              {"roof_ns", Type::number, Unit::ns},
                                              {"headroom_ns", Type::number, Unit::ns},
                                              {"dtype", Type::text},
                                              {"estimate", Type::text}};
  return columns;
}

void push_cost_cells(const CostSum& sum, Row* row) {
  const CostSum cost = sum.told();
  const std::initializer_list<Cell> cells = {cells::number(cost.flops.value()),
                                             cells::number(cost.flops_pointwise.value()),
                                             cells::number(cost.bytes_read.value()),
                                             cells::number(cost.bytes_written.value()),
                                             cells::number(cost.flops.per_second()),
                                             cells::number(cost.bytes.per_second()),
                                             cells::number(cost.peak_flops_ns.pct_of_time()),
                                             cells::number(cost.peak_bytes_ns.pct_of_time()),
                                             cells::text(name_of(cost.bound())),
                                             cells::number(cost.roof_ns.value()),
                                             cells::number(cost.headroom_ns.value()),
                                             cells::text(cost.dtype_text()),
                                             cells::text(name_of(cost.estimate))};
  row->insert(row->end(), cells);
}

const std::vector<Column>& coverage_columns() {
  static const std::vector<Column> columns = {{"flops_known_pct", Type::number, Unit::percent},
                                              {"bytes_known_pct", Type::number, Unit::percent},
                                              {"flops_causal", Type::number, Unit::flop}};
  return columns;
}

void push_coverage_cells(const CostSum& cost, Row* row) {
  row->push_back(cells::number(cost.flops_known_pct()));
  row->push_back(cells::number(cost.bytes_known_pct()));
  row->push_back(cells::number(cost.flops_causal.value()));
}

std::vector<Diagnostic> cost_diagnostics(const Scope& scope, const CostSum& total) {
  std::vector<Diagnostic> found;
  for (const Device& device : scope.model().timeline().devices) {
    const DeviceProperties* taken = properties_of(scope.model(), device.id);
    if (scope.costs().options().device || taken == nullptr || taken->id == device.id) continue;
    found.push_back({"device_by_elimination", 1,
                     "all work ran on device " + std::to_string(device.id) +
                         ", which the trace does not describe: taken to be the only one that it does, '" + taken->name + "'",
                     "info"});
  }
  if (const std::set<std::string> unknown = unknown_devices(scope); !unknown.empty()) {
    found.push_back(
        {"unknown_device", static_cast<std::int64_t>(unknown.size()),
         "the peaks of " + joined(unknown) +
             " are not known, so there are no percentages and no roofs: name a like device with "
             "--device (ridge devices lists them) or give its figures with --device-file FILE (docs/adding-a-device.md)"});
  }
  if (auto clock = clock_without_effect(scope)) found.push_back(std::move(*clock));
  if (auto peak = no_peak(scope, total)) found.push_back(std::move(*peak));
  if (total.time_ns > 0 && !total.flops.known && !total.bytes.known) {
    found.push_back(
        {"no_costs", 1, "no kernel's FLOPs or bytes are known: they come from shapes, which record_shapes=True records"});
  }
  return found;
}

std::optional<Diagnostic> partly_known(const CostSum& total) {
  const double flops = total.flops_known_pct().value_or(100), bytes = total.bytes_known_pct().value_or(100);
  if (std::min(flops, bytes) >= kMostlyUnknown || (!total.flops.known && !total.bytes.known)) return std::nullopt;
  return Diagnostic{"costs_partly_known", 1,
                    "FLOPs are known for " + format_percent(flops) + " of the kernels' time, bytes for " +
                        format_percent(bytes) + ": sums, rates and headroom of several kernels are of those that are known"};
}

}  // namespace ridge
