// The engine behind <ridge/engine.h>: opens traces, runs the catalog, completes the reports.
#include <ridge/engine.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "analysis/catalog.h"
#include "base/nearest.h"
#include "base/try.h"
#include "engine/folder.h"
#include "ingest/reader.h"

namespace ridge {

struct Engine::State {
  std::vector<std::unique_ptr<Trace>> traces;
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

std::string hint_for(const std::vector<std::string>& nearest, std::string_view otherwise) {
  if (nearest.empty()) return std::string(otherwise);
  std::string hint = "did you mean ";
  for (std::size_t i = 0; i < nearest.size(); ++i) hint += (i == 0 ? "" : " or ") + nearest[i];
  return hint + "?";
}

Result<const AnalysisRow*> find_analysis(std::string_view name) {
  std::vector<std::string_view> names;
  for (const AnalysisRow& row : catalog()) {
    if (row.info.name == name) return &row;
    names.push_back(row.info.name);
  }
  return fail(ErrorCode::usage, "there is no analysis '" + std::string(name) + "'", "", hint_for(nearest_names(name, names), "see ridge help"));
}

Result<bool> check_arguments(const AnalysisInfo& analysis, const Arguments& arguments) {
  for (const auto& [name, value] : arguments) {
    const bool known = std::any_of(analysis.parameters.begin(), analysis.parameters.end(), [&](const Parameter& p) { return p.name == name; });
    if (known) continue;
    std::vector<std::string_view> names;
    for (const Parameter& p : analysis.parameters) names.push_back(p.name);
    return fail(ErrorCode::usage, std::string(analysis.name) + " has no parameter '" + name + "'", "",
                hint_for(nearest_names(name, names), "see ridge help " + std::string(analysis.name)));
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
    out.push_back({std::string(row.code), static_cast<std::int64_t>(entry.count), std::string(row.message)});
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
    state->traces.push_back(std::move(trace));
  }
  return Engine(std::move(state));
}

Result<Report> Engine::run(std::string_view analysis, const Arguments& arguments) const {
  TRY(const AnalysisRow* const row, find_analysis(analysis));
  TRY([[maybe_unused]] const bool valid, check_arguments(row->info, arguments));
  std::vector<const Trace*> traces;
  for (const auto& trace : state_->traces) traces.push_back(trace.get());
  TRY(Report report, row->run(Scope{traces}, arguments));
  report.command = row->info.name;
  for (const Trace* trace : traces) {
    report.traces.push_back({trace->path, std::filesystem::path(trace->path).filename().string()});
    for (Diagnostic& diagnostic : diagnostics_of(*trace)) report.diagnostics.push_back(std::move(diagnostic));
  }
  return report;
}

std::span<const AnalysisInfo> analyses() {
  static const std::vector<AnalysisInfo> infos = [] {
    std::vector<AnalysisInfo> all;
    for (const AnalysisRow& row : catalog()) all.push_back(row.info);
    return all;
  }();
  return infos;
}

}  // namespace ridge
