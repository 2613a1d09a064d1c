// The door to the rewrites behind <ridge/rewrite.h>: loads what a rewrite needs, opens its output, and puts the two together.
#include <ridge/folder.h>
#include <ridge/rewrite.h>

#include <ridge/argument_list.h>
#include <ridge/output_file.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <mutex>
#include <thread>

#include "base/lasting.h"
#include "base/threads.h"
#include "base/try.h"
#include "base/units.h"
#include "cost/cost_model.h"
#include "engine/arrow_export.h"
#include "engine/cost_options.h"
#include "engine/folder.h"
#include "engine/loading.h"
#include "engine/parameters.h"
#include "facts/scope.h"
#include "model/model.h"
#include "rewrite/augment.h"
#include "rewrite/combine.h"
#include "rewrite/cut.h"

namespace ridge {
namespace {

// What a rewrite works with. `paths` are files, in the order given.
struct RewriteWork {
  std::vector<std::string> paths;
  Arguments arguments;
  ReadOptions read;
  BlockOptions blocks;
  PackedFile* out;
  RewriteSummary summary;
  std::string capture = {};  // of the graphs that the only input replays

  Result<std::unique_ptr<Trace>> load(const std::string& path) { return load_trace(path, capture, read); }
};

void add_diagnostics(const Diagnostics& found, RewriteSummary* summary) {
  for (Diagnostic& diagnostic : diagnostics_of(found)) summary->diagnostics.push_back(std::move(diagnostic));
}

Result<void> run_augment(RewriteWork* job) {
  TRY(const CostSettings settings, read_cost_settings(job->arguments));
  TRY(const std::unique_ptr<Trace> trace, job->load(job->paths[0]));
  const Model model(*trace);
  const CostModel costs(model, settings.options);
  TRY(OpenedSource source, open_source(job->paths[0]));
  TRY(const AugmentCounts counts, augment(costs, std::move(source), job->blocks, job->out));
  job->summary.counts = {{"device_events", counts.device_events},
                         {"with_flops", counts.with_flops},
                         {"with_bytes", counts.with_bytes},
                         {"ops", counts.ops}};
  for (Diagnostic& diagnostic : capture_diagnostics(*trace)) job->summary.diagnostics.push_back(std::move(diagnostic));
  add_diagnostics(trace->diagnostics, &job->summary);
  return {};
}

// Days where seconds are too many to read.
std::string format_long_time(std::int64_t ns) {
  constexpr std::int64_t kDayNs = 86'400'000'000'000;
  return ns < 2 * kDayNs ? format_duration(static_cast<double>(ns)) : std::to_string(ns / kDayNs) + " days";
}

Result<void> run_combine(RewriteWork* job) {
  std::vector<CombineInput> inputs;
  for (const std::string& path : job->paths) inputs.push_back({path});
  TRY(const CombineCounts counts, combine(inputs, job->read, job->blocks, job->out));
  for (const Diagnostics& found : counts.diagnostics) add_diagnostics(found, &job->summary);
  job->summary.counts = {{"inputs", job->paths.size()}, {"events", counts.events}};
  for (const UnknownClock& input : counts.clocks.unknown) {
    const std::string what =
        input.moved ? "its start is aligned with the others" : "its times fit those of the others and are kept";
    job->summary.diagnostics.push_back({"clock_unknown", 1, input.name + " has no recording time: " + what, "warning"});
  }
  for (const FarTrace& far : counts.clocks.far_apart) {
    job->summary.diagnostics.push_back(
        {"recorded_apart", 1,
         far.name + " was recorded " + format_long_time(far.gap_ns) +
             " after the inputs before it: the result contains that gap, and percentages of the window include it",
         "warning"});
  }
  return {};
}

Result<void> run_cut(RewriteWork* job) {
  TRY(const std::int64_t runs, runs_argument(job->arguments));
  const bool narrowed =
      std::any_of(job->arguments.begin(), job->arguments.end(), [](const auto& a) { return a.first != "runs"; });
  if (!narrowed) {
    return fail(ErrorCode::usage, "cut needs a range to keep", "", "give --step A, --step A-B, or --from and --to in ms");
  }
  TRY(const std::unique_ptr<Trace> trace, job->load(job->paths[0]));
  const Model model(*trace, runs);
  TRY(const Scope scope, make_scope(model, job->arguments));
  TRY(OpenedSource source, open_source(job->paths[0]));
  TRY(const CutCounts counts, cut(scope, std::move(source), job->blocks, job->out));
  job->summary.counts = {{"events", counts.events}, {"events_before", trace->recorded_events()}};
  add_diagnostics(trace->diagnostics, &job->summary);
  return {};
}

// Not a trace comes out but its tables, each a file of its own.
Result<RewriteSummary> run_export(const std::string& path, const std::string& output, const Arguments& arguments,
                                  const OpenOptions& options) {
  std::vector<std::string> names;
  for (const std::string_view name : listed(arguments, "table")) names.emplace_back(name);
  TRY(const ExportPlan plan, plan_export(names, output));
  const std::vector<std::string> inputs = {path};
  for (const std::string& each : plan.paths) {
    if (plan.folder.empty() || std::filesystem::exists(plan.folder)) {
      if (auto good = check_output(each, inputs); !good) return tl::unexpected(good.error());
      if (!arguments.contains("force") && std::filesystem::is_regular_file(each))
        return fail(ErrorCode::cannot_write, "there is such a file already", each, "--force replaces it");
    }
  }
  const auto threads = std::make_shared<Threads>(options.threads);
  const Threads::Use use(threads.get());
  const ReadOptions read = read_options(options);
  TRY(std::unique_ptr<Trace> loaded, load_trace(path, {}, read));
  const std::shared_ptr<const Trace> trace = std::move(loaded);
  ProgressFunction goes_on;
  if (options.progress) {
    goes_on = [&](std::uint64_t done, std::uint64_t total) { return options.progress({"writing rows", done, total}); };
  }
  TRY(const ExportCounts counts, export_tables(trace, plan, threads, goes_on));
  RewriteSummary summary{{{"tables", counts.tables}, {"rows", counts.rows}}, {}};
  add_diagnostics(trace->diagnostics, &summary);
  return summary;
}

struct RewriteRow {
  RewriteInfo info;
  Result<void> (*run)(RewriteWork*);
  bool uses_capture = false;
  // Instead of run(): opens its outputs itself. Of one input.
  Result<RewriteSummary> (*run_alone)(const std::string& path, const std::string& output, const Arguments& arguments,
                                      const OpenOptions& options) = nullptr;
};

const std::vector<Parameter>& cost_parameters() {
  static const auto& list = lasting<std::vector<Parameter>>(shared_parameters(Changes::costs));
  return list;
}

// The shared parameters that say which part of the time is meant.
const std::vector<Parameter>& cut_parameters() {
  static const auto& list = lasting<std::vector<Parameter>>([] {
    constexpr std::string_view kWanted[] = {"step", "from", "to", "runs"};
    std::vector<Parameter> chosen;
    for (const Parameter& parameter : shared_parameters()) {
      if (std::find(std::begin(kWanted), std::end(kWanted), parameter.name) != std::end(kWanted)) chosen.push_back(parameter);
    }
    return chosen;
  }());
  return list;
}

constexpr Parameter kExportParameters[] = {
    {"table", Type::text, "only this table (docs/schema.md has all); repeatable", false, true},
    {"force", Type::boolean, "replace files that are there"},
};

constexpr std::size_t kAnyNumber = 100'000;

std::span<const RewriteRow> rows() {
  static const auto& table = lasting(std::array{
      RewriteRow{
          {{"augment", "copy a trace and add FLOPs, bytes and roofs to its kernels and ops", cost_parameters()}, "IN OUT"},
          run_augment,
          true},
      RewriteRow{
          {{"combine", "merge several traces into one: the ranks of a job side by side", {}}, "IN... OUT", 1, kAnyNumber},
          run_combine},
      RewriteRow{{{"cut", "extract part of a trace", cut_parameters()}, "IN OUT"}, run_cut},
      RewriteRow{
          {{"export", "write the tables of a trace as Arrow files", kExportParameters}, "IN OUT"}, nullptr, false, run_export},
  });
  return table;
}

Result<const RewriteRow*> find_row(std::string_view name) {
  for (const RewriteRow& row : rows()) {
    if (row.info.info.name == name) return &row;
  }
  return fail(ErrorCode::usage, "unknown rewrite '" + std::string(name) + "'");
}

Result<void> check_call(const RewriteInfo& info, const std::vector<std::string>& inputs, const Arguments& arguments) {
  const std::string name(info.info.name);
  if (inputs.size() < info.least_inputs || inputs.size() > info.most_inputs) {
    return fail(ErrorCode::usage, name + " takes " + std::string(info.operands), "",
                "ridge " + name + " " + std::string(info.operands));
  }
  for (const auto& [key, value] : arguments) {
    const auto& known = info.info.parameters;
    if (std::none_of(known.begin(), known.end(), [&](const Parameter& p) { return p.name == key; }))
      return fail(ErrorCode::usage, name + " has no parameter '" + key + "'", "", "see ridge help " + name);
  }
  if (std::find(inputs.begin(), inputs.end(), "-") != inputs.end()) {
    return fail(ErrorCode::usage, name + " reads its input twice and cannot read standard input", "",
                "save it to a file first");
  }
  return {};
}

// Whether to go on, asked by the thread that reads and by the one that writes: by one at a time.
class Asking {
 public:
  explicit Asking(const OpenOptions& options) : progress_(options.progress) {}

  ProgressFunction while_reading() {
    if (!progress_) return {};
    return [this](std::uint64_t done, std::uint64_t total) {
      const std::lock_guard lock(mutex_);
      last_ = {"writing", done, total};
      return progress_(last_);
    };
  }
  GoesOn while_waiting() {
    if (!progress_) return {};
    return [this] {
      const std::lock_guard lock(mutex_);
      return progress_(last_);
    };
  }

 private:
  const std::function<bool(const Progress&)>& progress_;
  std::mutex mutex_;
  Progress last_{"writing", 0, 0};
};

BlockOptions block_options(const OpenOptions& options, const ReadOptions& read, Packing packing, Asking* asking) {
  constexpr unsigned kMostThreads = 256;
  // What is read, made and written of a block this small stays in a core's own cache. To pack well takes more.
  constexpr std::size_t kPlainBlockBytes = std::size_t{256} << 10;
  BlockOptions blocks;
  if (packing == Packing::none) blocks.block_bytes = kPlainBlockBytes;
  blocks.threads =
      std::min(kMostThreads, options.threads != 0 ? options.threads : std::max(1U, std::thread::hardware_concurrency()));
  blocks.max_bytes = read.max_bytes;
  blocks.progress = asking->while_reading();
  return blocks;
}

}  // namespace

std::span<const RewriteInfo> rewrites() {
  static const auto& infos = lasting<std::vector<RewriteInfo>>([] {
    std::vector<RewriteInfo> all;
    for (const RewriteRow& row : rows()) all.push_back(row.info);
    return all;
  }());
  return infos;
}

Result<RewriteSummary> rewrite(std::string_view name, const std::vector<std::string>& inputs, const std::string& output,
                               const Arguments& arguments, const OpenOptions& options) {
  TRY(const RewriteRow* const row, find_row(name));
  if (auto good = check_call(row->info, inputs, arguments); !good) return tl::unexpected(good.error());
  std::vector<std::string> paths;
  if (row->info.most_inputs > 1) {
    TRY(paths, with_folders_expanded(inputs));
  } else {
    TRY(std::string path, resolve_folder(inputs.front()));
    paths.push_back(std::move(path));
  }
  if (!options.captures.empty() && !row->uses_capture) {
    return fail(ErrorCode::usage, std::string(name) + " copies events as they are: --capture changes nothing", "",
                "give it to the command that reads the result");
  }
  if (auto good = check_captures(options, paths.size()); !good) return tl::unexpected(good.error());
  if (row->run_alone != nullptr) return row->run_alone(paths.front(), output, arguments, options);
  if (auto good = check_output(output, paths); !good) return tl::unexpected(good.error());
  Threads threads(options.threads);
  const Threads::Use use(&threads);
  ReadOptions read = read_options(options);
  read.keep_places = true;
  Asking asking(options);
  TRY(OutputFile file, OutputFile::create(output, asking.while_waiting()));
  PackedFile out(std::move(file), packing_of(output));
  RewriteWork job{std::move(paths),      arguments, read, block_options(options, read, out.packing(), &asking), &out, {},
                  capture_of(options, 0)};
  if (auto done = row->run(&job); !done) return tl::unexpected(done.error());
  if (auto done = out.finish(); !done) return tl::unexpected(done.error());
  return std::move(job.summary);
}

}  // namespace ridge
