// A thread that starts apart: it does its work, however many there are, and may afterwards run wherever its maker may.
#include "base/spawn_on_core.h"

#include <atomic>
#include <latch>
#include <vector>

#include <gtest/gtest.h>

#if defined(__linux__)
#include <pthread.h>
#include <sched.h>
#endif

namespace ridge {
namespace {

#if defined(__linux__)
cpu_set_t processors_of_this_thread() {
  cpu_set_t set;
  CPU_ZERO(&set);
  EXPECT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  return set;
}

// Most of these have ended before they are placed, and what then is moved is the maker.
TEST(ThreadApart, LeavesItsMakerUnbound) {
  const cpu_set_t before = processors_of_this_thread();
  const auto threads = static_cast<unsigned>(CPU_COUNT(&before)) + 1;
  for (int round = 0; round < 100; ++round) {
    spawn_on_core(1, threads, [] {});
    const cpu_set_t after = processors_of_this_thread();
    ASSERT_TRUE(CPU_EQUAL(&before, &after));
  }
}

TEST(ThreadApart, IsBoundToNoProcessor) {
  const cpu_set_t makers = processors_of_this_thread();
  const auto threads = static_cast<unsigned>(CPU_COUNT(&makers)) + 1;  // with fewer it is left alone
  for (unsigned number = 1; number < threads; ++number) {
    std::latch end(1);
    std::jthread thread = spawn_on_core(number, threads, [&end] { end.wait(); });
    cpu_set_t own;
    CPU_ZERO(&own);
    const int asked = pthread_getaffinity_np(thread.native_handle(), sizeof own, &own);
    end.count_down();
    ASSERT_EQ(asked, 0);
    EXPECT_TRUE(CPU_EQUAL(&own, &makers)) << "thread " << number;
  }
}

#endif

TEST(ThreadApart, ManyMoreThanProcessors) {
  constexpr unsigned kThreads = 40;
  std::atomic<unsigned> ran{0};
  {
    std::vector<std::jthread> threads;
    for (unsigned number = 1; number < kThreads; ++number)
      threads.push_back(spawn_on_core(number, kThreads, [&ran] { ran.fetch_add(1); }));
  }
  EXPECT_EQ(ran.load(), kThreads - 1);
}

}  // namespace
}  // namespace ridge
