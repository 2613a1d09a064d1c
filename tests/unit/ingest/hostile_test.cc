// Input made to hurt: depth, size, bombs, and patterns on which a careless reader takes quadratic time. Time is not measured:
// the bytes that the reader's searches pass over are counted, in builds that count them (base/work_count.h).
#include <gtest/gtest.h>

#include "base/work_count.h"
#include "support/files.h"
#include "support/trace_lines.h"

namespace ridge::test {
namespace {

std::string repeat(std::string_view piece, std::size_t bytes) {
  std::string out;
  out.reserve(bytes + piece.size());
  while (out.size() < bytes) out += piece;
  return out;
}

struct Pattern {
  const char* name;
  std::string_view before;  // behind the bracket of the events
  std::string_view piece;   // again and again
};

using namespace std::string_view_literals;

constexpr Pattern kPatterns[] = {
    {"Braces", "", "{"},
    {"ClosingBraces", "", "}"},
    {"Brackets", "", "["},
    {"ClosingBrackets", "", "]"},
    {"BracketsBeforeEvents", "", R"([{"ph":"X","ts":1,"dur":1},)"},
    {"OpenListsBeforeEvents", "", R"(["x",{"ph":"X","ts":1,"dur":1},)"},
    {"BracketsBehindEvents", "", R"({"ph":"X","ts":1,"dur":1}],,)"},
    {"ListsOfEventsNotClosed", "", R"({"ph":"X","ts":1,"args":{"a":[{"ph":"i","ts":1},)"},
    {"Quotes", "", "\""},
    {"BraceAndQuotes", "{", "\""},
    {"Backslashes", R"({"ph": "X", "name": ")", "\\"},
    {"EscapedQuotes", R"({"ph": "X", "name": ")", "\\\""},
    {"Commas", "", ","},
    {"Blanks", R"({"ph": "X", )", " "},
    {"BlanksAndBraces", "", "   {   "},
    {"BlanksAndQuotes", R"({"ph": "X", "name": ")", "   \"   "},
    {"Nuls", "", "\0"sv},
    {"NulsInEvent", R"({"ph": "X", "name": ")", "\0"sv},
    {"Letters", "", "x"},
    {"OpenPhase", "", R"({"ph":)"},
    {"OpenPhaseText", "", R"({"ph":"X",)"},
    {"OpenPhaseLists", "", R"({"ph":[)"},
    {"OpenPhaseWords", "", R"({"ph":x)"},
    {"OpenList", R"({"ph": "X", "args": {"a": [)", "1,"},
    {"OpenListOfTexts", R"({"ph": "X", "args": {"a": [)", "\"b\","},
    {"OpenText", R"({"ph": "X", "name": ")", "abc "},
    {"Starts", "", R"(},{"ph")"},
    {"StartsInText", R"({"ph": "X", "name": ")", R"(},{"a)"},
    {"StartsOfLists", "", R"({"ph":[[},)"},
    {"StartsOfOpenLists", "", R"({"ph":[{"b":1},)"},
    {"EventsWithoutComma", "", R"({"ph":"X","ts":1,"dur":1})"},
    {"EventsWithGarbage", "", R"(x{"ph":"X","ts":1,"dur":1})"},
    {"DamagedEventsWithoutComma", "", R"({"ph":"X","ts":1,"dur":1,} )"},
    {"DamagedEvents", "", R"({"ph":"X","ts":1,"dur":1,},)"},
    {"HopelessEvents", "", R"({"ph":"X","ts":1,"dur":1,"args":{"a":["b]}},)"},
    {"HopelessBetweenIntact", "", R"({"ph":"X","ts":1},{"ph":[[,)"},
    {"Keys", "", R"("a":1,)"},
    {"KeysInEvent", "{", R"("a":1,)"},
    {"UnclosedKeysInEvent", "{", R"("a:1,)"},
    {"TornEvents", "", R"({"ph":"X","ts":1,"name":"a)"},
    {"NestedEvents", "", R"({"ph":"X","ts":1,"args":{"a":)"},
    {"Numbers", "", "1,"},
    {"LongNumber", R"({"ph":"X","ts":)", "1"},
    {"UnescapedQuotes", R"({"ph": "X", "name": "a)", R"(",b)"},
    {"UnescapedKeys", R"({"ph": "X", "name": "a)", R"(","b)"},
};

class Quadratic : public testing::TestWithParam<Pattern> {};

// Bytes visited in reading so much of a pattern behind an event, which must be found.
std::uint64_t visited_in(const Pattern& pattern, std::size_t bytes, bool ends) {
  const std::string text = R"({"traceEvents": [)" + plain_event("first", 1) + ", " + std::string(pattern.before) +
                           repeat(pattern.piece, bytes) + (ends ? ", " + plain_event("last", 2) + "]}" : "");
  const std::uint64_t before = work_count;
  const auto trace = read_ok(text, {.window_bytes = std::size_t{16} << 10});
  const std::uint64_t visited = work_count - before;
  EXPECT_GE(trace->events.size(), 1U);
  if (trace->events.size() > 0) {
    EXPECT_EQ(trace->text(trace->events.name(EventId{0U})), "first");
  }
  return visited;
}

// Four times the text is four times the work; quadratic work would be sixteen times.
TEST_P(Quadratic, IsNot) {
  for (const bool ends : {false, true}) {
    const std::uint64_t small = visited_in(GetParam(), std::size_t{64} << 10, ends);
    if constexpr (kCountsWork) {
      EXPECT_GT(small, 1000U) << "nothing was counted";
      EXPECT_LT(visited_in(GetParam(), std::size_t{256} << 10, ends), 6 * small) << (ends ? "ends" : "is cut");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Patterns, Quadratic, testing::ValuesIn(kPatterns),
                         [](const auto& p) { return std::string(p.param.name); });

TEST(Hostile, DeepNestingInArgs) {
  constexpr std::size_t kDepth = 1'000'000;
  const std::string deep = std::string(kDepth, '[') + std::string(kDepth, ']');
  const auto trace = read_ok(trace_of(plain_event("a", 1) + R"(,{"ph":"X","name":"deep","ts":2,"dur":1,"args":{"d":)" + deep +
                                      R"(,"e":5}},)" + plain_event("b", 3)));
  ASSERT_EQ(trace->events.size(), 3U);
  EXPECT_EQ(problem_lines(trace->diagnostics), Lines{});
  EXPECT_EQ(find_arg(*trace, EventId{1U}, "d")->text.size(), deep.size());
  EXPECT_EQ(find_arg(*trace, EventId{1U}, "e")->integer, 5);
}

TEST(Hostile, DeepNestingThatIsNotClosed) {
  for (const std::string_view piece : {"[", "{\"a\":", "[{\"a\":"}) {
    const auto trace = read_ok(trace_of(plain_event("a", 1) + R"(,{"ph":"X","ts":2,"dur":1,"args":{"d":)" +
                                        repeat(piece, 1'000'000) + "}}," + plain_event("b", 3)));
    ASSERT_EQ(trace->events.size(), 2U) << piece;
    EXPECT_EQ(trace->diagnostics[Problem::unreadable_event].count, 1U) << piece;
  }
}

TEST(Hostile, DeepNestingAroundTheEvents) {
  const std::string deep = std::string(1'000'000, '[') + std::string(1'000'000, ']');
  const auto trace = read_ok(R"({"x": )" + deep + R"(, "traceEvents": [)" + plain_event("a", 1) + R"(], "schemaVersion": 1})");
  EXPECT_EQ(trace->events.size(), 1U);
  EXPECT_EQ(trace->metadata.schema_version, 1);
  EXPECT_EQ(trace->diagnostics[Problem::damaged_metadata].count, 1U);  // deeper than anyone reads
  EXPECT_FALSE(read_text(std::string(1'000'000, '[')).has_value());    // an array of something, cut
  EXPECT_FALSE(read_text(repeat("{\"a\":", 1'000'000)).has_value());
}

TEST(Hostile, NameOfMegabytes) {
  const std::string name(std::size_t{5} << 20, 'n');
  for (const Way& way : {Way{1, 1 << 20, true}, Way{2, 4096, true}}) {
    const auto trace = read_ok(trace_of(plain_event("a", 1) + "," + plain_event(name, 2) + "," + plain_event("b", 3)), way);
    ASSERT_EQ(trace->events.size(), 3U);
    EXPECT_EQ(trace->text(trace->events.name(EventId{1U})), name);
    EXPECT_EQ(problem_lines(trace->diagnostics), Lines{});
  }
}

TEST(Hostile, EventOverTheLimit) {
  const std::string before = plain_event("a", 1), after = plain_event("b", 3);
  for (const std::size_t mebibytes : {65U, 100U}) {
    const std::string text = trace_of(before + "," + plain_event(std::string(mebibytes << 20, 'n'), 2) + "," + after);
    for (const Way& way : {Way{1, 1 << 20, true}, Way{2, 3 << 20, true}, Way{1, std::size_t{200} << 20, false}}) {
      const auto trace = read_ok(text, way);
      ASSERT_EQ(trace->events.size(), 2U) << name_of(way);
      EXPECT_EQ(trace->text(trace->events.name(EventId{1U})), "b");
      EXPECT_EQ(problem_lines(trace->diagnostics), Lines{"event_too_large 1 " + std::to_string(17 + before.size() + 1)})
          << name_of(way);
      EXPECT_EQ(trace->elements, 3U);
    }
  }
}

TEST(Hostile, EventJustBelowTheLimit) {
  const std::string name(std::size_t{63} << 20, 'n');
  const auto trace =
      read_ok(trace_of(plain_event("a", 1) + "," + plain_event(name, 2) + "," + plain_event("b", 3)), {.threads = 2});
  ASSERT_EQ(trace->events.size(), 3U);
  EXPECT_EQ(trace->text(trace->events.name(EventId{1U})).size(), name.size());
}

// A list of thousands of objects, each of which looks like the start of an event, is still one event.
TEST(Hostile, LongListOfObjects) {
  std::string list = R"({"file":"a","line":0})";
  for (int i = 1; i < 20'000; ++i) list += R"(,{"name":"f","line":)" + std::to_string(i) + "}";
  const std::string text = trace_of(plain_event("a", 1) + R"(,{"ph":"X","name":"l","ts":2,"dur":1,"args":{"stack":[)" + list +
                                    "]}}," + plain_event("b", 3));
  for (const Way& way : {Way{1, 1 << 20, true}, Way{2, 4096, true}, Way{1, 50'000, false}}) {
    const auto trace = read_ok(text, way);
    ASSERT_EQ(trace->events.size(), 3U) << name_of(way);
    EXPECT_EQ(find_arg(*trace, EventId{1U}, "stack")->text.size(), list.size() + 2);
    EXPECT_EQ(problem_lines(trace->diagnostics), Lines{});
  }
}

// The same where they are whole events: valid JSON is never taken for damage.
TEST(Hostile, ListOfEventsInAnEvent) {
  for (const int count : {17, 40, 200, 5'000}) {
    std::string list = plain_event("inner", 0);
    for (int i = 1; i < count; ++i) list += ", " + plain_event("inner", i);
    const std::string text = trace_of(plain_event("a", 1) + R"(,{"ph":"X","name":"l","ts":2,"dur":1,"args":{"l":[)" + list +
                                      "]}}," + plain_event("b", 3));
    for (const Way& way : {Way{1, 1 << 20, true}, Way{2, 4096, true}, Way{1, 50'000, false}}) {
      const auto trace = read_ok(text, way);
      EXPECT_EQ(trace->events.size(), 3U) << count << " in " << name_of(way);
      EXPECT_EQ(problem_lines(trace->diagnostics), Lines{}) << count << " in " << name_of(way);
    }
  }
}

TEST(Hostile, ManyMetadataKeys) {
  const std::string keys = repeat("\"a\":1,", std::size_t{1} << 20);
  const auto trace = read_ok("{" + keys + R"("traceEvents": [)" + plain_event("a", 1) + "]}");
  EXPECT_EQ(trace->events.size(), 1U);
}

TEST(Hostile, MetadataOfManyMegabytesIsNotKept) {
  std::string text = "{";
  for (int i = 0; i < 12; ++i) text += "\"k" + std::to_string(i) + "\": \"" + std::string(std::size_t{10} << 20, 'x') + "\", ";
  text += R"("traceEvents": [)" + plain_event("a", 1) + "]}";
  const auto trace = read_ok(text);
  EXPECT_EQ(trace->events.size(), 1U);
  std::size_t kept = 0;
  for (const auto& [key, value] : trace->metadata.items) kept += value.size();
  EXPECT_LE(kept, std::size_t{64} << 20);
  EXPECT_EQ(trace->diagnostics[Problem::damaged_metadata].count, 1U);
}

TEST(Hostile, ManyShapesTracksAndTexts) {
  std::string events;
  for (int i = 0; i < 20'000; ++i) {
    const std::string n = std::to_string(i);
    events += std::string(i == 0 ? "" : ",") + R"({"ph":"X","cat":"c)" + n + R"(","name":"n)" + n + R"(","pid":)" + n +
              R"(,"tid":"t)" + n + R"(","ts":)" + n + R"(,"dur":1,"args":{"k)" + n + R"(":"v)" + n + R"("}})";
  }
  const auto trace = read_ok(trace_of(events), {.threads = 2, .window_bytes = 1 << 16});
  ASSERT_EQ(trace->events.size(), 20'000U);
  EXPECT_EQ(event_line(*trace, EventId{12'345U}), "X|c12345|n12345|12345|'t12345|12345000|1000|{k12345=text:v12345}");
}

TEST(Hostile, ManyArgumentsInOneEvent) {
  std::string args;
  for (int i = 0; i < 50'000; ++i) args += std::string(i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":" + std::to_string(i);
  const auto trace = read_ok(trace_of(R"({"ph":"X","ts":1,"dur":1,"args":{)" + args + "}}"));
  ASSERT_EQ(trace->events.size(), 1U);
  EXPECT_EQ(find_arg(*trace, EventId{0U}, "49999")->integer, 49999);
}

}  // namespace
}  // namespace ridge::test
