// Damage met in the wild, one kind at a time: only the damaged event is lost or mended, and it is counted under its reason and
// place.
#include <gtest/gtest.h>

#include "unit/ingest/reading.h"

namespace ridge::test {
namespace {

struct Damaged {
  Lines events;    // without the sound ones around
  Lines problems;  // offsets relative to the damaged text's first byte
};

// Reads a sound event, the damaged text, a sound event; with commas between unless `comma` says otherwise.
Damaged read_damaged(const std::string& damaged, const std::string& comma = ", ") {
  const std::string text = trace_of(kBefore + comma + damaged + comma + kAfter);
  expect_all_ways_agree(text, small_file_ways());
  expect_all_ways_agree(text, {{1, 1 << 20, true}, {1, 20, true}, {1, 64, false}, {2, 90, true}});
  const auto trace = read_ok(text);
  const std::size_t start = kFirstEvent + kBefore.size() + comma.size();
  Damaged found{event_lines(*trace), {}};
  EXPECT_GE(found.events.size(), 2U) << damaged;
  if (found.events.size() < 2) return found;
  EXPECT_EQ(found.events.front(), kLineBefore) << damaged;
  EXPECT_EQ(found.events.back(), kLineAfter) << damaged;
  found.events.erase(found.events.begin());
  found.events.pop_back();
  for (std::size_t i = 0; i < kProblems; ++i) {
    const Diagnostics::Entry& entry = trace->diagnostics[static_cast<Problem>(i)];
    if (entry.count == 0) continue;
    std::string line(row_of(static_cast<Problem>(i)).code);
    for (const std::uint64_t offset : entry.offsets) line += ' ' + std::to_string(static_cast<std::int64_t>(offset - start));
    found.problems.push_back(line);
  }
  return found;
}

void expect_mended(const std::string& damaged, const std::string& line, const Lines& problems) {
  const Damaged found = read_damaged(damaged);
  EXPECT_EQ(found.events, Lines{line}) << damaged;
  EXPECT_EQ(found.problems, problems) << damaged;
}

void expect_lost(const std::string& damaged, const Lines& problems) {
  const Damaged found = read_damaged(damaged);
  EXPECT_EQ(found.events, Lines{}) << damaged;
  EXPECT_EQ(found.problems, problems) << damaged;
}

TEST(RepairNumbers, NotFinite) {
  for (const char* word : {"inf", "-inf", "nan", "-nan", "NaN", "Infinity", "-Infinity", "nan(ind)", "+inf", "INF"}) {
    expect_mended(R"({"ph":"C","name":"m","ts":1,"args":{"v":)" + std::string(word) + R"(,"w":2}})",
                  "C||m|-|-|1000|-|{v=null}{w=int:2}", {"non_finite_number 0"});
  }
  expect_mended(R"({"ph":"X","ts":1,"dur":nan})", "X|||-|-|1000|-|", {"non_finite_number 0", "missing_duration 0"});
  expect_lost(R"({"ph":"X","ts":inf,"dur":1})", {"no_timestamp 0"});
}

TEST(RepairNumbers, NotFiniteInsideAList) {
  expect_mended(R"({"ph":"X","ts":1,"dur":1,"args":{"l":[1, nan],"w":2}})", "X|||-|-|1000|1000|{l=text:[1, nan]}{w=int:2}",
                {"damaged_value 0"});
}

TEST(RepairNumbers, OddOnesStayText) {
  for (const char* word : {"01", "1.", ".5", "+1", "1e", "0x1F", "None", "1,5"}) {
    if (std::string_view(word) == "1,5") continue;  // a value and then no key: nothing to mend
    expect_mended(R"({"ph":"X","ts":1,"dur":1,"args":{"v":)" + std::string(word) + R"(,"w":2}})",
                  "X|||-|-|1000|1000|{v=text:" + std::string(word) + "}{w=int:2}", {"damaged_value 0"});
  }
  expect_lost(R"({"ph":"X","ts":1,"dur":1,"args":{"v":1,5,"w":2}})", {"unreadable_event 0"});
}

TEST(RepairTexts, ControlCharactersAndNewlines) {
  expect_mended("{\"ph\":\"X\",\"name\":\"two\nlines\x01\",\"ts\":1,\"dur\":1}", "X||two<0a>lines<01>|-|-|1000|1000|",
                {"control_character 0"});
  expect_mended(std::string("{\"ph\":\"X\",\"name\":\"nul\0in\",\"ts\":1,\"dur\":1}", 41), "X||nul<00>in|-|-|1000|1000|",
                {"control_character 0"});
}

TEST(RepairTexts, UnescapedQuotes) {
  expect_mended(R"({"ph":"X","name":"say "hi", you","ts":1,"dur":1})", R"(X||say "hi", you|-|-|1000|1000|)",
                {"unescaped_quote 0"});
  expect_mended(R"({"ph":"X","name":""","ts":1,"dur":1})", R"(X||"|-|-|1000|1000|)", {"unescaped_quote 0"});
  expect_mended(R"_({"ph":"X","name":"f("a")","ts":1,"dur":1,"args":{"k":"x"y"z"}})_",
                R"_(X||f("a")|-|-|1000|1000|{k=text:x"y"z})_", {"unescaped_quote 0"});
  expect_mended(R"({"ph":"X","ts":1,"dur":1,"name":"the "last""})", R"(X||the "last"|-|-|1000|1000|)", {"unescaped_quote 0"});
}

TEST(RepairTexts, QuoteInEveryEventOfAFile) {
  std::string events, separator;
  Lines expected;
  for (int i = 0; i < 200; ++i) {
    events += separator + R"({"ph":"X","name":"<built-in "f)" + std::to_string(i) + R"(">","ts":1,"dur":1})";
    separator = ",\n";
    expected.push_back("X||<built-in \"f" + std::to_string(i) + "\">|-|-|1000|1000|");
  }
  expect_all_ways_agree(trace_of(events), small_file_ways());
  EXPECT_EQ(event_lines(*read_ok(trace_of(events))), expected);
}

TEST(RepairTexts, WindowsPaths) {
  expect_mended(R"({"ph":"X","name":"C:\torch\nn\cuda","ts":1,"dur":1})", R"(X||C:\torch\nn\cuda|-|-|1000|1000|)",
                {"invalid_escape 0"});
  expect_mended(R"({"ph":"X","name":"C:\users\x","ts":1,"dur":1})", R"(X||C:\users\x|-|-|1000|1000|)", {"invalid_escape 0"});
  expect_mended(R"({"ph":"X","ts":1,"dur":1,"args":{"d":"C:\dir\","e":1}})", R"(X|||-|-|1000|1000|{d=text:C:\dir\}{e=int:1})",
                {"invalid_escape 0"});
}

TEST(RepairTexts, LoneSurrogates) {
  expect_mended(R"({"ph":"X","name":"a\ud800b","ts":1,"dur":1})", "X||a\uFFFDb|-|-|1000|1000|", {"lone_surrogate 0"});
  expect_mended(R"({"ph":"X","name":"a\udc00\ud800","ts":1,"dur":1})", "X||a\uFFFD\uFFFD|-|-|1000|1000|", {"lone_surrogate 0"});
}

TEST(RepairTexts, InvalidUtf8) {
  expect_mended("{\"ph\":\"X\",\"name\":\"a\xFF\xC0\xAF z\",\"ts\":1,\"dur\":1}", "X||a\uFFFD\uFFFD\uFFFD z|-|-|1000|1000|",
                {"invalid_utf8 0"});
  expect_mended("{\"ph\":\"X\",\"name\":\"cut \xE2\x82\",\"ts\":1,\"dur\":1}", "X||cut \uFFFD\uFFFD|-|-|1000|1000|",
                {"invalid_utf8 0"});
}

TEST(RepairTexts, SameDamageIsCountedEachTime) {
  const std::string bad = "{\"ph\":\"X\",\"name\":\"a\xFFz\",\"ts\":1,\"dur\":1}";
  const Damaged found = read_damaged(bad + ", " + bad + ", " + bad);
  EXPECT_EQ(found.events.size(), 3U);
  EXPECT_EQ(found.problems,
            Lines{"invalid_utf8 0 " + std::to_string(bad.size() + 2) + " " + std::to_string(2 * bad.size() + 4)});
}

TEST(RepairCommas, TrailingInsideAnEvent) {
  expect_mended(R"({"ph":"X","ts":1,"dur":1,})", "X|||-|-|1000|1000|", {"trailing_comma 0"});
  expect_mended(R"({"ph":"X","ts":1,"dur":1,"args":{"a":1,},})", "X|||-|-|1000|1000|{a=int:1}", {"trailing_comma 0"});
}

TEST(RepairCommas, TrailingBehindTheLastEvent) {
  const std::string text = trace_of(kBefore + ", " + kAfter + ",\n");
  const auto trace = read_ok(text);
  EXPECT_EQ(event_lines(*trace), (Lines{kLineBefore, kLineAfter}));
  EXPECT_EQ(problem_lines(trace->diagnostics), Lines{"trailing_comma 1 " + std::to_string(text.size() - 2)});
  expect_all_ways_agree(text, small_file_ways());
}

TEST(RepairCommas, MissingInsideAnEvent) {
  expect_mended(R"({"ph":"X" "ts":1 "dur":1})", "X|||-|-|1000|1000|", {"missing_comma 0"});
  expect_mended(R"({"ph":"X","ts":1,"dur":1,"args":{"a":1 "b":2}})", "X|||-|-|1000|1000|{a=int:1}{b=int:2}",
                {"missing_comma 0"});
}

TEST(RepairCommas, MissingBetweenEvents) {
  const Damaged found = read_damaged(plain_event("x", 5), "\n");
  EXPECT_EQ(found.events, Lines{"X|cpu_op|x|1|2|5000|1000|"});
  EXPECT_EQ(found.problems, (Lines{"missing_comma 0 " + std::to_string(plain_event("x", 5).size() + 1)}));
}

TEST(RepairBrackets, ArrayNotClosedBeforeTheObjectEnds) {
  const std::string text = R"({"schemaVersion": 1, "traceEvents": [)" + kBefore + ", " + kAfter + "\n}";
  const auto trace = read_ok(text);
  EXPECT_EQ(event_lines(*trace), (Lines{kLineBefore, kLineAfter}));
  EXPECT_EQ(problem_lines(trace->diagnostics), Lines{"missing_bracket 1 " + std::to_string(text.size() - 1)});
  expect_all_ways_agree(text, small_file_ways());
}

TEST(RepairBrackets, ArrayNotClosedBeforeTheNextKey) {
  const std::string head = R"({"traceEvents": [)" + kBefore + ", " + kAfter + ",\n";
  const std::string text =
      head + R"("traceName": "x.json", "deviceProperties": [{"id": 0, "name": "G"}, {"id": 1, "name": "G"}]})";
  const auto trace = read_ok(text);
  EXPECT_EQ(event_lines(*trace), (Lines{kLineBefore, kLineAfter}));
  EXPECT_EQ(problem_lines(trace->diagnostics), Lines{"missing_bracket 1 " + std::to_string(head.size())});
  EXPECT_EQ(trace->metadata.trace_name, "x.json");
  EXPECT_EQ(trace->metadata.devices.size(), 2U);
  expect_all_ways_agree(text, small_file_ways());
}

TEST(RepairBrackets, ListInsideArgsNotClosed) {
  expect_mended(R"({"ph":"X","ts":1,"dur":1,"args":{"a":[1,2,"b":3}})", R"(X|||-|-|1000|1000|{a=text:[1,2,"b":3<7d>})",
                {"missing_brace 0", "damaged_value 0"});
  expect_mended(R"({"ph":"X","ts":1,"dur":1,"args":{"a":[[1,2],[3,4],"b":3}})",
                R"(X|||-|-|1000|1000|{a=text:[[1,2],[3,4],"b":3<7d>})", {"missing_brace 0", "damaged_value 0"});
}

TEST(RepairBrackets, QuoteInsideAListMissing) {
  expect_lost(R"({"ph":"X","ts":1,"dur":1,"args":{"a":["x, "y"],"b":3}})", {"unreadable_event 0"});
}

// Two events with one quote missing each: the quotes pair up across everything between them.
TEST(RepairBrackets, TwoListsThatSwallowWhatIsBetween) {
  const std::string bad = R"({"ph":"X","ts":1,"dur":1,"args":{"a":["x, "y"],"b":3}})";
  const Damaged found = read_damaged(bad + ", " + plain_event("m", 4) + ", " + bad);
  EXPECT_EQ(found.events, Lines{"X|cpu_op|m|1|2|4000|1000|"});
  EXPECT_EQ(found.problems, Lines{"unreadable_event 0 " + std::to_string(bad.size() + plain_event("m", 4).size() + 4)});
}

TEST(RepairBrackets, BraceMissingAtTheEndOfAnEvent) {
  expect_mended(R"({"ph":"X","ts":1,"dur":1,"args":{"a":1})", "X|||-|-|1000|1000|{a=int:1}", {"missing_brace 0"});
}

TEST(RepairBrackets, StrayOnesBetweenEvents) {
  for (const char* stray : {"}", "]", "}}", "}]", "]]"}) {
    const std::string text = trace_of(kBefore + stray + ", " + plain_event("x", 5) + ", " + kAfter);
    const auto trace = read_ok(text);
    EXPECT_EQ(trace->events.size(), 3U) << stray;
    EXPECT_EQ(problem_lines(trace->diagnostics),
              Lines{"garbage_between_events 1 " + std::to_string(kFirstEvent + kBefore.size())})
        << stray;
    expect_all_ways_agree(text, small_file_ways());
  }
}

// Damage beside damage: neither hides the other, nor what is behind them.
TEST(RepairBrackets, StrayOnesBeforeADamagedEvent) {
  const std::string damaged = R"({"ph":"X","cat":"cpu_op","name":"x","pid":1,"tid":2,"ts":5,"dur":1,"args":{"a":inf}})";
  const std::string text = trace_of(kBefore + "], " + damaged + ", " + kAfter);
  const auto trace = read_ok(text);
  EXPECT_EQ(trace->events.size(), 3U);
  const std::size_t at = kFirstEvent + kBefore.size();
  EXPECT_EQ(problem_lines(trace->diagnostics),
            (Lines{"garbage_between_events 1 " + std::to_string(at), "non_finite_number 1 " + std::to_string(at + 3)}));
  expect_all_ways_agree(text, small_file_ways());
}

TEST(RepairGarbage, BeforeADamagedEvent) {
  const Damaged found = read_damaged(R"(xx, {"ph":"X","name":"x","ts":1,"dur":1,"args":{"a":inf}})");
  EXPECT_EQ(found.events, Lines{"X||x|-|-|1000|1000|{a=null}"});
  EXPECT_EQ(found.problems, (Lines{"garbage_between_events 0", "non_finite_number 4"}));
}

TEST(RepairGarbage, CommasWithNothingBetween) {
  const Damaged found = read_damaged(", " + plain_event("m", 4));
  EXPECT_EQ(found.events, Lines{"X|cpu_op|m|1|2|4000|1000|"});
  EXPECT_EQ(found.problems, Lines{"trailing_comma 0"});
}

// An event that ends too early leaves its other members behind.
TEST(RepairBrackets, EventClosedTooEarly) {
  const Damaged found = read_damaged(R"({"ph":"X","name":"x","ts":1}, "dur":1, "args":{"a":1}})");
  EXPECT_EQ(found.events, Lines{"X||x|-|-|1000|-|"});
  EXPECT_EQ(found.problems, (Lines{"garbage_between_events 30", "missing_duration 0"}));
}

TEST(RepairGarbage, BetweenEvents) {
  expect_lost("@@@@", {"garbage_between_events 0"});
  expect_lost("\"", {"garbage_between_events 0"});
  expect_lost("[", {"garbage_between_events 0"});
  expect_lost(std::string(100, '\0'), {"garbage_between_events 0"});
  expect_lost("x = {1: 2}", {"garbage_between_events 0"});
}

TEST(RepairGarbage, OtherElements) {
  expect_lost("5", {"not_an_object 0"});
  expect_lost("null, \"text\", [1, [2]], -1.5e3, true", {"not_an_object 0 6 14 24 32"});
}

// A list is no event, whatever it holds.
TEST(RepairGarbage, ListsOfEvents) {
  expect_lost("[" + plain_event("inner", 5) + "], [1]",
              {"not_an_object 0 " + std::to_string(plain_event("inner", 5).size() + 4)});
}

// But a stray bracket is closed by the one that closes the events.
TEST(RepairGarbage, ABracketBeforeTheLastEvents) {
  const std::string events = kBefore + ", [" + plain_event("x", 5) + ", " + kAfter;
  for (const std::string& text : {"[" + events + "]", "[" + events, "{\"traceEvents\": [" + events + "]}",
                                  "{\"traceEvents\": [" + events + "], \"schemaVersion\": 1}"}) {
    EXPECT_EQ(event_lines(*read_ok(text)), (Lines{kLineBefore, "X|cpu_op|x|1|2|5000|1000|", kLineAfter})) << text;
    expect_all_ways_agree(text, small_file_ways());
  }
}

// A bracket that belongs to a damaged event does not end the others.
TEST(RepairBrackets, ArrayClosedTooEarly) {
  const Damaged key = read_damaged(R"({"ph":"X","name":"x","ts":1,"dur":1}]"args":{"a":1}})");
  EXPECT_EQ(key.events, Lines{"X||x|-|-|1000|1000|"});
  EXPECT_EQ(key.problems, Lines{"garbage_between_events 36"});
  const Damaged commas = read_damaged(R"({"ph":"X","name":"x","ts":1,"dur":1}],)");
  EXPECT_EQ(commas.events, Lines{"X||x|-|-|1000|1000|"});
  EXPECT_EQ(commas.problems, Lines{"garbage_between_events 36"});
}

// What is left of an event whose front is lost: its brackets and braces close more than is open, so the array goes on.
TEST(RepairBrackets, TheTailOfAnEventDoesNotCloseTheArray) {
  for (const char* tail : {R"("Scalar"],"Ev Idx":2}})", R"(]}})",
                           R"(2]], "Input type": ["float"], "n": {"m": []}, "s": "]}"}})", "],\n \"x\": 1\n }\n }"}) {
    const Damaged found = read_damaged(tail);
    EXPECT_EQ(found.events, Lines{}) << tail;
    EXPECT_FALSE(found.problems.empty()) << tail;
  }
  for (const char* damaged :
       {R"({"ph":"X","name":"a","pid":4]00,"ts":1,"dur":5})", R"({"ph":"X","name":"a","pid":4],"ts":1,"dur":5})", "]7"}) {
    EXPECT_LE(read_damaged(damaged).events.size(), 1U) << damaged;
  }
  // At the front of the array.
  const std::string text = trace_of(R"("Scalar"],"Ev Idx":2}}, )" + kAfter + ", " + kAfter);
  expect_all_ways_agree(text, small_file_ways());
  EXPECT_EQ(event_lines(*read_ok(text)), (Lines{kLineAfter, kLineAfter}));
  // A quote lost before a list of objects.
  const Damaged list = read_damaged(R"({"ph":"X","name":"a","pid 1,"ts":1,"dur":5,"args":{"x":[{"b":"t"}],"y":1}})");
  EXPECT_LE(list.events.size(), 1U);
  EXPECT_FALSE(list.problems.empty());
}

TEST(RepairBrackets, MembersBehindTheArrayCloseIt) {
  for (const char* rest : {R"(], "a": [{"ph":"X","ts":1,"dur":1}], "b": {"c": "}}"}})", "]}", "] \n}\n", R"(], "a": 1})",
                           R"(], "traceEvents": [{"ph":"X","ts":1,"dur":1}]})"}) {
    const std::string text = R"({"traceEvents": [)" + kBefore + rest;
    expect_all_ways_agree(text, small_file_ways());
    EXPECT_EQ(event_lines(*read_ok(text)), Lines{kLineBefore}) << rest;
  }
}

TEST(RepairBrackets, BraceMissingAtTheEndOfTheLastEvent) {
  for (const char* last : {R"({"ph":"X","ts":1,"dur":1,"args":{"a":1})", R"({"ph":"X","ts":1,"dur":1,"args":{"a":1)"}) {
    const std::string text = R"({"traceEvents": [)" + kBefore + ", " + last + R"(], "baseTimeNanoseconds": 12})";
    expect_all_ways_agree(text, small_file_ways());
    const auto trace = read_ok(text);
    EXPECT_EQ(event_lines(*trace), (Lines{kLineBefore, "X|||-|-|1000|1000|{a=int:1}"})) << last;
    EXPECT_EQ(problem_lines(trace->diagnostics), Lines{"missing_brace 1 " + std::to_string(kFirstEvent + kBefore.size() + 2)})
        << last;
    EXPECT_EQ(trace->metadata.base_time_ns, 12) << last;
  }
}

TEST(RepairTexts, UnescapedQuotesBeforeABrace) {
  expect_mended(R"_({"ph":"X","name":"f({"k": "v"})","ts":1,"dur":1})_", R"_(X||f({"k": "v"<7d>)|-|-|1000|1000|)_",
                {"unescaped_quote 0"});
  expect_mended(R"({"ph":"X","name":"dict{'a':"b"}","ts":1,"dur":1})", R"(X||dict{'a':"b"<7d>|-|-|1000|1000|)",
                {"unescaped_quote 0"});
}

TEST(RepairCommas, OneTooMany) {
  for (const char* text : {R"({"ph":"X",,"name":"x","ts":1,"dur":1})", R"({"ph":"X","name":"x","ts":1,,"dur":1})",
                           R"({,"ph":"X","name":"x","ts":1,"dur":1})", R"({"ph":"X","name":"x",,,"ts":1,"dur":1})"}) {
    expect_mended(text, "X||x|-|-|1000|1000|", {"trailing_comma 0"});
  }
  expect_mended(R"({"ph":"X","ts":1,"dur":1,"args":{,"a":1}})", "X|||-|-|1000|1000|{a=int:1}", {"trailing_comma 0"});
}

TEST(RepairQuotes, AKeyThatSwallowsTheNextIsCounted) {
  const Damaged found = read_damaged(R"({"ph":"X","ts":1,"dur":1,"args":{"device"0, "stream": 7}})");
  EXPECT_EQ(found.events.size(), 1U);
  EXPECT_EQ(found.problems, Lines{"unescaped_quote 0"});
}

TEST(RepairDuplicates, TheLastTimeCountsWhateverItIs) {
  expect_mended(R"({"ph":"X","ts":1e30,"ts":5,"dur":1})", "X|||-|-|5000|1000|", {"duplicate_key 0"});
  expect_mended(R"({"ph":"X","ts":5,"dur":-3,"dur":5})", "X|||-|-|5000|5000|", {"duplicate_key 0"});
  expect_mended(R"({"ph":"X","ts":5,"dur":7,"dur":null})", "X|||-|-|5000|-|", {"duplicate_key 0", "missing_duration 0"});
  expect_lost(R"({"ph":"X","ts":5,"ts":null,"dur":1})", {"no_timestamp 0"});
}

TEST(RepairNumbers, ANameNeedsNoTime) {
  expect_mended(R"({"ph":"M","name":"process_name","ts":1e30,"args":{"name":"p"}})", "M||process_name|-|-|-|-|{name=text:p}",
                {});
}

TEST(RepairGarbage, BehindTheEnd) {
  for (const std::string& body : {trace_of(kBefore), "[" + kBefore + "]"}) {
    const auto trace = read_ok(body + "\n  garbage {\"ph\": \"X\"}");
    EXPECT_EQ(event_lines(*trace), Lines{kLineBefore});
    EXPECT_EQ(problem_lines(trace->diagnostics), Lines{"trailing_garbage 1 " + std::to_string(body.size() + 3)});
    expect_all_ways_agree(body + "\n  garbage {\"ph\": \"X\"}", small_file_ways());
  }
}

// A writer died, another went on: an event cut at any byte and an intact one right behind it.
TEST(RepairTorn, IntactEventSurvives) {
  const std::string torn =
      R"({"ph": "X", "cat": "cpu_op", "name": "torn", "pid": 1, "tid": 2, "ts": 3, "dur": 1, "args": {"a": [1, "b"], "c": "d"}})";
  for (std::size_t cut = 1; cut < torn.size(); ++cut) {
    for (const std::string comma : {"", ", "}) {
      const std::string events = kBefore + ", " + torn.substr(0, cut) + comma + plain_event("x", 5) + ", " + kAfter;
      for (const std::string& text : {trace_of(events), "[" + events + "]", "[" + events + "\n]\n"}) {
        const Lines lines = event_lines(*read_ok(text));
        ASSERT_GE(lines.size(), 3U) << text;
        EXPECT_EQ(lines[0], kLineBefore) << text;
        EXPECT_EQ(lines[lines.size() - 2], "X|cpu_op|x|1|2|5000|1000|") << text;
        EXPECT_EQ(lines.back(), kLineAfter) << text;
        expect_all_ways_agree(text, {{1, 1 << 20, false}, {1, 50, true}, {1, 130, false}});
      }
    }
  }
}

// Torn within a list, and the file is cut as well: the many events behind are no list of the torn one's.
TEST(RepairTorn, InACutFile) {
  std::string text = "{\"traceEvents\": [" + kBefore + R"(, {"ph": "X", "name": "torn", "ts": 3, "args": {"dims": [[2, 3], )";
  for (int i = 0; i < 40; ++i) text += plain_event("x", 5 + i) + ", ";
  for (const std::string_view tail : {"", R"({"ph": "X", "na)"}) {
    const std::string cut = text + std::string(tail);
    EXPECT_EQ(read_ok(cut)->events.size(), 41U);
    expect_all_ways_agree(cut, {{1, 1 << 20, false}, {1, 50, true}, {1, 130, false}});
  }
}

TEST(RepairTorn, LastEventOfOneWriterThenAnother) {
  expect_lost(R"({"ph": "X", "cat": "cpu_op", "name": "to)", {"unreadable_event 0"});
}

}  // namespace
}  // namespace ridge::test
