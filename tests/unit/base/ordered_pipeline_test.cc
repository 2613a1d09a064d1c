// run_in_order: every item once, written in the order of reading, whatever the threads do; failures and exceptions stop it.
#include "base/ordered_pipeline.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace ridge {
namespace {

struct Item {
  int number = 0;
  int square = 0;
};

Error broken(const char* message) { return {ErrorCode::cannot_open, message, "", ""}; }

struct Outcome {
  Result<void> result;
  std::vector<int> written;
  int read = 0;
  std::atomic<int> worked = 0;
};

// Numbers from 0 to count - 1, squared.
template <class Read, class Work, class Write>
void run(PipelineSize size, int count, Outcome* out, Read on_read, Work on_work, Write on_write) {
  out->result = run_in_order<Item>(
      size,
      [&](Item* item) -> Result<bool> {
        if (auto wrong = on_read(out->read)) return tl::unexpected(*wrong);
        item->number = out->read++;
        return item->number < count;
      },
      [&](unsigned worker, Item* item) {
        EXPECT_LT(worker, size.threads);
        on_work(item->number);
        item->square = item->number * item->number;
        ++out->worked;
      },
      [&](Item* item) -> Result<void> {
        if (auto wrong = on_write(item->number)) return tl::unexpected(*wrong);
        out->written.push_back(item->square);
        return {};
      });
}

const auto kFine = [](int) -> std::optional<Error> { return std::nullopt; };
const auto kNothing = [](int) {};

// With and without items read ahead.
std::vector<PipelineSize> sizes() {
  std::vector<PipelineSize> all;
  for (const unsigned threads : {1U, 2U, 3U, 8U, 16U}) {
    for (const unsigned ahead : {0U, 1U, 6U}) all.push_back({.threads = threads, .spare = 3, .ahead = ahead});
  }
  return all;
}

TEST(OrderedPipeline, WritesEveryItemOnceInOrder) {
  for (const PipelineSize& size : sizes()) {
    for (const int count : {0, 1, 2, 5, 1000}) {
      Outcome out;
      // Every seventh takes its time, so that others overtake it.
      run(
          size, count, &out, kFine,
          [](int i) {
            if (i % 7 == 3) std::this_thread::sleep_for(std::chrono::microseconds(50));
          },
          kFine);
      ASSERT_TRUE(out.result);
      ASSERT_EQ(out.written.size(), static_cast<std::size_t>(count)) << size.threads << ' ' << size.ahead;
      for (int i = 0; i < count; ++i) ASSERT_EQ(out.written[static_cast<std::size_t>(i)], i * i);
    }
  }
}

TEST(OrderedPipeline, KeepsNoMoreItemsThanItMay) {
  constexpr unsigned kThreads = 4, kSpare = 2, kAhead = 3;
  std::atomic<int> under_way = 0;
  int most = 0, left = 300;
  const auto result = run_in_order<Item>(
      {.threads = kThreads, .spare = kSpare, .ahead = kAhead},
      [&](Item*) -> Result<bool> {
        most = std::max(most, ++under_way);
        return left-- > 0;
      },
      [](unsigned worker, Item*) {
        if (worker == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
      },
      [&](Item*) -> Result<void> {
        --under_way;
        return {};
      });
  EXPECT_TRUE(result);
  EXPECT_LE(most, static_cast<int>(kThreads + kSpare + kAhead));
}

// No item is done before five are read. Where each thread works on what it has read, two are read and nothing goes on.
TEST(OrderedPipeline, ReadsAheadWhileWorkLasts) {
  std::atomic<int> reads = 0;
  std::atomic<bool> waited_in_vain = false;
  const auto result = run_in_order<Item>(
      {.threads = 2, .spare = 3, .ahead = 6}, [&](Item*) -> Result<bool> { return ++reads <= 40; },
      [&](unsigned, Item*) {
        const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(5);
        while (reads < 5 && !waited_in_vain) {
          if (std::chrono::steady_clock::now() > limit) waited_in_vain = true;
          std::this_thread::yield();
        }
      },
      [](Item*) -> Result<void> { return {}; });
  EXPECT_TRUE(result);
  EXPECT_EQ(reads, 41);
  EXPECT_FALSE(waited_in_vain);
}

TEST(OrderedPipeline, StopsAtAFailureOfReading) {
  for (const PipelineSize& size : sizes()) {
    Outcome out;
    run(size, 1000, &out, [](int i) { return i == 40 ? std::optional(broken("read")) : std::nullopt; }, kNothing, kFine);
    ASSERT_FALSE(out.result);
    EXPECT_EQ(out.result.error().message, "read");
    EXPECT_EQ(out.read, 40);
    EXPECT_LE(out.written.size(), 40U);
  }
}

TEST(OrderedPipeline, StopsAtAFailureOfWriting) {
  for (const PipelineSize& size : sizes()) {
    Outcome out;
    run(size, 100'000, &out, kFine, kNothing, [](int i) { return i == 40 ? std::optional(broken("write")) : std::nullopt; });
    ASSERT_FALSE(out.result);
    EXPECT_EQ(out.result.error().message, "write");
    EXPECT_EQ(out.written.size(), 40U);
    EXPECT_LT(out.read, 100'000);
  }
}

TEST(OrderedPipeline, PassesOnWhatAStageThrows) {
  for (const PipelineSize& size : sizes()) {
    Outcome out;
    const auto thrown = [](int i) {
      if (i == 40) throw std::runtime_error("work");
    };
    EXPECT_THROW(run(size, 100'000, &out, kFine, thrown, kFine), std::runtime_error);
    EXPECT_LE(out.written.size(), 40U);
    EXPECT_LT(out.worked.load(), 100'000);
  }
}

}  // namespace
}  // namespace ridge
