// run_in_order: items go through three stages on several threads: read (one item at a time, in order), work (any thread, any order),
// write (one at a time, in the order of reading). Items are reused, the last one used first, while its memory is still in the cache.
// No thread is set apart for a stage, so that all of them stay busy whichever stage is the longest.
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/task_arena.h>

#include <ridge/result.h>

namespace ridge {

// Items that nobody works on, and the first failure, behind which nothing is read or written any more.
template <class Item>
class ItemPool {
 public:
  Item* take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return items_.emplace_back(std::make_unique<Item>()).get();
    Item* item = free_.back();
    free_.pop_back();
    return item;
  }
  void give_back(Item* item) {
    const std::lock_guard lock(mutex_);
    free_.push_back(item);
  }
  bool failed() {
    const std::lock_guard lock(mutex_);
    return error_.has_value();
  }
  void fail_with(Error error) {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::move(error);
  }
  const std::optional<Error>& error() const { return error_; }  // when the work is over

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Item>> items_;
  std::vector<Item*> free_;
  std::optional<Error> error_;
};

// read(Item*) -> Result<bool>: false when there is no further item. work(Item*). write(Item*) -> Result<void>.
// At most threads + spare items exist. What a stage throws goes through to the caller.
template <class Item, class Read, class Work, class Write>
Result<void> run_in_order(unsigned threads, unsigned spare, Read read, Work work, Write write) {
  // More threads than cores are the caller's choice; without this TBB would warn of them on standard error.
  const auto most = std::max<std::size_t>(threads, static_cast<std::size_t>(tbb::info::default_concurrency()));
  const tbb::global_control allowed(tbb::global_control::max_allowed_parallelism, most);
  ItemPool<Item> pool;
  const auto read_stage = [&](tbb::flow_control& flow) -> Item* {
    if (!pool.failed()) {
      Item* item = pool.take();
      const Result<bool> more = read(item);
      if (more && *more) return item;
      if (!more) pool.fail_with(more.error());
    }
    flow.stop();
    return nullptr;
  };
  const auto work_stage = [&](Item* item) {
    work(item);
    return item;
  };
  const auto write_stage = [&](Item* item) {
    if (!pool.failed()) {
      if (const Result<void> written = write(item); !written) pool.fail_with(written.error());
    }
    pool.give_back(item);
  };
  tbb::task_arena arena(static_cast<int>(threads));
  arena.execute([&] {
    tbb::parallel_pipeline(threads + spare, tbb::make_filter<void, Item*>(tbb::filter_mode::serial_in_order, read_stage) &
                                                tbb::make_filter<Item*, Item*>(tbb::filter_mode::parallel, work_stage) &
                                                tbb::make_filter<Item*, void>(tbb::filter_mode::serial_in_order, write_stage));
  });
  if (pool.error()) return tl::unexpected(*pool.error());
  return {};
}

}  // namespace ridge
