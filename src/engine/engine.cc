// The engine behind <ridge/engine.h>: opens traces, runs the catalog, completes the reports.
#include <ridge/engine.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>
#include <utility>

#include "analysis/catalog.h"
#include "base/nearest.h"
#include "base/try.h"
#include "engine/folder.h"
#include "ingest/reader.h"
#include "model/model.h"

namespace ridge {

// A trace and what was made of it. Models differ by --runs alone; each is made when first asked for.
struct LoadedTrace {
  std::unique_ptr<Trace> trace;
  std::map<std::int64_t, std::unique_ptr<Model>> models;
};

struct Engine::State {
  std::vector<LoadedTrace> traces;
  std::mutex mutex;  // guards the maps of models

  const Model& model(std::size_t i, std::int64_t runs) {
    const std::lock_guard lock(mutex);
    std::unique_ptr<Model>& model = traces[i].models[runs];
    if (model == nullptr) model = std::make_unique<Model>(*traces[i].trace, runs);
    return *model;
  }
};

Engine::Engine(std::unique_ptr<State> state) : state_(std::move(state)) {}
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;
Engine::~Engine() = default;

namespace {

ReadOptions read_options(const OpenOptions& options) {
  ReadOptions read;
  read.threads = options.threads;
  read.max_bytes = options.max_bytes != 0 ? options.max_bytes : kDefaultMaxBytes;
  if (options.max_memory != 0) read.max_memory = options.max_memory;
  if (options.progress) {
    read.progress = [&options](std::uint64_t done, std::uint64_t total) { return options.progress({"reading", done, total}); };
  }
  return read;
}

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

// The parameters of each analysis: its own, then those of every scope.
const std::vector<std::vector<Parameter>>& parameters() {
  static const std::vector<std::vector<Parameter>> all = [] {
    std::vector<std::vector<Parameter>> lists;
    for (const AnalysisRow& row : catalog()) {
      std::vector<Parameter>& list = lists.emplace_back(row.info.parameters.begin(), row.info.parameters.end());
      list.insert(list.end(), scope_parameters().begin(), scope_parameters().end());
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

std::vector<Diagnostic> diagnostics_of(const Trace& trace) {
  std::vector<Diagnostic> out;
  for (std::size_t i = 0; i < kProblems; ++i) {
    const auto problem = static_cast<Problem>(i);
    const Diagnostics::Entry& entry = trace.diagnostics[problem];
    if (entry.count == 0) continue;
    const ProblemRow& row = row_of(problem);
    out.push_back({std::string(row.code), static_cast<std::int64_t>(entry.count), std::string(row.message),
                   std::string(name_of(row.severity))});
  }
  return out;
}

}  // namespace

Result<Engine> Engine::open(const std::vector<std::string>& paths, const OpenOptions& options) {
  if (paths.empty()) return fail(ErrorCode::usage, "no trace given", "", "give the path of a trace, or - for standard input");
  auto state = std::make_unique<State>();
  const ReadOptions read = read_options(options);
  for (const std::string& given : paths) {
    TRY(const std::string path, resolve_folder(given));
    TRY(std::unique_ptr<Trace> trace, read_trace(path, read));
    state->traces.push_back({std::move(trace), {}});
  }
  return Engine(std::move(state));
}

Result<Report> Engine::run(std::string_view analysis, const Arguments& arguments) const {
  TRY(const AnalysisRow* const row, find_analysis(analysis));
  TRY([[maybe_unused]] const bool valid, check_arguments(*row, arguments));
  TRY(const std::int64_t runs, runs_argument(arguments));
  TRY(const Scope scope, make_scope(state_->model(0, runs), arguments));
  TRY(Report report, row->run(scope, arguments));
  report.command = row->info.name;
  for (const LoadedTrace& loaded : state_->traces) {
    const std::string& path = loaded.trace->path;
    report.traces.push_back({path, std::filesystem::path(path).filename().string()});
    for (Diagnostic& diagnostic : diagnostics_of(*loaded.trace)) report.diagnostics.push_back(std::move(diagnostic));
  }
  return report;
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
