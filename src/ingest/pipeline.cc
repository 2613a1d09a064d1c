#include "ingest/pipeline.h"

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace ridge {
namespace {

class Pipeline {
 public:
  Pipeline(Source* source, WindowFeed* feed, EventJoiner* joiner, Trace* trace, const PipelineOptions& options)
      : source_(source), feed_(feed), joiner_(joiner), trace_(trace), options_(options) {}

  Result<bool> run() {
    std::vector<std::thread> helpers;
    for (unsigned i = 1; i < options_.threads; ++i) helpers.emplace_back([this] { work(); });
    work();
    for (std::thread& helper : helpers) helper.join();
    if (error_) return tl::unexpected(*error_);
    return true;
  }

 private:
  void work() {
    try {
      EventArrayParser parser(&trace_->forms, &trace_->strings, options_.by_rote);
      while (std::unique_ptr<Window> window = take()) {
        window->run.clear();
        window->diagnostics.clear();
        if (window->assumed) window->progress = parser.parse(window->piece(), *window->assumed, &window->run, &window->diagnostics);
        deliver(std::move(window));
      }
    } catch (const std::exception& e) {  // memory ran out, or ids did
      stop({ErrorCode::too_large, std::string("cannot hold the trace: ") + e.what(), trace_->path, "cut it by time first"});
    }
  }

  void stop(Error error) {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::move(error);
    room_.notify_all();
  }

  // The next window, or nothing when the input is over or something failed. Waits while too many are under way.
  std::unique_ptr<Window> take() {
    const std::lock_guard feeding(feed_mutex_);
    std::unique_ptr<Window> window;
    {
      std::unique_lock lock(mutex_);
      room_.wait(lock, [&] { return error_ || under_way_ < options_.threads + kSpareWindows; });
      if (error_) return nullptr;
      ++under_way_;
      if (!free_.empty()) {
        window = std::move(free_.back());
        free_.pop_back();
      }
    }
    if (window == nullptr) window = std::make_unique<Window>();
    const Result<bool> more = feed_->next(window.get());
    if (!more) {
      stop(more.error());
      return nullptr;
    }
    if (!*more) return nullptr;
    if (options_.progress && !options_.progress(source_->file_position(), options_.file_bytes)) {
      stop({ErrorCode::interrupted, "interrupted", trace_->path, ""});
      return nullptr;
    }
    return window;
  }

  void deliver(std::unique_ptr<Window> window) {
    const std::lock_guard joining(join_mutex_);
    const std::uint64_t sequence = window->sequence;
    waiting_[sequence] = std::move(window);
    for (auto next = waiting_.find(next_); next != waiting_.end(); next = waiting_.find(++next_)) {
      const Result<bool> accepted = joiner_->accept(*next->second);
      if (!accepted) stop(accepted.error());
      const std::lock_guard lock(mutex_);
      free_.push_back(std::move(next->second));
      waiting_.erase(next);
      --under_way_;
      room_.notify_all();
    }
  }

  static constexpr unsigned kSpareWindows = 3;

  Source* source_;
  WindowFeed* feed_;
  EventJoiner* joiner_;
  Trace* trace_;
  const PipelineOptions& options_;

  std::mutex feed_mutex_;  // held while a window is read; taken before mutex_
  std::mutex join_mutex_;  // held while windows are joined; taken before mutex_
  std::mutex mutex_;       // the rest
  std::condition_variable room_;
  unsigned under_way_ = 0;
  std::vector<std::unique_ptr<Window>> free_;
  std::map<std::uint64_t, std::unique_ptr<Window>> waiting_;
  std::uint64_t next_ = 0;
  std::optional<Error> error_;
};

}  // namespace

Result<bool> run_pipeline(Source* source, WindowFeed* feed, EventJoiner* joiner, Trace* trace, const PipelineOptions& options) {
  return Pipeline(source, feed, joiner, trace, options).run();
}

}  // namespace ridge
