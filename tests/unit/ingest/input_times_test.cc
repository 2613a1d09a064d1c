// Times and durations as writers give them, to exact nanoseconds, and what they make of the window. Expectations are written by
// hand.
#include <gtest/gtest.h>

#include "unit/ingest/reading.h"

namespace ridge::test {
namespace {

// Whether the reader knows the form of an event already does not matter.
TEST(InputTimes, OutOfRangeWhereverTheEventStands) {
  const auto event = [](const char* ts, const char* dur) {
    return R"({"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":)" + std::string(ts) + ",\"dur\":" + dur + "}";
  };
  const std::string good = event("10", "5");
  struct Odd {
    std::string text;
    const char* problem;
  };
  for (const Odd& odd :
       {Odd{event("10", "9000000000000000"), "missing_duration 1"}, Odd{event("9000000000000000", "5"), "time_out_of_range 1"},
        Odd{event("-8000000000000000", "5"), "time_out_of_range 1"},
        Odd{event("9100000000000000", "9100000000000000"), "time_out_of_range 1"}}) {
    for (const auto& [events, at] : {std::pair(odd.text + ", " + good + ", " + good, std::size_t{0}),
                                     std::pair(good + ", " + good + ", " + odd.text + ", " + good, 2 * (good.size() + 2))}) {
      const std::string text = trace_of(events);
      expect_all_ways_agree(text, small_file_ways());
      const auto trace = read_ok(text);
      EXPECT_EQ(trace->window->duration_ns(), 5000) << events;
      Lines problems = problem_lines(trace->diagnostics);
      ASSERT_FALSE(problems.empty()) << events;
      EXPECT_EQ(problems.front(), odd.problem + (' ' + std::to_string(kFirstEvent + at))) << events;
    }
  }
}

TEST(InputTimes, StraysHaveAPlaceWherePlacesAreKept) {
  const std::string text = trace_of(
      R"({"ph":"X","cat":"cpu_op","ts":3849573693609.751,"dur":10}, {"ph":"X","cat":"kernel","ts":0,"dur":5}, {"ph":"M","ts":0,"name":"m"})");
  EXPECT_EQ(problems_with_places(text), Lines{"at_time_zero 1 " + std::to_string(text.find(R"({"ph":"X","cat":"kernel")"))});
}

TEST(InputTimes, AreExactNanoseconds) {
  const auto line = [](std::string_view ts, std::string_view dur) {
    return one_line(R"({"ph":"X","pid":1,"tid":1,"ts":)" + std::string(ts) + R"(,"dur":)" + std::string(dur) + "}");
  };
  EXPECT_EQ(line("0", "0"), "X|||1|1|0|0|");
  EXPECT_EQ(line("1", "2"), "X|||1|1|1000|2000|");
  EXPECT_EQ(line("3849573693609.751", "50.451"), "X|||1|1|3849573693609751|50451|");
  EXPECT_EQ(line("1.5", "0.25"), "X|||1|1|1500|250|");
  EXPECT_EQ(line("1.0", "0.000"), "X|||1|1|1000|0|");
  // Digits beyond nanoseconds are cut off, not rounded.
  EXPECT_EQ(line("1.2349", "0.9999999"), "X|||1|1|1234|999|");
  EXPECT_EQ(line("1.23456789012345678901234567890", "0.00099"), "X|||1|1|1234|0|");
  EXPECT_EQ(line("-1.5", "1"), "X|||1|1|-1500|1000|");
  EXPECT_EQ(line("-0.0019", "1"), "X|||1|1|-1|1000|");
  EXPECT_EQ(line("1e3", "1E-3"), "X|||1|1|1000000|1|");
  EXPECT_EQ(line("1.5e+2", "25e-1"), "X|||1|1|150000|2500|");
  EXPECT_EQ(line("1.7e15", "1e-400"), "X|||1|1|1700000000000000000|0|");
  // Absolute times in microseconds, beyond what a double holds to the nanosecond.
  EXPECT_EQ(line("1790857026000000.123", "4294967.294"), "X|||1|1|1790857026000000123|4294967294|");
  // Durations around the 32-bit limit.
  EXPECT_EQ(line("1", "4294967.293"), "X|||1|1|1000|4294967293|");
  EXPECT_EQ(line("1", "4294967.295"), "X|||1|1|1000|4294967295|");
  EXPECT_EQ(line("1", "4294967.296"), "X|||1|1|1000|4294967296|");
  EXPECT_EQ(line("1", "1000000000000"), "X|||1|1|1000|1000000000000000|");
}

TEST(InputTimes, AsTexts) {
  const Reading reading = read_events(R"({"ph":"X","ts":"1.5","dur":"2"})");
  EXPECT_EQ(reading.events, Lines{"X|||-|-|1500|2000|"});
  EXPECT_EQ(reading.problems, Lines{problem_at("time_as_text", 0)});
}

TEST(InputTimes, MissingAndNegativeDurationsAreUnknown) {
  const Reading reading = read_events(
      R"({"ph":"X","ts":1}, {"ph":"X","ts":1,"dur":-5}, {"ph":"X","ts":1,"dur":null}, {"ph":"X","ts":1,"dur":"x"})");
  EXPECT_EQ(reading.events, (Lines{"X|||-|-|1000|-|", "X|||-|-|1000|-|", "X|||-|-|1000|-|", "X|||-|-|1000|-|"}));
  EXPECT_EQ(reading.problems, (Lines{problem_at("missing_duration", 0, 3) + " 64 94", problem_at("negative_duration", 19)}));
}

TEST(InputTimes, WithoutOneTheEventIsDropped) {
  const Reading reading = read_events(
      R"({"ph":"X","dur":1}, {"ph":"X","ts":null,"dur":1}, {"ph":"X","ts":"soon","dur":1}, {"ph":"X","ts":1,"dur":1})");
  EXPECT_EQ(reading.events, Lines{"X|||-|-|1000|1000|"});
  EXPECT_EQ(reading.problems, Lines{problem_at("no_timestamp", 0, 3) + " 37 67"});
}

TEST(InputTimes, BeyondSixtyFourBits) {
  const Reading reading = read_events(
      R"({"ph":"X","ts":1e30,"dur":1}, {"ph":"X","ts":1,"dur":1e30}, {"ph":"X","ts":-99999999999999999999,"dur":1})");
  EXPECT_EQ(reading.events, Lines{"X|||-|-|1000|-|"});
  EXPECT_EQ(reading.problems, (Lines{problem_at("time_out_of_range", 0, 2) + " 77", problem_at("missing_duration", 30)}));
}

// Sums and differences of the largest times that are kept must not overflow.
TEST(InputTimes, LargestOnesAddUp) {
  const auto trace = read_ok(trace_of(R"({"ph":"X","cat":"cpu_op","ts":4600000000000000,"dur":2300000000000000},
    {"ph":"X","cat":"cpu_op","ts":-4600000000000000,"dur":1}, {"ph":"X","cat":"cpu_op","ts":-1100000000000000,"dur":1},
    {"ph":"B","cat":"cpu_op","ts":-1100000000000000}, {"ph":"E","cat":"cpu_op","ts":4600000000000000})"));
  ASSERT_TRUE(trace->window.has_value());
  EXPECT_EQ(trace->window->start_ns, -1100000000000000000);
  EXPECT_EQ(trace->window->end_ns, 6900000000000000000);
  EXPECT_EQ(trace->window->duration_ns(), 8000000000000000000);
  EXPECT_EQ(trace->diagnostics[Problem::time_out_of_range].count, 1U);
}

TEST(InputTimes, ZeroFarOutsideDoesNotStretchTheWindow) {
  const std::string zero =
      R"({"ph":"X","cat":"user_annotation","name":"z","ts":0,"dur":5}, {"ph":"X","cat":"cpu_op","name":"z","ts":0.000,"dur":5}, )";
  const auto far = read_ok(trace_of(zero + R"({"ph":"X","cat":"cpu_op","ts":3849573693609.751,"dur":10})"));
  EXPECT_EQ(far->window->start_ns, 3849573693609751);
  EXPECT_EQ(far->window->duration_ns(), 10000);
  EXPECT_EQ(far->events.size(), 3U);
  EXPECT_EQ(problem_lines(far->diagnostics), Lines{"at_time_zero 2"});
  // 100 s later is no other age.
  const auto near = read_ok(trace_of(zero + R"({"ph":"X","cat":"cpu_op","ts":100000000,"dur":10})"));
  EXPECT_EQ(near->window->start_ns, 0);
  EXPECT_EQ(near->window->end_ns, 100'000'010'000);
  EXPECT_EQ(problem_lines(near->diagnostics), Lines{});
}

TEST(InputTimes, WindowLeavesOutSpansOverheadAndMetadata) {
  const auto trace = read_ok(trace_of(R"({"ph":"X","cat":"Trace","ts":1,"dur":100}, {"ph":"X","cat":"overhead","ts":2,"dur":90},
    {"ph":"X","cat":"kernel","ts":20,"dur":5}, {"ph":"X","cat":"cuda_runtime","ts":10,"dur":1}, {"ph":"X","cat":"gpu_user_annotation","ts":5,"dur":50},
    {"ph":"M","name":"process_name","ts":0,"pid":1,"args":{"name":"x"}})"));
  EXPECT_EQ(trace->window->start_ns, 10'000);
  EXPECT_EQ(trace->window->end_ns, 25'000);
}

}  // namespace
}  // namespace ridge::test
