// From the public options to the reader's, and from its diagnostics to a report's. A capture is read, lends what the replays
// need, and is gone.
#include "engine/loading.h"

#include <algorithm>
#include <filesystem>

#include "base/free_memory.h"
#include "base/try.h"
#include "engine/folder.h"
#include "model/capture_loan.h"
#include "model/model.h"

namespace ridge {
namespace {

std::string count_of(std::uint64_t count, std::string_view what, std::string_view plural = "s") {
  return std::to_string(count) + " " + std::string(what) + std::string(count == 1 ? "" : plural);
}

// What was taken, where that is not plain: "capture_32_DECODE", the first of several.
std::string source_text(const BorrowedCalls& borrowed) {
  if (borrowed.sources.empty() || (borrowed.captured <= 1 && borrowed.sources.front() == "the capture")) return "";
  const std::size_t others = borrowed.sources.size() - 1;
  return " (" + borrowed.sources.front() + (others > 0 ? " and " + std::to_string(others) + " more" : "") + ")";
}

}  // namespace

Result<std::unique_ptr<Trace>> load_trace(const std::string& path, const std::string& capture, const ReadOptions& read) {
  TRY(std::unique_ptr<Trace> trace, read_trace(path, read));
  give_back_free_memory(trace->events.size());  // what its threads parsed with
  if (capture.empty() || capture == "-") return trace;
  TRY(const std::string capture_path, resolve_folder(capture));
  ReadOptions with = read;
  with.keep_places = false;
  with.max_memory -= std::min(with.max_memory, trace->memory_bytes());  // both are held at once
  auto captured = read_trace(capture_path, with);
  if (!captured) {
    captured.error().message = "--capture: " + captured.error().message;
    return tl::unexpected(std::move(captured.error()));
  }
  lend_capture(Model(**captured), trace.get());
  return trace;
}

Result<void> check_captures(const OpenOptions& options, std::size_t traces) {
  if (options.captures.size() <= traces) return {};
  return fail(ErrorCode::usage, count_of(options.captures.size(), "capture") + " for " + count_of(traces, "trace"), "",
              "--capture is given once per trace, in the order of the traces; - skips one");
}

std::string capture_of(const OpenOptions& options, std::size_t trace) {
  return trace < options.captures.size() ? options.captures[trace] : std::string();
}

ReadOptions read_options(const OpenOptions& options) {
  ReadOptions read;
  read.threads = options.threads;
  read.max_bytes = options.max_bytes != 0 ? options.max_bytes : kDefaultMaxBytes;
  read.keep_places = options.keep_places;
  if (options.max_memory != 0) read.max_memory = options.max_memory;
  if (options.progress) {
    read.progress = [&options](std::uint64_t done, std::uint64_t total) { return options.progress({"reading", done, total}); };
  }
  return read;
}

std::vector<Diagnostic> diagnostics_of(const Diagnostics& found) {
  std::vector<Diagnostic> out;
  for (std::size_t i = 0; i < kProblems; ++i) {
    const auto problem = static_cast<Problem>(i);
    const Diagnostics::Entry& entry = found[problem];
    if (entry.count == 0) continue;
    const ProblemRow& row = row_of(problem);
    out.push_back({std::string(row.code), static_cast<std::int64_t>(entry.count), std::string(row.message),
                   std::string(name_of(row.severity))});
  }
  return out;
}

std::vector<Diagnostic> capture_diagnostics(const Trace& trace) {
  std::vector<Diagnostic> out;
  if (!trace.borrowed) return out;
  const BorrowedCalls& borrowed = *trace.borrowed;
  const std::string file = std::filesystem::path(borrowed.path).filename().string();
  if (borrowed.graphs == 0) {
    out.push_back({"capture_unused", 1, "the trace replays no graph: --capture " + file + " changes nothing"});
    return out;
  }
  if (!borrowed.damage.empty()) {
    out.push_back(
        {"capture_damaged", 1, file + ", the capture: " + borrowed.damage + "; what is missing in it matches nothing"});
  }
  if (borrowed.matched == 0 && borrowed.own == 0) {
    out.push_back({"capture_mismatch", 1,
                   file + " fits no graph that the trace replays (it holds " + count_of(borrowed.captured, "capture") +
                       " and " + count_of(borrowed.launched, "launch", "es") +
                       "): give the trace of their capture, or of a run without graphs, of the same model and batch size"});
    return out;
  }
  const std::uint64_t known = borrowed.matched + borrowed.own - borrowed.disputed;
  out.push_back({"capture_matched", 1,
                 file + " matches " + std::to_string(borrowed.matched) + " of " + std::to_string(borrowed.replayed) +
                     " kernels that graphs replayed" + source_text(borrowed) +
                     (borrowed.own > 0 ? "; the trace itself tells " + std::to_string(borrowed.own) : "") +
                     (known < borrowed.replayed ? "; the ops of the rest are unknown" : ""),
                 known < borrowed.replayed ? "warning" : "info"});
  if (borrowed.disputed > 0) {
    out.push_back({"capture_ambiguous", 1,
                   "several captures in " + file + " fit equally well: the ops of " + std::to_string(borrowed.disputed) +
                       " kernels cannot be told; give a trace with the one capture that is replayed"});
  }
  return out;
}

}  // namespace ridge
