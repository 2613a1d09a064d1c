// WorkQueue: what the server's threads do next. Three rules keep every client served and memory bounded:
// 1. Of long jobs (analyses that are made) no more than `most_long` run at a time; short ones pass them.
// 2. Jobs of connections that pipeline are begun when no others wait.
// 3. Otherwise first come, first served.
// Thread-safe.
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <mutex>
#include <thread>
#include <vector>

#include <condition_variable>

namespace ridge::server {

struct QueuedJob {
  bool is_long = false;
  bool pipelined = false;
  std::function<void()> run;  // does not throw
};

class WorkQueue {
 public:
  WorkQueue(std::size_t threads, std::size_t most_long);
  ~WorkQueue();  // ends what is under way, drops the rest
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  void add(QueuedJob job);
  void stop();  // what waits is dropped, what runs is waited for; again: nothing

 private:
  using Jobs = std::list<QueuedJob>;
  Jobs::iterator next();  // end(): nothing that may begin
  void work();

  const std::size_t most_long_;
  std::mutex mutex_;  // guards what follows, but for the threads
  std::condition_variable changed_;
  Jobs jobs_;
  std::size_t long_under_way_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace ridge::server
