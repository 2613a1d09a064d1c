// Gates: limits that a user sets for CI. They act on the point estimate; with --significant the interval of the change must
// exclude zero too. A gate that fails leaves a line that names it and the row, and makes the command end with 3. So does one
// that cannot be judged because a trace lacks what it is about: a recording that went wrong must not pass for a fast one.
#include <charconv>
#include <cmath>

#include "analysis/diff/diff.h"
#include "analysis/shared/cells.h"
#include "base/try.h"
#include "base/units.h"

namespace ridge::diff {
namespace {

// "5%", "5 %" or "5".
Result<std::optional<double>> percent_argument(const Arguments& arguments, std::string_view name, std::string_view flag) {
  const auto it = arguments.find(name);
  if (it == arguments.end()) return std::optional<double>();
  const std::string& text = it->second;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view rest(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const bool good = error == std::errc{} && std::isfinite(value) && value >= 0 && (rest.empty() || rest == "%" || rest == " %");
  if (good) return std::optional(value);
  return fail(ErrorCode::usage, std::string(flag) + " takes a percentage, not '" + text + "'", "", "example: 5%");
}

Result<double> number_argument(const Arguments& arguments, std::string_view name, std::string_view flag, double otherwise) {
  const auto it = arguments.find(name);
  if (it == arguments.end()) return otherwise;
  const std::string& text = it->second;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc{} && end == text.data() + text.size() && std::isfinite(value) && value >= 0) return value;
  return fail(ErrorCode::usage, std::string(flag) + " takes a number of at least 0, not '" + text + "'");
}

class GateTable {
 public:
  explicit GateTable(Report& report) : report_(report) {
    table_.name = "gates";
    table_.columns = {{"gate", Type::text},    {"failed", Type::boolean}, {"limit", Type::number},
                      {"value", Type::number}, {"trace", Type::text},     {"row", Type::text}};
  }

  void add(std::string_view gate, bool failed, double limit, Cell value, std::size_t trace, const std::string& row,
           const std::string& words) {
    table_.add_row({std::string(gate), failed, limit, std::move(value), letter_of(trace), row});
    if (!failed) return;
    report_.gate_failed = true;
    report_.diagnostics.push_back({"gate_failed", 1, std::string(gate) + ": " + words, "error"});
  }

  void finish() {
    if (!table_.empty()) report_.tables.push_back(std::move(table_));
  }

 private:
  Report& report_;
  Table table_;
};

std::string rise(const Diff& diff, std::size_t t, std::int64_t a, std::int64_t b, double percent) {
  const std::string_view per = diff.sides[0].time_range || diff.sides[t].time_range ? "" : " per iteration";
  return format_duration(static_cast<double>(a)) + " -> " + format_duration(static_cast<double>(b)) + std::string(per) + " (+" +
         format_percent(percent) + ")";
}

// Whether both traces are whole and have what the gate is about; else it fails and says which is not.
bool can_judge(const Diff& diff, std::string_view gate, double limit, std::size_t t, std::string_view what,
               bool (*has)(const SideTotals&), GateTable& table) {
  const auto those = [&](auto chosen) {
    std::string names;
    for (const std::size_t side : {std::size_t{0}, t}) {
      if (chosen(diff.sides[side]))
        names += (names.empty() ? "" : " and ") + letter_of(side) + " (" + diff.sides[side].name + ")";
    }
    return names;
  };
  const std::string cut = those([](const SideTotals& side) { return side.cut_short; });
  const std::string lacking = those([&](const SideTotals& side) { return !has(side); });
  if (cut.empty() && lacking.empty()) return true;
  const std::string words =
      "cannot be judged: " + (lacking.empty() ? "the file is truncated: " + cut : "no " + std::string(what) + " in " + lacking);
  table.add(gate, true, limit, Cell(), t, words, words);
  return false;
}

bool has_device_work(const SideTotals& side) { return side.work > 0 || side.gpu_ns > 0; }
bool has_host_events(const SideTotals& side) { return side.has_host_events; }

// A gate on kernels that were renamed must not pass for one that was kept.
bool matches_nothing(const Diff& diff, std::string_view gate, double limit, std::size_t t, GateTable& table) {
  if (!diff.filtered || !diff.groups.empty()) return false;
  const std::string words = "cannot be judged: no name matches --filter";
  table.add(gate, true, limit, Cell(), t, words, words);
  return true;
}

bool excludes_zero(const std::optional<Interval95>& interval) { return interval && interval->excludes_zero(); }

void gate_total(const Diff& diff, const Gates& gates, std::size_t t, GateTable& table) {
  if (!can_judge(diff, "--fail-above", *gates.fail_above_pct, t, "device work", has_device_work, table)) return;
  if (matches_nothing(diff, "--fail-above", *gates.fail_above_pct, t, table)) return;
  const ListedTime &a = diff.listed[0], &b = diff.listed[t];
  const std::string what(gpu_time_words(diff));
  const double change = static_cast<double>(b.gpu_ns - a.gpu_ns);
  const double percent = a.gpu_ns > 0 ? 100 * change / static_cast<double>(a.gpu_ns) : b.gpu_ns > 0 ? HUGE_VAL : 0;
  const bool sure = !gates.significant || excludes_zero(interval_of_change(a.gpu_time, b.gpu_time));
  const bool failed = percent > *gates.fail_above_pct && sure;
  table.add("--fail-above", failed, *gates.fail_above_pct, a.gpu_ns > 0 ? Cell(percent) : Cell(), t, what,
            what + " " + rise(diff, t, a.gpu_ns, b.gpu_ns, percent));
}

void gate_groups(const Diff& diff, const Gates& gates, std::size_t t, GateTable& table) {
  const double limit = *gates.fail_kernel_above_pct;
  if (!can_judge(diff, "--fail-kernel-above", limit, t, "device work", has_device_work, table)) return;
  if (matches_nothing(diff, "--fail-kernel-above", limit, t, table)) return;
  bool any = false;
  for (const Group& group : diff.groups) {
    const GroupChange& change = group.changes[t];
    const bool matched = group.match && !group.sides[0].positions.empty() && !group.sides[t].positions.empty();
    if (!matched || !change.delta_pct || *change.delta_pct <= limit || static_cast<double>(change.delta_ns) <= gates.min_ns)
      continue;
    if (gates.significant && !excludes_zero(change.interval)) continue;
    any = true;
    table.add("--fail-kernel-above", true, limit, *change.delta_pct, t, group.name,
              group.name + " " + rise(diff, t, group.sides[0].time_ns, group.sides[t].time_ns, *change.delta_pct));
  }
  if (!any) table.add("--fail-kernel-above", false, limit, Cell(), t, "", "");
}

void gate_breaks(const Diff& diff, const Gates& gates, std::size_t t, GateTable& table) {
  const auto limit = static_cast<double>(*gates.max_new_breaks);
  if (!can_judge(diff, "--max-new-breaks", limit, t, "host events", has_host_events, table)) return;
  std::string places;
  std::int64_t added = 0;
  for (const BreakChange& change : diff.breaks) {
    if (change.occurrences[0] > 0 || change.occurrences[t] <= 0) continue;
    added += change.breaks;
    places += (places.empty() ? "" : ", ") + change.location;
    if (change.breaks > 1) places += " x" + std::to_string(change.breaks);
  }
  table.add("--max-new-breaks", added > *gates.max_new_breaks, limit, static_cast<double>(added), t, places,
            std::to_string(added) + (added == 1 ? " new graph break: " : " new graph breaks: ") + places);
}

}  // namespace

Result<Gates> gates_of(const Arguments& arguments) {
  Gates gates;
  TRY(gates.fail_above_pct, percent_argument(arguments, "fail_above", "--fail-above"));
  TRY(gates.fail_kernel_above_pct, percent_argument(arguments, "fail_kernel_above", "--fail-kernel-above"));
  TRY(gates.min_ns, number_argument(arguments, "min_ns", "--min-ns", gates.min_ns));
  if (arguments.contains("max_new_breaks")) {
    TRY(const double most, number_argument(arguments, "max_new_breaks", "--max-new-breaks", 0));
    gates.max_new_breaks = static_cast<std::int64_t>(std::min(most, 1e15));
  }
  gates.significant = arguments.contains("significant");
  return gates;
}

Result<Thresholds> thresholds_of(const Arguments& arguments) {
  Thresholds thresholds;
  TRY(const std::optional<double> percent, percent_argument(arguments, "min_pct", "--min-pct"));
  thresholds.relative_pct = percent.value_or(thresholds.relative_pct);
  TRY(thresholds.absolute_ns, number_argument(arguments, "min_ns", "--min-ns", thresholds.absolute_ns));
  return thresholds;
}

void apply_gates(const Diff& diff, const Gates& gates, Report& report) {
  GateTable table(report);
  for (std::size_t t = 1; t < diff.sides.size(); ++t) {
    if (gates.fail_above_pct) gate_total(diff, gates, t, table);
    if (gates.fail_kernel_above_pct) gate_groups(diff, gates, t, table);
    if (gates.max_new_breaks) gate_breaks(diff, gates, t, table);
  }
  table.finish();
}

}  // namespace ridge::diff
