// run_in_order: items go through three stages on several threads: read (one item at a time, in order), work (any thread, any order),
// write (one at a time, in the order of reading). Items are reused, the last one used first, while its memory is still in the cache.
// No thread is set apart for a stage, so that all of them stay busy whichever stage is the longest.
// The threads are its own and not a pool's: a pool takes a millisecond to start and stop, which the reader of a small trace would feel.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <ridge/result.h>

#include "base/patient_mutex.h"
#include "base/thread_apart.h"

namespace ridge {

// One run of items through the stages; each thread calls work_along() until there is nothing more to read.
template <class Item, class Read, class Work, class Write>
class OrderedPipeline {
 public:
  OrderedPipeline(std::size_t most, Read* read, Work* work, Write* write)
      : read_(read), work_(work), write_(write), finished_(most) {}

  void work_along(unsigned worker) {
    std::uint64_t sequence = 0;
    while (Item* item = next(&sequence)) {
      attempt([&]() -> Result<void> {
        (*work_)(worker, item);
        return {};
      });
      finished_[sequence % finished_.size()] = item;
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
  // The next item, read; nullptr at the end, and behind a failure.
  Item* next(std::uint64_t* sequence) {
    const std::lock_guard lock(reading_);
    if (over_) return nullptr;
    for (std::uint64_t written = written_; taken_ - written == finished_.size(); written = written_) written_.wait(written);
    Item* item = take();
    bool more = false;
    attempt([&]() -> Result<void> {
      Result<bool> read = (*read_)(item);
      if (!read) return tl::unexpected(std::move(read.error()));
      more = *read;
      return {};
    });
    over_ = !more || failed_;
    if (over_) return nullptr;
    *sequence = taken_++;
    return item;
  }

  // Writes what is finished and next in order, unless another thread is about it, which then takes this thread's items along.
  void write_finished() {
    const auto slot = [&]() -> std::atomic<Item*>& { return finished_[written_ % finished_.size()]; };
    while (slot() != nullptr && !writing_.test_and_set()) {
      while (Item* item = slot().exchange(nullptr)) {
        if (!failed_) attempt([&] { return (*write_)(item); });
        give_back(item);
        ++written_;
        written_.notify_all();
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

  Read* read_;
  Work* work_;
  Write* write_;
  PatientMutex reading_;
  std::uint64_t taken_ = 0;  // these two: whoever reads
  bool over_ = false;
  std::vector<std::atomic<Item*>> finished_;  // by sequence modulo the most items there may be
  std::atomic<std::uint64_t> written_ = 0;
  std::atomic_flag writing_;
  PatientMutex sharing_;  // guards what follows
  std::vector<std::unique_ptr<Item>> items_;
  std::vector<Item*> free_;  // those that nobody works on
  std::optional<Error> error_;
  std::exception_ptr thrown_;
  std::atomic<bool> failed_ = false;
};

// read(Item*) -> Result<bool>: false when there is no further item. work(unsigned worker, Item*), worker < threads.
// write(Item*) -> Result<void>. At most threads + spare items exist. What a stage throws goes through to the caller.
template <class Item, class Read, class Work, class Write>
Result<void> run_in_order(unsigned threads, unsigned spare, Read read, Work work, Write write) {
  OrderedPipeline<Item, Read, Work, Write> pipeline(threads + spare, &read, &work, &write);
  std::vector<std::jthread> others;
  try {
    for (unsigned worker = 1; worker < threads; ++worker) {
      others.push_back(start_apart(worker, threads, [&, worker] { pipeline.work_along(worker); }));
    }
  } catch (const std::system_error&) {  // no further thread is to be had: fewer do the same
  }
  pipeline.work_along(0);
  for (std::jthread& other : others) other.join();
  return pipeline.result();
}

}  // namespace ridge
