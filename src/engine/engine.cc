// The engine behind <ridge/engine.h>: opens traces, runs the catalog, completes the reports.
#include <ridge/engine.h>
#include <ridge/folder.h>
#include <ridge/timeline.h>
#include <ridge/trace_table.h>

#include <algorithm>
#include <iostream>
#include <iterator>
#include <utility>

#include <ridge/argument_list.h>

#include "analysis/catalog.h"
#include "analysis/categories/categories.h"
#include "analysis/critical/critical.h"
#include "analysis/findings/findings.h"
#include "analysis/kernels/kernels.h"
#include "analysis/ops/ops.h"
#include "base/distinct_names.h"
#include "base/lasting.h"
#include "base/stop.h"
#include "base/threads.h"
#include "base/try.h"
#include "engine/cost_options.h"
#include "engine/digests.h"
#include "engine/folder.h"
#include "engine/loading.h"
#include "engine/parameters.h"
#include "engine/schema_table.h"
#include "engine/trace_tables.h"
#include "facts/scope_diagnostics.h"
#include "ingest/reader.h"
#include "job/make_digest.h"
#include "sql/run_sql.h"

namespace ridge {

struct Engine::State {
  std::shared_ptr<Threads> threads;
  TraceTables tables;
  std::vector<std::string> names;           // of the traces, short ones that differ
  std::shared_ptr<const HeldJob> job = {};  // in place of traces
  std::vector<Diagnostic> left_out = {};    // what of a job could not be read
};

Engine::Engine(std::unique_ptr<State> state) : state_(std::move(state)) {}
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;
Engine::~Engine() = default;

namespace {

// What a question made is in use until its end: only then can room be made.
struct TrimAtEnd {
  Cache* cache;
  ~TrimAtEnd() { cache->trim(); }
};

// What may be asked to stop, at any depth (base/stop.h).
template <class Work>
auto unless_stopped(const Work& work) -> decltype(work()) {
  const Stop::Use use(Stop::given_by_client());
  try {
    Stop::look();
    return work();
  } catch (const Stopped&) {
    return fail(ErrorCode::interrupted, "interrupted");
  }
}

// Which of several traces an argument does not fit.
Error with_trace_path(Error error, const Trace& trace, std::size_t traces) {
  if (traces > 1 && error.where.empty()) error.where = trace.path;
  return error;
}

bool lists_nothing(const Report& report) {
  return !report.tables.empty() && !report.tables.front().hints.key_value && report.tables.front().empty();
}

Result<Report> answer(const AnalysisRow& row, std::span<const Scope> scopes, const Arguments& arguments) {
  return row.compare != nullptr ? row.compare(scopes, arguments) : row.run(scopes.front(), arguments);
}

// An analysis reads no files: those that its own parameters name are given to it as texts.
Result<Arguments> with_texts_of_files(const AnalysisRow& row, Arguments arguments) {
  constexpr std::uintmax_t kMostBytes = 256 << 20;
  for (const Parameter& parameter : row.info.parameters) {
    const auto given = arguments.find(parameter.name);
    if (!parameter.names_file || given == arguments.end()) continue;
    if (given->second == "-") {
      given->second.assign(std::istreambuf_iterator<char>(std::cin), {});
      continue;
    }
    TRY(given->second, read_small_file(given->second, "the file of --" + std::string(parameter.name), kMostBytes));
  }
  return arguments;
}

// The queries of --by-sql: a table each, whose rows are failures.
Result<void> add_gates(const Scope& scope, const Arguments& arguments, Report* report) {
  const auto queries = listed(arguments, "by_sql");
  for (std::size_t i = 0; i < queries.size(); ++i) {
    TRY(Table rows, sql::answer_query(scope, queries[i], {}));
    rows.name = i == 0 ? "by_sql" : "by_sql_" + std::to_string(i + 1);
    if (!rows.empty()) {
      report->gate_failed = true;
      report->diagnostics.push_back({std::string(sql::kGateFailedCode), static_cast<std::int64_t>(rows.size()),
                                     "--by-sql gives rows: " + std::string(queries[i]), "error"});
    }
    report->tables.push_back(std::move(rows));
  }
  return {};
}

// Whether --filter is why the answer's own list is empty, and the answer does not say so itself: without it there is something
// to list.
Result<bool> is_emptied_by_filter(const AnalysisRow& row, std::span<const Scope> scopes, const Arguments& arguments,
                                  const Report& report) {
  const auto says_why = [](const Diagnostic& d) { return d.code == kFilterMatchesNothing || d.code == kNoFindings; };
  if (!scopes.front().filtered() || !lists_nothing(report) ||
      std::any_of(report.diagnostics.begin(), report.diagnostics.end(), says_why)) {
    return false;
  }
  std::vector<Scope> all;
  for (const Scope& scope : scopes) all.push_back(scope.unfiltered());
  TRY(const Report whole, answer(row, all, arguments));
  return !lists_nothing(whole);
}

// Parameters whose values are words of a list, with who knows the list.
struct ListedParameter {
  std::string_view analysis, parameter;
  std::span<const std::string_view> (*values)();
};
constexpr ListedParameter kListedParameters[] = {
    {"kernels", "by", kernels_by_names},
    {"ops", "by", ops_by_names},
    {"categories", "by", categories_by_names},
    {"critical", "by", critical_by_names},
};

}  // namespace

Result<Engine> Engine::open(const std::vector<std::string>& paths, const OpenOptions& options) {
  if (paths.empty()) return fail(ErrorCode::usage, "no trace given", "", "give the path of a trace, or - for standard input");
  const auto threads = std::make_shared<Threads>(options.threads);
  const Threads::Use use(threads.get());
  const ReadOptions read = read_options(options);
  if (auto good = check_captures(options, paths.size()); !good) return tl::unexpected(good.error());
  if (options.digests_only || is_digest_file(paths.front())) {
    TRY(LoadedDigests digests, load_digests(paths, options));
    auto job = std::make_shared<const HeldJob>(std::move(digests.digests));
    return Engine(std::unique_ptr<State>(
        new State{threads, {{}, 0, threads, false}, {}, std::move(job), std::move(digests.diagnostics)}));
  }
  TraceTables::Traces traces;
  for (const std::string& given : paths) {
    TRY(const std::string path, resolve_folder(given));
    TRY(std::unique_ptr<Trace> trace, load_trace(path, capture_of(options, traces.size()), read));
    if (traces.size() < options.names.size() && !options.names[traces.size()].empty())
      trace->path = options.names[traces.size()];
    traces.push_back(std::move(trace));
  }
  std::vector<std::string> read_from;
  for (const auto& trace : traces) read_from.push_back(trace->path);
  return Engine(std::unique_ptr<State>(new State{
      threads, {std::move(traces), options.cache_bytes, threads, options.named_files_only}, distinct_names(read_from)}));
}

Engine Engine::without_trace() {
  const auto threads = std::make_shared<Threads>();
  return Engine(std::unique_ptr<State>(new State{threads, {{}, 0, threads, false}, {}}));
}

Result<Report> Engine::run(std::string_view analysis, const Arguments& arguments, std::optional<std::size_t> trace) const {
  return unless_stopped([&]() -> Result<Report> {
    TRY(const AnalysisRow* const row, find_analysis(analysis));
    if (auto known = check_names(*row, arguments); !known) return tl::unexpected(known.error());
    TraceTables& tables = state_->tables;
    if (!row->info.needs_trace || (row->info.trace_optional && tables.size() == 0)) {
      TRY(const CostSettings settings, read_cost_settings(arguments));
      TRY(const Arguments texts, with_texts_of_files(*row, arguments));
      TRY(Report report, row->run_alone(settings.options, texts));
      report.command = row->info.name;
      return report;
    }
    if (row->join != nullptr) return join_ranks(*row, arguments);
    if (tables.size() == 0 && state_->job != nullptr) {
      return fail(ErrorCode::usage, std::string(analysis) + " needs a trace, and this is a digest",
                  state_->job->digests.front().path, "ridge ranks answers from digests; give the trace itself");
    }
    if (tables.size() == 0) return fail(ErrorCode::usage, std::string(analysis) + " needs a trace");
    if (trace && *trace >= tables.size()) return fail(ErrorCode::usage, "no trace with index " + std::to_string(*trace));
    const std::size_t given = trace ? 1 : tables.size();
    if (given < row->info.fewest_traces) {
      return fail(ErrorCode::usage, std::string(analysis) + " needs " + std::to_string(row->info.fewest_traces) + " traces", "",
                  "ridge " + std::string(analysis) + " before.json after.json");
    }
    const std::size_t first = trace.value_or(0);
    const std::size_t end = row->compare != nullptr ? first + given : first + 1;
    const Threads::Use use(state_->threads.get());
    const TrimAtEnd trim{&tables.cache()};
    std::vector<Scope> scopes;
    for (std::size_t i = first; i < end; ++i) {
      TRY(const std::shared_ptr<const CostModel> costs, tables.costs(i, arguments));
      Result<Scope> scope = make_scope(costs->model(), arguments, costs);
      if (!scope) return tl::unexpected(with_trace_path(std::move(scope.error()), tables.trace(i), end - first));
      scopes.push_back(std::move(*scope));
    }
    TRY(const Arguments texts, with_texts_of_files(*row, arguments));
    TRY(Report report, answer(*row, scopes, texts));
    report.command = row->info.name;
    if (auto gates = add_gates(scopes.front(), arguments, &report); !gates) return tl::unexpected(gates.error());
    TRY(const bool emptied, is_emptied_by_filter(*row, scopes, texts, report));
    if (emptied) report.diagnostics.push_back(filter_matches_nothing(scopes.front()));
    for (std::size_t i = first; i < end; ++i) {  // those that the answer is about
      const Trace& asked = tables.trace(i);
      report.traces.push_back({asked.path, state_->names[i]});
      explain_no_device_events(asked, report.diagnostics);
      for (Diagnostic& diagnostic : capture_diagnostics(asked)) report.diagnostics.push_back(std::move(diagnostic));
      for (Diagnostic& diagnostic : diagnostics_of(asked.diagnostics)) report.diagnostics.push_back(std::move(diagnostic));
    }
    return report;
  });
}

// From digests, or from those of the traces that are held.
Result<Report> Engine::join_ranks(const AnalysisRow& row, const Arguments& arguments) const {
  if (arguments.contains("digest"))
    return fail(ErrorCode::usage, "--digest writes a file", "", "<ridge/digest.h> makes digests");
  const Threads::Use use(state_->threads.get());
  const TrimAtEnd trim{&state_->tables.cache()};
  const bool findings = arguments.contains("findings");
  const auto make = [&]() -> Result<std::shared_ptr<const HeldJob>> {
    std::vector<Digest> digests;
    for (std::size_t i = 0; i < state_->tables.size(); ++i) {
      TRY(const std::shared_ptr<const CostModel> costs, state_->tables.costs(i, {}));
      digests.push_back(make_digest(costs->model()));
      if (findings) add_findings(Scope(costs->model(), costs), &digests.back());
    }
    return std::make_shared<const HeldJob>(std::move(digests));
  };
  // Put together once, whoever asks again; of traces that are held it is one of the tables made of them.
  std::shared_ptr<const HeldJob> held = state_->job;
  if (held == nullptr) {
    TRY(held, state_->tables.cache().get<HeldJob>(findings ? "job with findings" : "job", make));
  }
  std::optional<HeldJob> before;
  std::vector<Diagnostic> said = state_->left_out;
  if (const auto path = arguments.find("before"); path != arguments.end()) {
    TRY(const std::vector<std::string> paths, with_job_folders_expanded({path->second}));
    TRY(LoadedDigests loaded, load_digests(paths, {}));
    before.emplace(std::move(loaded.digests));
    said.insert(said.end(), loaded.diagnostics.begin(), loaded.diagnostics.end());
  }
  TRY(Report report, row.join(held->job, before ? &before->job : nullptr, arguments));
  report.command = row.info.name;
  std::vector<std::string> paths;
  for (const Digest& digest : held->digests) paths.push_back(digest.path);
  const std::vector<std::string> names = distinct_names(paths);
  for (std::size_t i = 0; i < paths.size(); ++i) report.traces.push_back({paths[i], names[i]});
  for (const Diagnostic& diagnostic : said) report.diagnostics.push_back(diagnostic);
  const auto silent = std::ranges::count_if(held->digests, [](const Digest& digest) { return !digest.knows_findings; });
  if (findings && silent > 0) {
    report.diagnostics.push_back(
        {"findings_unknown", 1,
         (static_cast<std::size_t>(silent) == held->digests.size() ? std::string("the digests were")
                                                                   : std::to_string(silent) + " of the digests were") +
             " made without findings: give the traces, or make digests with --findings"});
  }
  return report;
}

Result<std::shared_ptr<const Report>> Engine::kept_report(std::string_view analysis, const Arguments& arguments,
                                                          std::optional<std::size_t> trace) const {
  std::string key = "report " + std::string(analysis) + (trace ? " " + std::to_string(*trace) : "");
  for (const auto& [name, value] : arguments) key += '\n' + name + '=' + value;
  const TrimAtEnd trim{&state_->tables.cache()};
  return unless_stopped([&] {
    return state_->tables.cache().get<Report>(key, [&]() -> Result<std::shared_ptr<const Report>> {
      TRY(Report report, run(analysis, arguments, trace));
      return std::make_shared<const Report>(std::move(report));
    });
  });
}

std::size_t Engine::trace_count() const { return state_->tables.size(); }

std::uint64_t Engine::cached_bytes() const { return state_->tables.cache().bytes(); }

std::uint64_t Engine::memory_bytes() const {
  std::uint64_t bytes = cached_bytes();
  for (std::size_t i = 0; i < state_->tables.size(); ++i) bytes += state_->tables.trace(i).memory_bytes();
  return bytes;
}

Result<std::shared_ptr<const Timeline>> Engine::timeline(std::size_t trace, const Arguments& arguments) const {
  if (trace >= state_->tables.size()) return fail(ErrorCode::usage, "no trace with index " + std::to_string(trace));
  const Threads::Use use(state_->threads.get());
  const TrimAtEnd trim{&state_->tables.cache()};
  return unless_stopped([&] { return state_->tables.timeline(trace, arguments); });
}

Result<std::shared_ptr<const TraceTable>> Engine::trace_table(std::size_t trace, std::string_view name) const {
  if (trace >= state_->tables.size()) return fail(ErrorCode::usage, "no trace with index " + std::to_string(trace));
  return make_trace_table(state_->tables.held_trace(trace), name, state_->threads);
}

Result<void> validate_arguments(std::string_view analysis, const Arguments& arguments) {
  TRY(const AnalysisRow* const row, find_analysis(analysis));
  if (auto known = check_names(*row, arguments); !known) return known;
  if (!row->costs) return {};
  return read_cost_settings(arguments).map([](const CostSettings&) {});
}

std::span<const std::string_view> parameter_values(std::string_view analysis, std::string_view parameter) {
  for (const ListedParameter& row : kListedParameters) {
    if (row.analysis == analysis && row.parameter == parameter) return row.values();
  }
  return {};
}

std::span<const AnalysisInfo> analyses() {
  static const auto& infos = lasting<std::vector<AnalysisInfo>>([] {
    std::vector<AnalysisInfo> all;
    for (const AnalysisRow& row : engine_catalog()) {
      AnalysisInfo& info = all.emplace_back(row.info);
      info.parameters = parameters_of(row);
    }
    return all;
  }());
  return infos;
}

}  // namespace ridge
