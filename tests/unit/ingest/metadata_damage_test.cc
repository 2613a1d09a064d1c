// Damage in what surrounds the events: it costs metadata, and no event; where it costs the events after all, the error says
// what is wrong.
#include <gtest/gtest.h>

#include "support/says.h"
#include "unit/ingest/reading.h"

namespace ridge::test {
namespace {

TEST(DamagedMetadata, DamagedBeforeTheEvents) {
  const std::string events = R"("traceEvents": [)" + kBefore + "," + kAfter + "]}";
  for (const std::string_view damaged : {
           R"({"x": "a"b", )",         // unescaped quote
           R"({"x": {"y": "a"b"}, )",  // the same inside an object
           R"({"x": "C:\dir\", )",     // a backslash before the closing quote
           R"({"x": [1, 2, )",         // a list not closed
           R"({"x" 5, )",
           R"({"x": , )",
           R"({x: 1, )",
           R"({"x": 1 "y": 2, )",
           R"({"x": [{"id": 0}, )",
           R"({"x": 1,, )",
           R"({"x": {"id": 0]}, )",  // a bracket for a brace
           R"({"x": [{"id": 0], )",
       }) {
    const std::string text = std::string(damaged) + events;
    const auto reading = read_text(text);
    ASSERT_TRUE(reading.has_value()) << text << "\n" << reading.error().message;
    EXPECT_EQ(event_lines(**reading), (Lines{kLineBefore, kLineAfter})) << text;
    EXPECT_GE((*reading)->diagnostics[Problem::damaged_metadata].count, 1U) << text;
    expect_all_ways_agree(text, small_file_ways());
  }
}

TEST(DamagedMetadata, InvalidValueIsCountedAndTheRestKept) {
  const std::string text =
      R"({"schemaVersion": 1, "x": nan, "trace_id": "t", "traceEvents": [)" + kBefore + R"(], "with_stack": 1})";
  const auto trace = read_ok(text);
  EXPECT_EQ(event_lines(*trace), Lines{kLineBefore});
  EXPECT_EQ(trace->metadata.schema_version, 1);
  EXPECT_EQ(trace->metadata.trace_id, "t");
  EXPECT_EQ(trace->metadata.with_stack, true);
  EXPECT_EQ(trace->diagnostics[Problem::damaged_metadata].count, 1U);
}

TEST(DamagedMetadata, DamagedBehindTheEvents) {
  const auto trace = read_ok(R"({"traceEvents": [)" + kBefore + R"(], "x": "a"b", "y": 1})");
  EXPECT_EQ(event_lines(*trace), Lines{kLineBefore});
  EXPECT_EQ(trace->diagnostics[Problem::damaged_metadata].count, 1U);
}

// Memory is taken for each bracket that is open, so there is a bound on them.
TEST(DamagedMetadata, BracketsWithoutEnd) {
  const std::string events = R"("traceEvents": [)" + kBefore + "]}";
  const auto trace = read_ok(R"({"x": )" + std::string(std::size_t{3} << 20, '[') + ", " + events);
  EXPECT_EQ(event_lines(*trace), Lines{kLineBefore});
  EXPECT_EQ(problem_lines(trace->diagnostics), (Lines{"damaged_metadata 1 " + std::to_string((std::size_t{1} << 20) + 6)}));
}

TEST(DamagedMetadata, EventsInsideAnotherMember) {
  const std::string nested = R"({"info": {"id": 1, "traceEvents": [)" + kBefore + "]";
  const auto open = read_text(nested + "}");
  ASSERT_FALSE(open.has_value());
  EXPECT_EQ(open.error().code, ErrorCode::truncated);
  EXPECT_TRUE(says(open.error().message, {R"("info")", "byte 34"}));
  const auto whole = read_text(nested + "}}");
  ASSERT_FALSE(whole.has_value());
  EXPECT_EQ(whole.error().code, ErrorCode::not_a_trace);
  EXPECT_TRUE(says(whole.error().message, {R"("info")", "byte 34"}));
  // The file's own come behind it.
  EXPECT_EQ(event_lines(*read_ok(nested + R"(}, "traceEvents": [)" + kAfter + "]}")), Lines{kLineAfter});
}

}  // namespace
}  // namespace ridge::test
