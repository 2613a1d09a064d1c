// The fast reader against a plain one, column by column and argument by argument, on every trace there is; and against itself
// in every way of reading that must not matter.
#include <filesystem>
#include <random>

#include <gtest/gtest.h>

#include "differential/plain_reader.h"
#include "support/files.h"
#include "support/sample.h"
#include "support/trace_lines.h"

namespace ridge::test {
namespace {

constexpr std::size_t kSmall = 400'000;

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param.substr(info.param.rfind('/') + 1);
  name = name.substr(0, name.find(".json"));
  std::replace_if(name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name + "_" + std::to_string(info.index);
}

void expect_equal_lines(const Lines& expected, const Trace& trace, const std::string& how) {
  ASSERT_EQ(expected.size(), trace.events.size()) << how;
  for (std::uint32_t i = 0; i < trace.events.size(); ++i) {
    ASSERT_EQ(expected[i], event_line(trace, EventId{i})) << how << ", event " << i;
  }
}

// Under sanitizers those of up to 3 MB or so of JSON, and a sample of the ones beside the repository.
std::vector<std::string> readable(std::vector<std::string> paths) {
  if (!kSanitized || runs_all()) return paths;
  std::erase_if(paths, [](const std::string& path) { return std::filesystem::file_size(path) > std::size_t{250} << 10; });
  return sample(paths, 30);
}

class EveryTrace : public testing::TestWithParam<std::string> {};

TEST_P(EveryTrace, EqualsPlainReader) {
  const std::string json = json_of(GetParam());
  const Lines expected = plain_lines(json);
  ASSERT_FALSE(expected.empty());
  for (const Way& way : json.size() <= kSmall ? small_file_ways() : large_file_ways()) {
    const auto trace = read_ok(json, way);
    expect_equal_lines(expected, *trace, name_of(way));
    EXPECT_EQ(trace->elements, expected.size());
    EXPECT_EQ(trace->diagnostics.dropped_events(), 0U);
    EXPECT_EQ(trace->diagnostics[Problem::truncated_json].count, 0U);
    if (HasFatalFailure()) return;
  }
  const auto packed = read_ok(contents(GetParam()), {.threads = 2});
  expect_equal_lines(expected, *packed, "as it lies in the file");
}

INSTANTIATE_TEST_SUITE_P(Own, EveryTrace, testing::ValuesIn(readable(own_traces())), test_name);
INSTANTIATE_TEST_SUITE_P(Shared, EveryTrace, testing::ValuesIn(readable(shared_traces())), test_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EveryTrace);

// Where the folder is absent its suite is empty: say so instead of passing in silence.
TEST(SharedTraces, Present) {
  if (shared_traces().empty()) GTEST_SKIP() << "no ../shared/traces beside the repository";
  EXPECT_GE(shared_traces().size(), 60U);
}

// How a rewriter may lay out the same events.
struct Style {
  std::string_view name;
  std::string_view open, close;            // around the members of an event
  std::string_view comma, colon, between;  // between members, key and value, events
  bool compact_values, shuffle;
};

constexpr Style kStyles[] = {
    {"one line", "{", "}", ", ", ": ", ", ", false, false},
    {"no blanks", "{", "}", ",", ":", ",", true, false},
    {"indent 2", "{\n      ", "\n    }", ",\n      ", ": ", ",\n    ", false, false},
    {"indent 4", "{\n            ", "\n        }", ",\n            ", ": ", ",\n        ", false, false},
    {"one key per line, lone commas", "{\n", "\n}", "\n,\n", ": ", "\n,\n", false, false},
    {"tabs and carriage returns", "{\r\n\t", "\r\n}", ",\r\n\t", "\t:\t", ",\r\n", false, false},
    {"shuffled keys, one line", "{", "}", ", ", ": ", ", ", false, true},
    {"shuffled keys, indent 2", "{\n      ", "\n    }", ",\n      ", ": ", ",\n    ", true, true},
};

std::string lay_out(std::vector<PlainEvent> events, const Style& style) {
  std::mt19937 random(7);
  std::string json = "{\"traceEvents\":[";
  for (std::size_t i = 0; i < events.size(); ++i) {
    PlainEvent& event = events[i];
    if (style.shuffle) std::shuffle(event.begin(), event.end(), random);
    if (i != 0) json += style.between;
    json += style.open;
    for (std::size_t m = 0; m < event.size(); ++m) {
      if (m != 0) json += style.comma;
      json += '"' + event[m].key + '"';
      json += style.colon;
      json += style.compact_values ? plain::compact(event[m].raw) : event[m].raw;
    }
    json += style.close;
  }
  return json + "], \"displayTimeUnit\": \"ms\"}";
}

class EveryLayout : public testing::TestWithParam<std::string> {};

TEST_P(EveryLayout, EqualsPlainReader) {
  const std::vector<PlainEvent> events = plain_events(fixture(GetParam()));
  for (const Style& style : kStyles) {
    const std::string json = lay_out(events, style);
    const Lines expected = plain_lines(json);
    ASSERT_EQ(expected.size(), events.size());
    for (const Way& way : small_file_ways()) {
      const auto trace = read_ok(json, way);
      expect_equal_lines(expected, *trace, std::string(style.name) + ", " + name_of(way));
      EXPECT_TRUE(problem_lines(trace->diagnostics).empty() || trace->diagnostics.dropped_events() == 0);
      if (HasFatalFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Fixtures, EveryLayout,
                         testing::Values("clean_tf32", "graph_breaks_inference", "flex_attention_compiled",
                                         "cpu_activity_only"),
                         test_name);

}  // namespace
}  // namespace ridge::test
