// The engine behind <ridge/engine.h>: opens traces, runs the catalog, completes the reports.
#include <ridge/engine.h>
#include <ridge/timeline.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <mutex>
#include <utility>

#include "analysis/catalog.h"
#include "analysis/findings/findings.h"
#include "base/in_parallel.h"
#include "base/nearest.h"
#include "base/try.h"
#include "engine/cost_options.h"
#include "engine/folder.h"
#include "engine/loading.h"
#include "facts/scope_diagnostics.h"
#include "ingest/reader.h"
#include "model/model.h"
#include "model/process_part.h"
#include "timeline/make_timeline.h"

namespace ridge {

// Costs with what they were made from.
struct HeldCosts {
  HeldCosts(const Model& model, CostSettings from) : settings(std::move(from)), costs(model, settings.options) {}
  CostSettings settings;
  CostModel costs;
};

// What a model is made of: --runs, and the device whose programs alone it holds, where a trace has several programs.
struct ModelKey {
  std::int64_t runs = 0;
  std::optional<std::int64_t> device;
  auto operator<=>(const ModelKey&) const = default;
};

// A trace and what was made of it. Costs differ also by the flags of cost_options.h; each is made when first asked for.
struct LoadedTrace {
  std::unique_ptr<Trace> trace;
  std::map<std::int64_t, std::unique_ptr<Trace>> parts = {};  // by device; null: that is the whole
  std::map<ModelKey, std::unique_ptr<Model>> models = {};
  std::map<std::pair<ModelKey, std::string>, std::shared_ptr<const HeldCosts>> costs = {};
  std::map<std::pair<std::int64_t, std::string>, std::unique_ptr<const Timeline>> timelines = {};
};

struct Engine::State {
  std::vector<LoadedTrace> traces;
  bool named_files_only = false;
  std::optional<ThreadLimit> threads;
  std::mutex mutex;  // guards the maps

  const Model& model(std::size_t i, const ModelKey& key) {
    const std::lock_guard lock(mutex);
    std::unique_ptr<Model>& model = traces[i].models[key];
    const Trace& of = key.device ? *traces[i].parts.at(*key.device) : *traces[i].trace;
    if (model == nullptr) model = std::make_unique<Model>(of, key.runs);
    return *model;
  }

  // --runs and --gpu. A device that is no number or not there is left to make_scope(), which says so.
  Result<ModelKey> model_key(std::size_t i, const Arguments& arguments) {
    ModelKey key;
    TRY(key.runs, runs_argument(arguments));
    const auto gpu = arguments.find("gpu");
    std::int64_t device = 0;
    if (gpu == arguments.end() || std::from_chars(gpu->second.data(), gpu->second.data() + gpu->second.size(), device).ptr !=
                                      gpu->second.data() + gpu->second.size()) {
      return key;
    }
    std::unique_lock lock(mutex);
    if (!traces[i].parts.contains(device)) {
      lock.unlock();
      const auto keeps = tracks_of_device(model(i, {key.runs, {}}), device);
      auto part = keeps ? std::make_unique<Trace>(*traces[i].trace, *keeps) : nullptr;
      lock.lock();
      traces[i].parts.try_emplace(device, std::move(part));
    }
    if (traces[i].parts.at(device) != nullptr) key.device = device;
    return key;
  }

  Result<std::shared_ptr<const CostModel>> costs(std::size_t i, const ModelKey& of, const Arguments& arguments) {
    const Model& from = model(i, of);
    const std::pair key(of, cost_key(arguments));
    std::unique_lock lock(mutex);
    std::shared_ptr<const HeldCosts> held = traces[i].costs[key];
    if (held == nullptr) {
      lock.unlock();  // files are read
      TRY(CostSettings settings, read_cost_settings(arguments, named_files_only));
      held = std::make_shared<const HeldCosts>(from, std::move(settings));
      lock.lock();
      std::shared_ptr<const HeldCosts>& kept = traces[i].costs[key];
      if (kept == nullptr) kept = held;
      held = kept;
    }
    return std::shared_ptr<const CostModel>(held, &held->costs);
  }

  Result<const Timeline*> timeline(std::size_t i, const Arguments& arguments) {
    TRY(const std::int64_t runs, runs_argument(arguments));
    TRY(const std::shared_ptr<const CostModel> cost, costs(i, {runs, {}}, arguments));
    const std::lock_guard lock(mutex);
    std::unique_ptr<const Timeline>& made = traces[i].timelines[{runs, cost_key(arguments)}];
    if (made == nullptr) made = make_timeline(cost);
    return made.get();
  }
};

Engine::Engine(std::unique_ptr<State> state) : state_(std::move(state)) {}
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;
Engine::~Engine() = default;

namespace {

std::string hint_for(std::string_view word, std::span<const std::string_view> names, std::string_view otherwise) {
  const std::string near = did_you_mean(word, names);
  return near.empty() ? std::string(otherwise) : near;
}

Result<const AnalysisRow*> find_analysis(std::string_view name) {
  std::vector<std::string_view> names;
  for (const AnalysisRow& row : catalog()) {
    if (row.info.name == name) return &row;
    names.push_back(row.info.name);
  }
  return fail(ErrorCode::usage, "there is no analysis '" + std::string(name) + "'", "",
              hint_for(name, names, "see ridge help"));
}

// The parameters of each analysis: its own, then those of costs and of every scope, but for those that its own describe.
const std::vector<std::vector<Parameter>>& parameters() {
  static const std::vector<std::vector<Parameter>> all = [] {
    std::vector<std::vector<Parameter>> lists;
    for (const AnalysisRow& row : catalog()) {
      std::vector<Parameter>& list = lists.emplace_back(row.info.parameters.begin(), row.info.parameters.end());
      if (row.costs) list.insert(list.end(), cost_parameters().begin(), cost_parameters().end());
      for (const Parameter& scope : row.info.needs_trace ? scope_parameters() : std::span<const Parameter>()) {
        const bool own = std::any_of(list.begin(), list.end(), [&](const Parameter& p) { return p.name == scope.name; });
        if (!own) list.push_back(scope);
      }
    }
    return lists;
  }();
  return all;
}

Result<bool> check_arguments(const AnalysisRow& row, const Arguments& arguments) {
  const AnalysisInfo& analysis = row.info;
  const std::vector<Parameter>& own = parameters()[static_cast<std::size_t>(&row - catalog().data())];
  for (const auto& [name, value] : arguments) {
    const bool known = std::any_of(own.begin(), own.end(), [&](const Parameter& p) { return p.name == name; });
    if (known) continue;
    std::vector<std::string_view> names;
    for (const Parameter& p : own) names.push_back(p.name);
    return fail(ErrorCode::usage, std::string(analysis.name) + " has no parameter '" + name + "'", "",
                hint_for(name, names, "see ridge help " + std::string(analysis.name)));
  }
  return true;
}

// Which of several traces an argument does not fit.
Error with_trace_path(Error error, const Trace& trace, std::size_t traces) {
  if (traces > 1 && error.where.empty()) error.where = trace.path;
  return error;
}

bool lists_nothing(const Report& report) {
  return !report.tables.empty() && !report.tables.front().key_value && report.tables.front().rows.empty();
}

Result<Report> answer(const AnalysisRow& row, std::span<const Scope> scopes, const Arguments& arguments) {
  return row.compare != nullptr ? row.compare(scopes, arguments) : row.run(scopes.front(), arguments);
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

}  // namespace

Result<Engine> Engine::open(const std::vector<std::string>& paths, const OpenOptions& options) {
  if (paths.empty()) return fail(ErrorCode::usage, "no trace given", "", "give the path of a trace, or - for standard input");
  auto state = std::make_unique<State>();
  state->named_files_only = options.named_files_only;
  state->threads.emplace(options.threads);
  const ReadOptions read = read_options(options);
  for (const std::string& given : paths) {
    TRY(const std::string path, resolve_folder(given));
    TRY(std::unique_ptr<Trace> trace, read_trace(path, read));
    state->traces.push_back({std::move(trace)});
  }
  return Engine(std::move(state));
}

Engine Engine::without_trace() { return Engine(std::make_unique<State>()); }

Result<Report> Engine::run(std::string_view analysis, const Arguments& arguments, std::optional<std::size_t> trace) const {
  TRY(const AnalysisRow* const row, find_analysis(analysis));
  TRY([[maybe_unused]] const bool valid, check_arguments(*row, arguments));
  if (!row->info.needs_trace) {
    TRY(const CostSettings settings, read_cost_settings(arguments));
    TRY(Report report, row->run_alone(settings.options, arguments));
    report.command = row->info.name;
    return report;
  }
  if (state_->traces.empty()) return fail(ErrorCode::usage, std::string(analysis) + " needs a trace");
  if (trace && *trace >= state_->traces.size()) return fail(ErrorCode::usage, "there is no trace " + std::to_string(*trace));
  const std::size_t given = trace ? 1 : state_->traces.size();
  if (given < row->info.fewest_traces) {
    return fail(ErrorCode::usage, std::string(analysis) + " needs " + std::to_string(row->info.fewest_traces) + " traces", "",
                "ridge " + std::string(analysis) + " before.json after.json");
  }
  const std::size_t first = trace.value_or(0);
  const std::size_t end = row->compare != nullptr ? first + given : first + 1;
  std::vector<Scope> scopes;
  for (std::size_t i = first; i < end; ++i) {
    TRY(const ModelKey key, state_->model_key(i, arguments));
    TRY(std::shared_ptr<const CostModel> costs, state_->costs(i, key, arguments));
    Result<Scope> scope = make_scope(state_->model(i, key), arguments, std::move(costs));
    if (!scope) return tl::unexpected(with_trace_path(std::move(scope.error()), *state_->traces[i].trace, end - first));
    scopes.push_back(std::move(*scope));
  }
  TRY(Report report, answer(*row, scopes, arguments));
  report.command = row->info.name;
  TRY(const bool emptied, is_emptied_by_filter(*row, scopes, arguments, report));
  if (emptied) report.diagnostics.push_back(filter_matches_nothing(scopes.front()));
  for (std::size_t i = first; i < end; ++i) {  // those that the answer is about
    const Trace& asked = *state_->traces[i].trace;
    report.traces.push_back({asked.path, std::filesystem::path(asked.path).filename().string()});
    explain_no_device_events(asked, report.diagnostics);
    for (Diagnostic& diagnostic : diagnostics_of(asked.diagnostics)) report.diagnostics.push_back(std::move(diagnostic));
  }
  return report;
}

std::size_t Engine::trace_count() const { return state_->traces.size(); }

Result<const Timeline*> Engine::timeline(std::size_t trace, const Arguments& arguments) const {
  if (trace >= state_->traces.size()) return fail(ErrorCode::usage, "there is no trace " + std::to_string(trace));
  return state_->timeline(trace, arguments);
}

Result<void> validate_arguments(std::string_view analysis, const Arguments& arguments) {
  TRY(const AnalysisRow* const row, find_analysis(analysis));
  TRY([[maybe_unused]] const bool valid, check_arguments(*row, arguments));
  if (!row->costs) return {};
  return read_cost_settings(arguments).map([](const CostSettings&) {});
}

std::span<const AnalysisInfo> analyses() {
  static const std::vector<AnalysisInfo> infos = [] {
    std::vector<AnalysisInfo> all;
    for (std::size_t i = 0; i < catalog().size(); ++i) {
      AnalysisInfo info = catalog()[i].info;
      info.parameters = parameters()[i];
      all.push_back(info);
    }
    return all;
  }();
  return infos;
}

}  // namespace ridge
