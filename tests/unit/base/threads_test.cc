// Threads: limits of their own side by side, and as many askers at a time as like to ask.
#include "base/threads.h"

#include <atomic>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <tbb/parallel_for.h>

#include "base/in_parallel.h"
#include "model/once.h"

namespace ridge {
namespace {

constexpr JobSize kWorthAPool{std::size_t{1} << 20};

// How many threads take part in a job whose every part waits a while for others to come.
std::size_t threads_at_work(Threads* threads) {
  const Threads::Use use(threads);
  std::mutex mutex;
  std::set<std::thread::id> seen;
  for_each_index(kWorthAPool, 64, [&](std::size_t) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const std::lock_guard lock(mutex);
    seen.insert(std::this_thread::get_id());
  });
  return seen.size();
}

TEST(Threads, EachHasALimitOfItsOwn) {
  Threads one(1), two(2), any;
  EXPECT_EQ(threads_at_work(&one), 1U);
  EXPECT_LE(threads_at_work(&two), 2U);
  EXPECT_EQ(threads_at_work(&one), 1U);
  EXPECT_GE(threads_at_work(&any), 1U);
  EXPECT_GE(threads_at_work(nullptr), 1U);
}

TEST(Threads, TheLimitInUseIsThatOfTheInnermost) {
  Threads one(1), more(4);
  const Threads::Use outer(&one);
  EXPECT_FALSE(Threads::may_have_more());
  {
    const Threads::Use inner(&more);
    EXPECT_TRUE(Threads::may_have_more());
  }
  EXPECT_FALSE(Threads::may_have_more());
  EXPECT_EQ(Threads::current(), &one);
}

// All ask for a table whose making goes on in the same pool: none waits for a place that one who waits for him has.
TEST(Threads, AnyNumberMayAskAtATime) {
  for (const unsigned most : {1U, 2U}) {
    for (int round = 0; round < 10; ++round) {
      Threads threads(most);
      Once<int> value;
      const auto ask = [&] {
        return value.get([] {
          std::atomic<int> sum = 0;
          for_each_index(kWorthAPool, 1000, [&](std::size_t i) { sum += static_cast<int>(i); });
          return sum.load();
        });
      };
      std::atomic<int> wrong = 0;
      std::vector<std::jthread> askers;
      for (int i = 0; i < 40; ++i) {
        askers.emplace_back([&] {
          const Threads::Use use(&threads);
          for_each_index(kWorthAPool, 4, [&](std::size_t) { wrong += ask() != 499500 ? 1 : 0; });
        });
      }
      askers.clear();
      ASSERT_EQ(wrong, 0);
    }
  }
}

TEST(Threads, MoreThanCoresSayNothing) {
  testing::internal::CaptureStderr();
  Threads threads(64);
  threads.run([] { tbb::parallel_for(0, 10'000, [](int) {}); });
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace ridge
