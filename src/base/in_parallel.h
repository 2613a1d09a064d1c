// in_parallel: independent parts of one job on all cores: by oneTBB's pool where the job is large, by one thread more where it
// is small, one after the other where it is tiny. Starting the pool takes over a millisecond, which is more than all the tables
// of a small trace take; a thread takes some 50 us. A thread that waits for its parts takes up no other work meanwhile (TBB
// calls that isolated): it may hold a lock (model/once.h) that the other work asks for.
#pragma once

#include <atomic>
#include <cstddef>
#include <future>
#include <system_error>
#include <thread>
#include <utility>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_invoke.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include "base/spawn_on_core.h"
#include "base/threads.h"

namespace ridge {

// How much a job goes through, at some 60 ns an event. From 64 K events on that is three times the pool's start.
struct JobSize {
  std::size_t events = 0;
  bool worth_a_pool() const { return events >= std::size_t{64} << 10; }
  bool worth_a_thread() const { return events >= std::size_t{8} << 10; }
};

// work() in the pool, with no more threads than are allowed.
template <class Work>
void in_pool(const Work& work) {
  if (Threads* const threads = Threads::current()) {
    threads->run(work);
  } else {
    tbb::this_task_arena::isolate(work);
  }
}

// part(i) for each i in [0, count) by this thread and one more, where one is to be had.
template <class Part>
void by_two_threads(std::size_t count, const Part& part) {
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) part(i);
  };
  std::packaged_task<void()> same([&work, threads = Threads::current()] {  // keeps what it throws
    const Threads::Use use(threads);
    work();
  });
  std::future<void> done = same.get_future();
  std::jthread other;
  try {
    if (Threads::may_have_more()) other = spawn_on_core(1, 2, std::move(same));
  } catch (const std::system_error&) {  // no thread: this one does it all
  }
  work();
  if (other.joinable()) done.get();
}

template <class... Parts>
void at_once(JobSize size, const Parts&... parts) {
  if (size.worth_a_pool()) {
    in_pool([&] { tbb::parallel_invoke(parts...); });
  } else if (size.worth_a_thread()) {
    by_two_threads(sizeof...(parts), [&](std::size_t i) {
      std::size_t part = 0;
      ((part++ == i ? static_cast<void>(parts()) : void()), ...);
    });
  } else {
    (parts(), ...);
  }
}

// The same for two of which the first goes on in parallel itself: a thread of the pool that is done with the second helps
// there, which one that waits in at_once() would not.
template <class First, class Second>
void alongside(JobSize size, const First& first, const Second& second) {
  if (!size.worth_a_pool()) {
    at_once(size, first, second);
    return;
  }
  in_pool([&] {
    tbb::task_group other;
    other.run(second);
    try {
      first();
    } catch (...) {
      other.wait();
      throw;
    }
    other.wait();
  });
}

// part(i) for each i in [0, count).
template <class Part>
void for_each_index(JobSize size, std::size_t count, const Part& part) {
  if (count >= 2 && size.worth_a_pool()) {
    in_pool([&] { tbb::parallel_for(std::size_t{0}, count, part); });
  } else if (count >= 2 && size.worth_a_thread()) {
    by_two_threads(count, part);
  } else {
    for (std::size_t i = 0; i < count; ++i) part(i);
  }
}

// part(first, last) for ranges of about `grain` that make up [0, count).
template <class Part>
void for_each_range(JobSize size, std::size_t count, std::size_t grain, const Part& part) {
  if (count <= grain || !size.worth_a_pool()) {
    if (count > 0) part(std::size_t{0}, count);
    return;
  }
  in_pool([&] {
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, count, grain),
                      [&](const auto& range) { part(range.begin(), range.end()); });
  });
}

}  // namespace ridge
