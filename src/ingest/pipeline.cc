#include "ingest/pipeline.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include <tbb/enumerable_thread_specific.h>
#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/task_arena.h>

namespace ridge {
namespace {

// Windows under way beyond one per thread: enough that no thread waits for the one that joins.
constexpr unsigned kSpareWindows = 3;

// The three stages. read() and join() are called by one thread at a time each, parse() by all.
class Stages {
 public:
  Stages(Source* source, WindowFeed* feed, EventJoiner* joiner, Trace* trace, const PipelineOptions& options)
      : source_(source), feed_(feed), joiner_(joiner), options_(options), parsers_([trace, by_rote = options.by_rote] {
          return EventArrayParser(&trace->forms, &trace->strings, by_rote);
        }) {}

  // The next window, or nullptr when the input is over or something failed.
  Window* read() {
    if (failed()) return nullptr;
    Window* window = take_free();
    const Result<bool> more = feed_->next(window);
    if (!more) return fail_with(more.error());
    if (!*more) return nullptr;
    if (options_.progress && !options_.progress(source_->file_position(), options_.file_bytes)) {
      return fail_with({ErrorCode::interrupted, "interrupted", "", ""});
    }
    return window;
  }

  Window* parse(Window* window) {
    window->run.clear();
    window->run.keep_places = options_.keep_places;
    window->diagnostics.clear();
    if (window->assumed)
      window->progress = parsers_.local().parse(window->piece(), *window->assumed, &window->run, &window->diagnostics);
    return window;
  }

  void join(Window* window) {
    if (!failed()) {
      const Result<bool> accepted = joiner_->accept(*window);
      if (!accepted) fail_with(accepted.error());
    }
    const std::lock_guard lock(mutex_);
    free_.push_back(window);
  }

  const std::optional<Error>& error() const { return error_; }

 private:
  Window* take_free() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return windows_.emplace_back(std::make_unique<Window>()).get();
    Window* window = free_.back();
    free_.pop_back();
    return window;
  }
  bool failed() {
    const std::lock_guard lock(mutex_);
    return error_.has_value();
  }
  Window* fail_with(Error error) {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::move(error);
    return nullptr;
  }

  Source* source_;
  WindowFeed* feed_;
  EventJoiner* joiner_;
  const PipelineOptions& options_;
  tbb::enumerable_thread_specific<EventArrayParser> parsers_;

  std::mutex mutex_;  // guards what follows
  std::vector<std::unique_ptr<Window>> windows_;
  std::vector<Window*> free_;
  std::optional<Error> error_;
};

}  // namespace

Result<bool> run_pipeline(Source* source, WindowFeed* feed, EventJoiner* joiner, Trace* trace, const PipelineOptions& options) {
  Stages stages(source, feed, joiner, trace, options);
  // More threads than cores are the caller's choice; without this TBB would warn of them on standard error.
  const auto most = std::max<std::size_t>(options.threads, static_cast<std::size_t>(tbb::info::default_concurrency()));
  const tbb::global_control allowed(tbb::global_control::max_allowed_parallelism, most);
  tbb::task_arena arena(static_cast<int>(options.threads));
  try {
    arena.execute([&] {
      tbb::parallel_pipeline(
          options.threads + kSpareWindows,
          tbb::make_filter<void, Window*>(tbb::filter_mode::serial_in_order, [&](tbb::flow_control& flow) {
            Window* window = stages.read();
            if (window == nullptr) flow.stop();
            return window;
          }) & tbb::make_filter<Window*, Window*>(tbb::filter_mode::parallel, [&](Window* w) {
            return stages.parse(w);
          }) & tbb::make_filter<Window*, void>(tbb::filter_mode::serial_in_order, [&](Window* w) { stages.join(w); }));
    });
  } catch (const std::exception& e) {  // memory ran out, or ids did
    return fail(ErrorCode::too_large, std::string("cannot hold the trace: ") + e.what(), trace->path, "cut it by time first");
  }
  if (stages.error()) return tl::unexpected(*stages.error());
  return true;
}

}  // namespace ridge
