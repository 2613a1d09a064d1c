// Read, parse, join as three lambdas; the order and the threads are run_in_order's.
#include "ingest/pipeline.h"

#include <optional>
#include <vector>

#include "base/ordered_pipeline.h"
#include "base/try.h"

namespace ridge {
namespace {

// Windows under way beyond one per thread: enough that no thread waits for the one that joins.
constexpr unsigned kSpareWindows = 3;
// Enough that inflating goes on while the first windows are learned from, which takes several times as long as one takes later.
constexpr unsigned kWindowsAhead = 6;

}  // namespace

Result<void> run_pipeline(Source* source, WindowFeed* feed, EventJoiner* joiner, Trace* trace, const PipelineOptions& options) {
  std::vector<std::optional<EventArrayParser>> parsers(options.threads);  // each made by its thread, in its own cache
  const auto read = [&](Window* window) -> Result<bool> {
    TRY(const bool more, feed->next(window));
    if (more && options.progress && !options.progress(source->file_position(), options.file_bytes)) {
      return fail(ErrorCode::interrupted, "interrupted");
    }
    return more;
  };
  const auto parse = [&](unsigned worker, Window* window) {
    window->run.clear();
    window->run.keep_places = options.keep_places;
    window->diagnostics.clear();
    if (!window->assumed) return;
    std::optional<EventArrayParser>& parser = parsers[worker];
    if (!parser) parser.emplace(&trace->storage->forms, &trace->storage->strings, options.array);
    window->progress = parser->parse(window->piece(), *window->assumed, &window->run, &window->diagnostics);
  };
  const auto join = [&](Window* window) { return joiner->accept(*window); };
  try {
    return run_in_order<Window>(
        {.threads = options.threads, .spare = kSpareWindows, .ahead = options.inflating ? kWindowsAhead : 0}, read, parse,
        join);
  } catch (const std::exception& e) {  // memory ran out, or ids did
    return fail(ErrorCode::too_large, std::string("cannot load the trace: ") + e.what(), trace->path, "cut it by time first");
  }
}

}  // namespace ridge
