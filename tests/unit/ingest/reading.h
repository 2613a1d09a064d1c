// What a small text reads as, in every way of reading that there is: lines for its events and for its problems.
#pragma once

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "support/trace_lines.h"

namespace ridge::test {

struct Reading {
  Lines events;
  Lines problems;
};

inline Reading read_all_ways(std::string_view text) {
  expect_all_ways_agree(text, small_file_ways());
  const auto trace = read_ok(text);
  return {event_lines(*trace), problem_lines(trace->diagnostics)};
}

inline Reading read_events(std::string_view events) { return read_all_ways(trace_of(events)); }

// The line of the only event, when there is no problem.
inline std::string one_line(std::string_view event) {
  const Reading reading = read_events(event);
  EXPECT_EQ(reading.problems, Lines{}) << event;
  EXPECT_EQ(reading.events.size(), 1U) << event;
  return reading.events.empty() ? "" : reading.events[0];
}

// Offset of the first byte of the events in trace_of().
inline constexpr std::size_t kFirstEvent = 17;

inline std::string problem_at(std::string_view code, std::size_t offset, int count = 1) {
  return std::string(code) + ' ' + std::to_string(count) + ' ' + std::to_string(kFirstEvent + offset);
}

inline Lines problems_with_places(std::string_view text) {
  ReadOptions options;
  options.keep_places = true;
  return problem_lines((*read_trace_bytes(text, "test", options))->diagnostics);
}

// Two sound events, to stand around something.
inline const std::string kBefore = plain_event("before", 1);
inline const std::string kAfter = plain_event("after", 9);
inline const std::string kLineBefore = "X|cpu_op|before|1|2|1000|1000|";
inline const std::string kLineAfter = "X|cpu_op|after|1|2|9000|1000|";

}  // namespace ridge::test
