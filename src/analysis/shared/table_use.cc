// Asks the table once for each distinct launch, as src/predict does for its time.
#include "analysis/shared/table_use.h"

#include <vector>

#include <fmt/format.h>

#include "base/saturating.h"
#include "base/units.h"
#include "cost/launch_costs.h"
#include "facts/scoped_work.h"
#include "predict/table_source.h"
#include "trace/args.h"

namespace ridge {
namespace {

constexpr const char* kTaken = "table_taken";
constexpr const char* kNotTaken = "table_not_taken";

Diagnostic of_no_row(const KernelTable& table, std::string_view of) {
  return {kNotTaken, 1, fmt::format("no row of --table is taken: none of its {} tells the time of {}", table.size(), of)};
}

// Rows that serve nothing are said: they may be of other shapes than was meant.
Diagnostic of_rows(const KernelTable& table, std::size_t used, const std::string& what) {
  return {kTaken, static_cast<std::int64_t>(used),
          fmt::format("{} of {} rows of --table stand for {}; the rest is by the model", used, table.size(), what),
          used == table.size() ? "info" : "warning"};
}

Diagnostic of_other_device(const KernelTable& table, const std::string& device) {
  return {kNotTaken, 1, fmt::format("no row of --table is taken: it was measured on {}, this is {}", table.device(), device)};
}

// Of one distinct cost.
struct TableQuestion {
  bool expected = false;         // its time is asked for: of an op's call, or of a generated kernel
  const OpCall* call = nullptr;  // of an op
  std::optional<bool> told;      // by the table, once it was asked
};

std::vector<TableQuestion> asked_by_cost(const LaunchCosts& costs) {
  std::vector<TableQuestion> asked(costs.costs.size());
  for (const CostedCall& call : costs.calls) {
    for (std::uint32_t i = 0; i < call.launches; ++i) asked[call.first_cost + i] = {true, &call.call, {}};
  }
  for (const CostedKernel& kernel : costs.kernels) asked[kernel.cost].expected = true;
  return asked;
}

}  // namespace

std::optional<Diagnostic> table_use(const Scope& scope) {
  const KernelTable* table = table_of(scope.costs().options());
  if (table == nullptr) return std::nullopt;
  const Trace& trace = scope.trace();
  const ArgColumn grid(trace, ArgKey::grid), block(trace, ArgKey::block);
  std::vector<TableQuestion> asked = asked_by_cost(scope.costs().costs());
  const auto dims = [&](const ArgColumn& column, EventId event) {
    const auto text = column.text(event);
    return text ? parse_dim3(trace.text(*text)) : std::nullopt;
  };
  KernelTable::Used used;
  std::int64_t all_ns = 0, told_ns = 0;
  bool right_device = false;
  std::string other;
  for_each_work(scope, [&](const Device& device, const WorkRow& work) {
    const EventId event = trace.of(EventClass::device_work)[work.row];
    if (trace.kind(event).work != DeviceWork::kernel) return;
    saturating_add(&all_ns, duration_ns(work));
    const DeviceSpec* spec = scope.costs().device(device.id);
    if (spec == nullptr || !table->is_of(*spec)) {
      if (other.empty()) other = spec != nullptr ? spec->name : "a device that is not known";
      return;
    }
    right_device = true;
    TableQuestion& cost = asked[scope.costs().costs().of_row[work.row]];
    if (!cost.expected) return;
    if (!cost.told) {
      const std::string_view name = trace.text(trace.events.name(event));
      cost.told = table->launch(name, dims(grid, event), dims(block, event), cost.call, &used).has_value();
    }
    if (*cost.told) saturating_add(&told_ns, duration_ns(work));
  });
  if (all_ns == 0) return std::nullopt;
  if (!right_device) return of_other_device(*table, other);
  if (used.empty()) return of_no_row(*table, "a launch of this trace");
  return of_rows(*table, used.size(),
                 format_percent(100 * static_cast<double>(told_ns) / static_cast<double>(all_ns)) + " of kernel time");
}

void LinesOfTable::add(bool told, const KernelTable::Used& used) {
  ++lines_;
  if (!told || used.empty()) return;
  ++told_;
  used_.insert(used.begin(), used.end());
}

Diagnostic LinesOfTable::told(const KernelTable& table, const DeviceSpec& device) const {
  if (!table.is_of(device)) return of_other_device(table, device.name);
  if (used_.empty()) return of_no_row(table, "a line of --ops");
  return of_rows(table, used_.size(), fmt::format("{} of {} lines", told_, lines_));
}

}  // namespace ridge
