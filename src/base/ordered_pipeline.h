// run_in_order: items go through three stages on several threads: read (one item at a time, in order), work (any thread, any
// order), write (one at a time, in the order of reading). Items are reused, the last one used first, while its memory is still
// in the cache. No thread is set apart for a stage, so that all of them stay busy whichever stage is the longest.
//
// Who reads works on it himself where reading is cheap: the item is still in his core's cache. Where it is not (inflating), a
// thread that would wait for another to have read is lost, so whoever finds few items ready reads on, and the oldest is taken
// by whoever is free: items are read all the time, also while all others learn what the first ones look like. The threads are
// its own and not a pool's: a pool takes a millisecond to start and stop, which the reader of a small trace would feel.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <ridge/result.h>

#include "base/spawn_on_core.h"
#include "base/spin_backoff.h"
#include "base/spin_mutex.h"

namespace ridge {

struct PipelineSize {
  unsigned threads = 1;
  unsigned spare = 0;  // items beyond one per thread, for those that wait to be written
  unsigned ahead = 0;  // items read ahead of need, beyond these; 0 where reading is cheap
};

// One run of items through the stages; each thread calls work_along() until there is nothing more to read.
template <class Item, class Read, class Work, class Write>
class OrderedPipeline {
 public:
  OrderedPipeline(PipelineSize size, Read* read, Work* work, Write* write)
      : ahead_(size.threads > 1 ? size.ahead : 0),
        read_(read),
        work_(work),
        write_(write),
        finished_(size.threads + size.spare + ahead_) {}

  void work_along(unsigned worker) {
    while (const Taken taken = next()) {
      attempt([&]() -> Result<void> {
        (*work_)(worker, taken.item);
        return {};
      });
      finished_[taken.sequence % finished_.size()] = taken.item;
      write_finished();
    }
  }

  // When all threads are done.
  Result<void> result() {
    if (thrown_) std::rethrow_exception(thrown_);
    if (error_) return tl::unexpected(std::move(*error_));
    return {};
  }

 private:
  struct Taken {
    Item* item = nullptr;
    std::uint64_t sequence = 0;
    explicit operator bool() const { return item != nullptr; }
  };

  // The next item, read; none at the end, and behind a failure.
  Taken next() {
    for (SpinBackoff patience;;) {
      const std::uint32_t seen = changes_;  // before all that is looked at
      const bool over = over_;
      if (!over && may_read() && !reading_.test_and_set()) {
        const Taken taken = may_read() ? read() : Taken{};
        if (taken && ahead_ != 0) push(taken);
        reading_.clear();
        changed();
        if (taken && ahead_ == 0) return taken;
        patience = {};
        continue;
      }
      if (const Taken taken = pop()) return taken;
      if (over) return {};
      if (!patience.wait_a_little()) changes_.wait(seen);
    }
  }

  // Whether there is room for a further item, and need of one.
  bool may_read() const { return !over_ && taken_ - written_ < finished_.size() && (ahead_ == 0 || ready_count_ < ahead_); }

  // By one thread at a time.
  Taken read() {
    Item* item = take();
    bool more = false;
    attempt([&]() -> Result<void> {
      Result<bool> read = (*read_)(item);
      if (!read) return tl::unexpected(std::move(read.error()));
      more = *read;
      return {};
    });
    if (!more || failed_) {
      over_ = true;
      return {};
    }
    return {item, taken_++};
  }

  void push(const Taken& taken) {
    const std::lock_guard lock(sharing_);
    ready_.push_back(taken);
    ready_count_ = ready_.size();
  }
  Taken pop() {
    if (ready_count_ == 0) return {};
    const std::lock_guard lock(sharing_);
    if (ready_.empty()) return {};
    const Taken taken = ready_.front();
    ready_.pop_front();
    ready_count_ = ready_.size();
    return taken;
  }

  // Something that another thread may wait for. One is enough: whoever can do nothing with it leaves it to one who is at work,
  // and who will say so in turn. At the end all are to know.
  void changed() {
    ++changes_;
    if (over_) {
      changes_.notify_all();
    } else {
      changes_.notify_one();
    }
  }

  // Writes what is finished and next in order, unless another thread is about it, which then takes this thread's items along.
  void write_finished() {
    const auto slot = [&]() -> std::atomic<Item*>& { return finished_[written_ % finished_.size()]; };
    while (slot() != nullptr && !writing_.test_and_set()) {
      while (Item* item = slot().exchange(nullptr)) {
        if (!failed_) attempt([&] { return (*write_)(item); });
        give_back(item);
        ++written_;
        changed();
      }
      writing_.clear();
    }
  }

  // The first failure stays, behind which nothing is read or written any more. What is thrown goes on to the caller.
  template <class Step>
  void attempt(Step step) {
    std::exception_ptr thrown;
    Result<void> done;
    try {
      done = step();
    } catch (...) {
      thrown = std::current_exception();
    }
    if (done && !thrown) return;
    const std::lock_guard lock(sharing_);
    if (failed_) return;
    thrown_ = thrown;
    if (!thrown) error_ = std::move(done.error());
    failed_ = true;
  }

  Item* take() {
    const std::lock_guard lock(sharing_);
    if (free_.empty()) return items_.emplace_back(std::make_unique<Item>()).get();
    Item* item = free_.back();
    free_.pop_back();
    return item;
  }
  void give_back(Item* item) {
    const std::lock_guard lock(sharing_);
    free_.push_back(item);
  }

  const unsigned ahead_;
  Read* read_;
  Work* work_;
  Write* write_;
  std::atomic_flag reading_;
  std::atomic<std::uint64_t> taken_ = 0;
  std::atomic<bool> over_ = false;
  std::atomic<std::uint32_t> changes_ = 0;
  std::vector<std::atomic<Item*>> finished_;  // by sequence modulo the most items there may be
  std::atomic<std::uint64_t> written_ = 0;
  std::atomic_flag writing_;
  std::atomic<std::size_t> ready_count_ = 0;
  SpinMutex sharing_;        // guards what follows
  std::deque<Taken> ready_;  // read, and nobody's yet
  std::vector<std::unique_ptr<Item>> items_;
  std::vector<Item*> free_;  // those that nobody works on
  std::optional<Error> error_;
  std::exception_ptr thrown_;
  std::atomic<bool> failed_ = false;
};

// read(Item*) -> Result<bool>: false when there is no further item. work(unsigned worker, Item*), worker < threads.
// write(Item*) -> Result<void>. At most threads + spare + ahead items exist. What a stage throws goes through to the caller.
template <class Item, class Read, class Work, class Write>
Result<void> run_in_order(PipelineSize size, Read read, Work work, Write write) {
  OrderedPipeline<Item, Read, Work, Write> pipeline(size, &read, &work, &write);
  std::vector<std::jthread> others;
  try {
    for (unsigned worker = 1; worker < size.threads; ++worker) {
      others.push_back(spawn_on_core(worker, size.threads, [&, worker] { pipeline.work_along(worker); }));
    }
  } catch (const std::system_error&) {  // no further thread is to be had: fewer do the same
  }
  pipeline.work_along(0);
  for (std::jthread& other : others) other.join();
  return pipeline.result();
}

}  // namespace ridge
