// Threads that take jobs in the order that work_queue.h tells.
#include "work_queue.h"

#include <algorithm>
#include <utility>

namespace ridge::server {

WorkQueue::WorkQueue(std::size_t threads, std::size_t most_long) : most_long_(most_long) {
  for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
}

WorkQueue::~WorkQueue() { stop(); }

void WorkQueue::add(QueuedJob job) {
  const std::lock_guard lock(mutex_);
  jobs_.push_back(std::move(job));
  changed_.notify_one();
}

void WorkQueue::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  jobs_.clear();
}

// There are no more jobs than connections: a walk over them costs nothing.
WorkQueue::Jobs::iterator WorkQueue::next() {
  const auto may_begin = [this](const QueuedJob& job) { return !job.is_long || long_under_way_ < most_long_; };
  const auto first =
      std::find_if(jobs_.begin(), jobs_.end(), [&](const QueuedJob& job) { return !job.pipelined && may_begin(job); });
  return first != jobs_.end() ? first : std::find_if(jobs_.begin(), jobs_.end(), may_begin);
}

void WorkQueue::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    auto found = jobs_.end();
    changed_.wait(lock, [&] { return stopping_ || (found = next()) != jobs_.end(); });
    if (stopping_) return;
    QueuedJob job = std::move(*found);
    jobs_.erase(found);
    long_under_way_ += job.is_long ? 1 : 0;
    lock.unlock();
    job.run();
    job.run = nullptr;  // what it holds goes before the next begins
    lock.lock();
    long_under_way_ -= job.is_long ? 1 : 0;
    changed_.notify_one();
  }
}

}  // namespace ridge::server
