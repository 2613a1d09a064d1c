// Runs the other analyses at once, then lays their structs out as one page and picks the next command.
#include "analysis/summary/summary.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <numeric>
#include <set>
#include <variant>

#include <fmt/format.h>

#include "analysis/catalog.h"
#include "analysis/findings/savings.h"
#include "analysis/graphs/compiled_share.h"
#include "analysis/shared/cells.h"
#include "analysis/shared/cost_diagnostics.h"
#include "analysis/summary/warnings.h"
#include "base/in_parallel.h"
#include "base/saturating.h"
#include "base/units.h"
#include "facts/scope_diagnostics.h"
#include "model/iteration_spans.h"
#include "trace/args.h"

namespace ridge {
namespace {

constexpr std::size_t kTopRows = 8;

void compute_iterations(const Scope& scope, Summary* summary) {
  summary->iterations = scope.iterations();
  summary->time = iteration_time(scope);
  const std::optional<FirstIteration> first = first_iteration(scope.model().iterations(), summary->iterations);
  if (!first) return;
  summary->first_iteration_ratio = first->ratio();
  summary->first_is_outlier = first->outlies();
  summary->behind_first = first->next;
}

// All of the scope but what was queued before the recording.
std::int64_t own_events(const Scope& scope) {
  const LaunchLinks& links = scope.model().links();
  std::int64_t events = 0;
  for_each_work(scope, [&](const Device&, const WorkRow& work) { events += links.is_inherited(work.row) ? 0 : 1; });
  return events;
}

bool any_op_has(const Trace& trace, ArgKey key) {
  const auto& forms = trace.forms.forms();
  return std::any_of(forms.begin(), forms.end(), [&](const Form& form) {
    if (trace.forms.kinds()[form.kind.value].event_class != EventClass::op) return false;
    const auto& slots = trace.forms.schemas()[form.schema.value].slots;
    return std::any_of(slots.begin(), slots.end(), [&](const Slot& slot) { return slot.key == id_of(key) && !slot.member; });
  });
}

std::vector<Lack> lacks_of(const Trace& trace) {
  std::vector<Lack> lacks;
  const bool ops = !trace.of(EventClass::op).empty();
  if (trace.of(EventClass::device_work).empty() && is_cut_short(trace)) {
    lacks.push_back({"device work", "a complete file: this one is truncated, and its device events were probably cut off"});
  } else if (is_cut_short(trace)) {
    lacks.push_back(
        {"the end of the file", "a complete file: device events are written last, so device figures cover only part of them"});
  } else if (trace.of(EventClass::device_work).empty()) {
    lacks.push_back({"device work", "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA] (or the device's own)"});
  }
  if (!ops) lacks.push_back({"ops", "activities with ProfilerActivity.CPU"});
  if (ops && !any_op_has(trace, ArgKey::input_dims)) lacks.push_back({"shapes of inputs", "record_shapes=True"});
  if (trace.of(EventClass::python_frame).empty()) lacks.push_back({"Python stacks", "with_stack=True"});
  if (trace.of(EventClass::memory).empty()) lacks.push_back({"memory events", "profile_memory=True"});
  return lacks;
}

// ---- tables
// ---------------------------------------------------------------------------------------------------------------------

class KeyValues {
 public:
  explicit KeyValues(std::string name) {
    table_.name = std::move(name);
    table_.hints.key_value = true;
  }
  void add(std::string name, Type type, Unit unit, Cell value) {
    table_.add_column({std::move(name), type, unit}, {std::move(value)});
  }
  Table take() { return std::move(table_); }

 private:
  Table table_;
};

std::string device_names(const Gpu& gpu) {
  std::set<std::string> distinct;
  for (const GpuDevice& device : gpu.devices)
    distinct.insert(device.name.empty() ? "device " + std::to_string(device.device) : device.name);
  const bool alike = gpu.devices.size() > 1 && distinct.size() == 1;
  std::string names = alike ? std::to_string(gpu.devices.size()) + " x " : "";
  for (const std::string& name : distinct) names += (name == *distinct.begin() ? "" : ", ") + name;
  return names;
}

Table head_table(const Summary& s) {
  const auto iterations = static_cast<std::int64_t>(s.iterations.size());
  std::int64_t busy = 0, whole = 0;
  for (const GpuDevice& device : s.gpu.devices) {
    saturating_add(&busy, device.busy_ns);
    saturating_add(&whole, device.window_ns);
  }
  const bool on_device = !s.gpu.devices.empty();
  const auto per_iteration = [&](std::int64_t value) { return iterations == 0 ? Cell() : Cell(value / iterations); };
  KeyValues head("summary");
  head.add("device", Type::text, Unit::none, on_device ? Cell(device_names(s.gpu)) : Cell());
  head.add("window_ns", Type::integer, Unit::ns, s.window.duration_ns());
  head.add("iterations", Type::integer, Unit::count, iterations == 0 ? Cell() : Cell(iterations));
  head.add("per", Type::text, Unit::none, iterations == 0 ? Cell() : Cell(std::string(name_of(s.model->iterations().rule))));
  head.add("iteration_ns", Type::integer, Unit::ns, iterations == 0 ? Cell() : Cell(s.time.mean_ns()));
  head.add("median_iteration_ns", Type::integer, Unit::ns, cells::integer(s.time.median_ns));
  head.add("step_without_profiler_ns", Type::integer, Unit::ns, cells::integer(s.step_ns));
  head.add("step_low_ns", Type::integer, Unit::ns, cells::integer(s.step_low_ns));
  head.add("step_high_ns", Type::integer, Unit::ns, cells::integer(s.step_high_ns));
  head.add("first_iteration_ratio", Type::number, Unit::none,
           s.first_iteration_ratio ? Cell(*s.first_iteration_ratio) : Cell());
  head.add("gpu_busy_pct", Type::number, Unit::percent, on_device ? Cell(cells::percent(busy, whole)) : Cell());
  head.add("gpu_busy_per_iteration_ns", Type::integer, Unit::ns,
           on_device ? per_iteration(s.own_busy_ns / static_cast<std::int64_t>(s.gpu.devices.size())) : Cell());
  head.add("device_events_per_iteration", Type::integer, Unit::count, on_device ? per_iteration(s.own_events) : Cell());
  const IterationUse& use = s.use.all;
  head.add("mfu_pct", Type::number, Unit::percent, cells::number(mfu_pct(use, s.use.devices)));
  const auto of_step = [&](std::optional<double> of_iteration) {
    const bool known = of_iteration && s.step_ns && *s.step_ns > 0;
    return known ? Cell(*of_iteration * static_cast<double>(s.time.mean_ns()) / static_cast<double>(*s.step_ns)) : Cell();
  };
  const std::optional<double> busy_of_iteration =
      on_device && iterations > 0 && s.time.mean_ns() > 0
          ? std::optional(100.0 * static_cast<double>(s.own_busy_ns) / static_cast<double>(s.gpu.devices.size()) /
                          static_cast<double>(iterations) / static_cast<double>(s.time.mean_ns()))
          : std::nullopt;
  // Recorded kernels hold the recorder's share, the step does not: where they fill it, they would be more than all of it.
  Cell busy_of_step = of_step(busy_of_iteration);
  if (double* pct = std::get_if<double>(&busy_of_step)) *pct = std::min(*pct, 100.0);
  head.add("gpu_busy_pct_of_step", Type::number, Unit::percent, busy_of_step);
  head.add("mfu_pct_of_step", Type::number, Unit::percent, of_step(mfu_pct(use, s.use.devices)));
  head.add("bandwidth_pct", Type::number, Unit::percent, cells::number(bandwidth_pct(use, s.use.devices)));
  head.add("flops_known_pct", Type::number, Unit::percent, cells::number(use.cost.flops_known_pct()));
  head.add("bytes_known_pct", Type::number, Unit::percent, cells::number(use.cost.bytes_known_pct()));
  const bool compiled = s.graphs.compiled();
  // With ops, no compiled code is none, and no phase of a compiler no time; whatever --filter and --step leave of them.
  const bool told = compiled || !s.model->compile_phases().empty() || !s.model->trace().of(EventClass::op).empty();
  head.add("compiled", Type::boolean, Unit::none, compiled);
  head.add("compiled_pct_gpu_time", Type::number, Unit::percent, told ? cells::number(compiled_pct(s.graphs)) : Cell());
  head.add("graph_breaks", Type::integer, Unit::count, told ? Cell(s.breaks.occurrences()) : Cell());
  head.add("recompiles", Type::integer, Unit::count,
           told ? Cell(static_cast<std::int64_t>(s.breaks.recompiles.size())) : Cell());
  head.add("compile_ns", Type::integer, Unit::ns, told ? Cell(s.compile.total_ns()) : Cell());
  head.add("autotune_ns", Type::integer, Unit::ns, told ? Cell(s.compile.autotune_ns()) : Cell());
  return head.take();
}

Table idle_table(const Summary& s) {
  Table table;
  table.name = "idle";
  table.columns = {{"cause", Type::text},
                   {"time_ns", Type::integer, Unit::ns},
                   {"pct_window", Type::number, Unit::percent},
                   {"meaning", Type::text}};
  std::array<std::int64_t, kIdleCauses> sums{};
  std::int64_t window = 0, idle = 0;
  for (const GpuDevice& device : s.gpu.devices) {
    for (std::size_t c = 0; c < kIdleCauses; ++c) saturating_add(&sums[c], device.idle[c].time_ns);
    saturating_add(&window, device.window_ns);
    saturating_add(&idle, device.idle_ns);
  }
  std::vector<std::size_t> order(kIdleCauses);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return sums[a] > sums[b]; });
  for (const std::size_t c : order) {
    if (sums[c] == 0) continue;
    const auto cause = static_cast<IdleCause>(c);
    table.add_row({std::string(name_of(cause)), sums[c], cells::percent(sums[c], window), std::string(meaning_of(cause))});
  }
  if (!table.empty()) table.total = Row{Cell(), idle, cells::percent(idle, window), Cell()};
  return table;
}

Table categories_table(const Summary& s) {
  Table table;
  table.name = "categories";
  table.columns = {{"category", Type::text},
                   {"launches", Type::integer, Unit::count},
                   {"time_ns", Type::integer, Unit::ns},
                   {"pct_gpu_time", Type::number, Unit::percent}};
  for (const CategoryShare& c : s.categories.categories) {
    table.add_row({std::string(name_of(c.category)), c.launches, c.time_ns, cells::percent(c.time_ns, s.categories.time_ns)});
  }
  if (!table.empty()) table.total = Row{Cell(), s.categories.launches, s.categories.time_ns, 100.0};
  return table;
}

// Shares are of all device work, as those of `categories` above.
Table kernels_table(const Summary& s) {
  Table table;
  table.name = "top_kernels";
  table.columns = {{"count", Type::integer, Unit::count},
                   {"time_ns", Type::integer, Unit::ns},
                   {"pct_gpu_time", Type::number, Unit::percent},
                   {"category", Type::text},
                   {"label", Type::text}};
  for (std::size_t i = 0; i < std::min(kTopRows, s.kernels.rows.size()); ++i) {
    const KernelRow& k = s.kernels.rows[i];
    table.add_row({k.count, k.timed > 0 ? Cell(k.time_ns) : Cell(), cells::percent(k.time_ns, s.categories.time_ns),
                   std::string(name_of(k.category)), std::string(k.label)});
  }
  return table;
}

Table ops_table(const Summary& s) {
  Table table;
  table.name = "top_ops";
  table.columns = {{"count", Type::integer, Unit::count},
                   {"device_self_ns", Type::integer, Unit::ns},
                   {"cpu_self_ns", Type::integer, Unit::ns},
                   {"op", Type::text}};
  for (std::size_t i = 0; i < std::min(kTopRows, s.ops.rows.size()); ++i) {
    const OpRow& op = s.ops.rows[i];
    table.add_row({op.is_op ? Cell(op.count) : Cell(), s.ops.has_device_work ? Cell(op.device_self_ns) : Cell(),
                   op.is_op && op.times_known() ? Cell(op.cpu_self_ns) : Cell(), std::string(op.op)});
  }
  return table;
}

Table lacks_table(const Summary& s) {
  Table table;
  table.name = "lacks";
  table.columns = {{"lacks", Type::text}, {"add_with", Type::text}};
  for (const Lack& lack : s.lacks) table.add_row({lack.what, lack.remedy});
  return table;
}

// What to fix first stands at the top of the page; what shows it is in `findings`.
Table top_findings(const Summary& s) {
  Table table = findings_table(s.findings, true);
  table.truncate(kTopRows);
  table.hints.leads = true;
  return table;
}

// The path as a shell takes it; nothing for standard input, which cannot be read twice.
std::string in_shell(const std::string& path) {
  if (path == kStandardInput) return {};
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || std::string_view("/._-+,:@%=").find(c) != std::string_view::npos;
  };
  if (std::all_of(path.begin(), path.end(), plain)) return path;
  std::string quoted = "'";
  for (const char c : path) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

// The command that goes on where the summary points to.
std::string next_command(const Summary& s) {
  if (s.gpu.devices.empty()) return "ops";
  if (!s.findings.rows.empty()) return "findings";
  std::int64_t busy = 0, window = 0, waiting = 0;
  for (const GpuDevice& device : s.gpu.devices) {
    saturating_add(&busy, device.busy_ns);
    saturating_add(&window, device.window_ns);
    saturating_add(&waiting, device.idle_ns - device.idle[static_cast<std::size_t>(IdleCause::head_tail)].time_ns);
  }
  if (s.breaks.occurrences() > 0 && waiting > window / 5) return "breaks";
  if (s.compile.total_ns() > window / 5) return "compile";
  return waiting > window / 4 ? "gaps" : "kernels";
}

void add_step(const WhatIf& what_if, Summary* summary) {
  if (!what_if.why_not().empty()) return;
  summary->step_ns = what_if.without_profiler_ns();
  summary->step_low_ns = what_if.without_profiler_low_ns();
  summary->step_high_ns = what_if.without_profiler_high_ns();
  summary->measured_ns = what_if.measured_ns();
}

// "in the trace 8.1 ms a step, without the profiler about 4.8 ms (4.5 to 5.2)".
std::string step_line(const Summary& s) {
  if (!s.step_ns || s.iterations.empty()) return "";
  const auto text = [](std::int64_t ns) { return format_duration(static_cast<double>(ns)); };
  if (s.measured_ns && !explains_measured(*s.measured_ns, *s.step_ns))
    return fmt::format("in the trace {} a step; {}", text(s.time.mean_ns()), unexplained_text(*s.measured_ns, *s.step_ns));
  if (s.measured_ns)
    return fmt::format("in the trace {} a step, without the profiler {} as measured", text(s.time.mean_ns()), text(*s.step_ns));
  return fmt::format("in the trace {} a step, without the profiler about {} ({} to {})", text(s.time.mean_ns()),
                     text(*s.step_ns), text(*s.step_low_ns), text(*s.step_high_ns));
}

}  // namespace

Summary compute_summary(const Scope& scope, std::optional<std::int64_t> measured_ns) {
  Summary summary;
  std::optional<Ledger> ledger;
  summary.model = &scope.model();
  summary.window = scope.window();
  const JobSize job{scope.trace().events.size()};
  // Each needs the tables below; beyond these they do not depend on each other.
  scope.model().links();
  at_once(
      job, [&] { scope.model().timeline(); }, [&] { scope.model().iterations(); }, [&] { scope.model().forward_backward(); });
  const Scope whole = scope.of_whole_iterations();  // figures per iteration are of these
  compute_iterations(whole, &summary);
  summary.own_events = own_events(whole);
  const Scope unfiltered = scope.unfiltered();  // --filter chooses what is listed, not what the program is
  at_once(
      job, [&] { summary.graphs = compute_graphs(unfiltered); }, [&] { summary.breaks = compute_breaks(unfiltered); },
      [&] { summary.gpu = compute_gpu(scope); },
      [&] { summary.categories = compute_categories(scope, CompilerWorkFilter::without); },
      [&] { summary.kernels = compute_kernels(scope, std::nullopt, WithCosts::no, CompilerWorkFilter::without); },
      [&] { summary.ops = compute_ops(scope, std::nullopt, WithCosts::no, CompilerWorkFilter::without); },
      [&] { summary.compile = compute_compile(unfiltered); }, [&] { ledger.emplace(whole); },
      [&] { scope.model().locations(); }, [&] { scope.costs().build(); });
  for (const DeviceLedger& device : ledger->devices()) saturating_add(&summary.own_busy_ns, device.busy_ns);
  LaunchRates launch_rates;
  const bool cut = scope.by_time();  // findings are of other iterations then
  at_once(
      job,
      [&] {
        const SavingsOnce savings(unfiltered, WhatIf::From::without_profiler, measured_ns);
        summary.findings = compute_findings(unfiltered, {},
                                            {.graphs = cut ? nullptr : &summary.graphs,
                                             .breaks = cut ? nullptr : &summary.breaks,
                                             .compile = cut ? nullptr : &summary.compile,
                                             .ledger = &*ledger,
                                             .launch_rates = &launch_rates,
                                             .savings = &savings});
        add_step(savings.get().what_if(), &summary);
      },
      [&] {
        summary.use = compute_utilisation(scope);
        if (job.worth_a_thread()) launch_rates.get([&] { return compute_launch_rates(unfiltered.of_whole_iterations()); });
      });
  summary.lacks = lacks_of(scope.trace());
  summary.unknown_costs = cost_diagnostics(scope, summary.use.all.cost);
  return summary;
}

Report report_summary(const Summary& summary) {
  Report report;
  report.headline = step_line(summary);
  report.tables = {head_table(summary),    idle_table(summary), categories_table(summary),
                   kernels_table(summary), ops_table(summary),  lacks_table(summary)};
  if (!summary.gpu.no_device_events) report.tables.push_back(top_findings(summary));
  report.diagnostics = summary_warnings(summary);
  if (const std::string trace = in_shell(summary.model->trace().path); !trace.empty())
    report.next = "ridge " + next_command(summary) + " " + trace;
  return report;
}

Result<Report> run_summary(const Scope& scope, const Arguments& arguments) {
  const auto measured = measured_step(arguments);
  if (!measured) return tl::unexpected(measured.error());
  const Summary summary = compute_summary(scope, *measured);
  Report report = report_summary(summary);
  if (scope.filtered()) {
    const bool matches = !summary.categories.categories.empty() || !summary.kernels.rows.empty() || !summary.ops.rows.empty();
    report.diagnostics.push_back(about_filter(
        scope, matches,
        "--filter applies to tables that list names; busy and idle time, launches and findings cover the whole trace"));
  }
  return report;
}

}  // namespace ridge
