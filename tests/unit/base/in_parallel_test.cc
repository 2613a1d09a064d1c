// Jobs of every size give the same; what a part throws reaches the caller, and a part that asks for a value being made does not
// lock up.
#include "base/in_parallel.h"

#include <atomic>
#include <chrono>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/bulk_vector.h"
#include "model/once.h"

namespace ridge {
namespace {

constexpr JobSize kTiny{1000}, kSmall{20'000}, kLarge{std::size_t{1} << 20};

class Jobs : public testing::TestWithParam<JobSize> {};

TEST_P(Jobs, EachIndexIsTakenOnce) {
  std::vector<std::atomic<int>> taken(5000);
  for_each_index(GetParam(), taken.size(), [&](std::size_t i) { ++taken[i]; });
  for (const auto& times : taken) ASSERT_EQ(times, 1);
}

TEST_P(Jobs, RangesTileTheWhole) {
  for (const std::size_t count : {0U, 1U, 99U, 100U, 101U, 12345U}) {
    std::vector<std::atomic<int>> taken(count);
    for_each_range(GetParam(), count, 100, [&](std::size_t first, std::size_t last) {
      ASSERT_LT(first, last);
      for (std::size_t i = first; i < last; ++i) ++taken[i];
    });
    for (const auto& times : taken) ASSERT_EQ(times, 1);
  }
}

TEST_P(Jobs, PartsAreAllRun) {
  std::atomic<int> sum = 0;
  at_once(GetParam(), [&] { sum += 1; }, [&] { sum += 10; }, [&] { sum += 100; });
  alongside(GetParam(), [&] { sum += 1000; }, [&] { sum += 10000; });
  EXPECT_EQ(sum, 11111);
}

TEST_P(Jobs, WhatAPartThrowsReachesTheCaller) {
  const auto fails = [] { throw std::runtime_error("no"); };
  std::atomic<bool> other_ran = false;
  const auto works = [&] { other_ran = true; };
  EXPECT_THROW(at_once(GetParam(), works, fails), std::runtime_error);
  other_ran = false;
  EXPECT_THROW(alongside(GetParam(), fails, works), std::runtime_error);
  other_ran = false;
  EXPECT_THROW(alongside(GetParam(), works, fails), std::runtime_error);
  EXPECT_TRUE(other_ran);
}

// Every part asks for a value whose making goes on in parallel: a thread that waits inside must not take up another part that
// asks for it too.
TEST_P(Jobs, PartsMayAskForAValueThatIsBeingMade) {
  for (int round = 0; round < 50; ++round) {
    Once<int> value;
    const auto ask = [&] {
      return value.get([] {
        std::atomic<int> sum = 0;
        for_each_index(kLarge, 1000, [&](std::size_t i) { sum += static_cast<int>(i); });
        return sum.load();
      });
    };
    std::atomic<int> wrong = 0;
    for_each_index(GetParam(), 64, [&](std::size_t) { wrong += ask() != 499500 ? 1 : 0; });
    ASSERT_EQ(wrong, 0);
  }
}

TEST_P(Jobs, OneThreadDoesItAllWhereNoMoreMayWork) {
  Threads one(1);
  const Threads::Use use(&one);
  const std::thread::id here = std::this_thread::get_id();
  std::atomic<int> elsewhere = 0;
  const auto part = [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // time for another to come
    elsewhere += std::this_thread::get_id() != here;
  };
  for_each_index(GetParam(), 16, [&](std::size_t) { part(); });
  at_once(GetParam(), part, part, part);
  alongside(GetParam(), part, part);
  EXPECT_EQ(elsewhere, 0);
}

INSTANTIATE_TEST_SUITE_P(Sizes, Jobs, testing::Values(kTiny, kSmall, kLarge), [](const auto& size) {
  return size.param.worth_a_pool() ? "large" : size.param.worth_a_thread() ? "small" : "tiny";
});

TEST(BulkVector, IsAVectorThatDoesNotFill) {
  BulkVector<std::uint32_t> column(3, 7);
  EXPECT_EQ(std::accumulate(column.begin(), column.end(), 0U), 21U);
  column.resize(5);
  column[3] = column[4] = 1;
  EXPECT_EQ(std::accumulate(column.begin(), column.end(), 0U), 23U);
  const BulkVector<std::uint32_t> copy = column;
  EXPECT_EQ(copy, column);
}

}  // namespace
}  // namespace ridge
