// The door to the engine: open traces, list the analyses, run one. Clients (CLI, server, bindings) use this and report.h only.
// Thread safety: the traces do not change after open(). What is made of them is made when first asked for, kept within
// OpenOptions::cache_bytes and made again when needed; run() and timeline() may be called from several threads at once.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <ridge/analysis.h>
#include <ridge/report.h>
#include <ridge/result.h>

namespace ridge {

class Timeline;
class TraceTable;
struct AnalysisRow;

struct Progress {
  std::string_view phase;  // "reading"
  std::uint64_t done = 0;
  std::uint64_t total = 0;  // 0: not known (a pipe)
};

struct OpenOptions {
  unsigned threads = 0;          // that work on one question of this engine; 0: one per core
  std::uint64_t max_bytes = 0;   // most bytes of uncompressed JSON to read from one trace; 0: the default, kDefaultMaxBytes
  std::uint64_t max_memory = 0;  // most bytes of memory that a loaded trace may take; 0: no limit
  // Most bytes to keep of what is made of the traces: models, costs, timelines, for each combination of flags that changes
  // them. The least recently used go first; what is in use stays. 0: four times what the traces themselves take, and no less
  // than 256 MiB.
  std::uint64_t cache_bytes = 0;
  // Read no file but those that the caller names: not the kernel sources whose paths a trace tells. For who serves others.
  bool named_files_only = false;
  // Of each trace in turn: the trace of the capture of the graphs that it replays, whose ops, shapes and Python lines then
  // serve the replayed kernels. "" or "-": none; may be fewer than traces.
  std::vector<std::string> captures = {};
  // What to call each trace in reports and errors, in place of its path: for who opens files by descriptors. "" or fewer than
  // traces: the path.
  std::vector<std::string> names = {};
  bool keep_places = false;  // where each event stands in the JSON, eight bytes an event: for analyses that tell it
  // Keep of each trace only its digest, which is all that the analyses of a whole job need (AnalysisInfo::whole_job): memory is
  // then that of the traces being read. A path may be a file of digests (<ridge/digest.h>) in any case.
  bool digests_only = false;
  bool digest_findings = false;                        // digests have the findings of their traces too, which takes longer
  std::function<bool(const Progress&)> progress = {};  // called now and then from one thread at a time; false asks to stop
};

inline constexpr std::uint64_t kDefaultMaxBytes = std::uint64_t{256} << 30;

class Engine {
 public:
  // Opens and reads every trace. A path is a file, "-" for standard input, or a folder of traces. A capture that does not fit
  // is a diagnostic of every report; one that cannot be read is an error.
  static Result<Engine> open(const std::vector<std::string>& paths, const OpenOptions& options);
  // For the analyses that need no trace.
  static Engine without_trace();

  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;
  ~Engine();

  // An unknown analysis or argument is an error with the nearest names.
  // `trace`: by its index the only one to work on, as if no other had been opened.
  Result<Report> run(std::string_view analysis, const Arguments& arguments,
                     std::optional<std::size_t> trace = std::nullopt) const;

  // The same, kept within cache_bytes for who asks again: the pages of a table are views of one report.
  Result<std::shared_ptr<const Report>> kept_report(std::string_view analysis, const Arguments& arguments,
                                                    std::optional<std::size_t> trace = std::nullopt) const;

  std::size_t trace_count() const;
  // What is kept of tables now, as cache_bytes counts it.
  std::uint64_t cached_bytes() const;
  // The same and the traces themselves.
  std::uint64_t memory_bytes() const;
  // The picture of one trace, see <ridge/timeline.h>. The handle holds all that it needs: it may outlive the engine.
  // `arguments`: those about costs and --runs count.
  Result<std::shared_ptr<const Timeline>> timeline(std::size_t trace, const Arguments& arguments) const;
  // A table of one trace as its schema has it, see <ridge/trace_table.h>: an unknown one is an error with the nearest names.
  // The handle holds all that it needs: it may outlive the engine.
  Result<std::shared_ptr<const TraceTable>> trace_table(std::size_t trace, std::string_view name) const;

 private:
  struct State;
  explicit Engine(std::unique_ptr<State> state);
  Result<Report> join_ranks(const AnalysisRow& row, const Arguments& arguments) const;
  std::unique_ptr<State> state_;
};

// The catalog, in the order in which help lists it.
std::span<const AnalysisInfo> analyses();

// The values that a parameter of an analysis takes, where these are a list of words; empty: any text.
std::span<const std::string_view> parameter_values(std::string_view analysis, std::string_view parameter);

// Whether the arguments could be right: all that can be told before a trace is read. An unknown device or parameter is an
// error.
Result<void> validate_arguments(std::string_view analysis, const Arguments& arguments);

// Up to three candidates closest to `word` by edit distance, nearest first; for "did you mean".
std::vector<std::string> nearest_names(std::string_view word, std::span<const std::string_view> candidates);

std::string_view version();

}  // namespace ridge
