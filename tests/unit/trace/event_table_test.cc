// Events and their words across the borders of blocks and runs.
#include "trace/event_table.h"

#include <gtest/gtest.h>

namespace ridge {
namespace {

// Event i has time i, duration and words made from it.
EventRun run_of(std::uint32_t from, std::uint32_t count, std::uint32_t words) {
  EventRun run;
  for (std::uint32_t i = from; i < from + count; ++i) {
    run.reserve(words);
    const std::size_t first = run.words.size();
    for (std::uint32_t w = 0; w < words; ++w) run.words.push_reserved(i * 1000 + w);
    run.add(i, i * std::int64_t{3}, StringId{i + 1}, FormId{i + 2}, first);
  }
  return run;
}

void expect_event(const EventTable& table, std::uint32_t i, std::uint32_t words) {
  const EventId event{i};
  ASSERT_EQ(table.ts_ns(event), i);
  ASSERT_EQ(table.dur_ns(event), i * std::int64_t{3});
  ASSERT_EQ(table.name(event).value, i + 1);
  ASSERT_EQ(table.form(event).value, i + 2);
  for (std::uint32_t w = 0; w < words; ++w) ASSERT_EQ(table.words(event)[w], i * 1000 + w);
}

TEST(EventTable, RunsAcrossBlocks) {
  EventTable table;
  std::uint32_t size = 0;
  for (const std::uint32_t count : {1U, 65'534U, 3U, 200'000U, 0U, 5U}) {
    ASSERT_TRUE(table.append(run_of(size, count, 2)));
    size += count;
  }
  ASSERT_EQ(table.size(), size);
  for (std::uint32_t i = 0; i < size; i += 13) expect_event(table, i, 2);
  expect_event(table, 65'535, 2);
  expect_event(table, 65'536, 2);
  expect_event(table, size - 1, 2);
}

// Words lie in runs of 2^20: an event's words are never split, whatever was there before.
TEST(EventTable, WordsThatWouldStraddle) {
  EventTable table;
  std::uint32_t size = 0;
  for (const std::uint32_t words : {700U, 999U, 1U, 128U, 333U}) {
    for (int i = 0; i < 10; ++i) {
      ASSERT_TRUE(table.append(run_of(size, 300, words)));
      for (std::uint32_t e = size; e < size + 300; e += 17) expect_event(table, e, words);
      size += 300;
    }
  }
  expect_event(table, 0, 700);
  expect_event(table, 2999, 700);
  expect_event(table, 3000, 999);
}

TEST(EventTable, MoreWordsThanARunHolds) {
  EventTable table;
  EventRun run;
  constexpr std::uint32_t kWords = 3'000'000;
  run.reserve(kWords);
  for (std::uint32_t w = 0; w < kWords; ++w) run.words.push_reserved(w);
  run.add(1, 2, StringId{}, FormId{}, 0);
  ASSERT_TRUE(table.append(run));
  ASSERT_TRUE(table.append(run_of(1, 10, 3)));
  EXPECT_EQ(table.words(EventId{0U})[kWords - 1], kWords - 1);
  expect_event(table, 10, 3);
}

// An event without words that comes when a run of words is exactly full must still give a pointer.
TEST(EventTable, EventWithoutWordsAtTheEndOfAFullRun) {
  EventTable table;
  constexpr std::uint32_t kRun = 1U << 20;
  EventRun run;
  run.reserve(kRun);
  for (std::uint32_t w = 0; w < kRun; ++w) run.words.push_reserved(w);
  run.add(1, 2, StringId{}, FormId{}, 0);
  run.reserve(0);
  run.add(3, 4, StringId{}, FormId{}, run.words.size());
  ASSERT_TRUE(table.append(run));
  ASSERT_TRUE(table.append(run_of(2, 1, 0)));
  EXPECT_NE(table.words(EventId{1U}), nullptr);
  EXPECT_NE(table.words(EventId{2U}), nullptr);
  EXPECT_EQ(table.words(EventId{0U})[kRun - 1], kRun - 1);
}

TEST(EventTable, Durations) {
  EventTable table;
  const std::int64_t durations[] = {0,          kUnknownDuration, 1,           0xFFFFFFFD,
                                    0xFFFFFFFE, 0xFFFFFFFF,       0x100000000, std::int64_t{1} << 61};
  EventRun run;
  for (const std::int64_t dur : durations) {
    run.reserve(0);
    run.add(0, dur, StringId{}, FormId{}, 0);
  }
  ASSERT_TRUE(table.append(run));
  ASSERT_TRUE(table.append(run));
  for (std::uint32_t i = 0; i < 16; ++i) {
    const std::int64_t dur = durations[i % 8];
    EXPECT_EQ(table.dur_ns(EventId{i}), dur == kUnknownDuration ? std::nullopt : std::optional(dur)) << i;
  }
  table.set_dur_ns(EventId{1U}, 5);
  table.set_dur_ns(EventId{0U}, std::int64_t{1} << 40);
  table.set_dur_ns(EventId{7U}, 6);
  EXPECT_EQ(table.dur_ns(EventId{1U}), 5);
  EXPECT_EQ(table.dur_ns(EventId{0U}), std::int64_t{1} << 40);
  EXPECT_EQ(table.dur_ns(EventId{7U}), 6);
}

}  // namespace
}  // namespace ridge
