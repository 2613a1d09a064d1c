// Everything valid, or nearly, that a user may hand over: phases, tracks, names, the order of things, and what stands around
// the events. Expectations are written by hand.
#include <gtest/gtest.h>

#include "unit/ingest/reading.h"

namespace ridge::test {
namespace {

TEST(InputPhases, EachIsKept) {
  EXPECT_EQ(one_line(R"({"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":2,"ts":3,"dur":4})"), "X|cpu_op|a|1|2|3000|4000|");
  EXPECT_EQ(one_line(R"({"ph":"i","name":"a","pid":1,"tid":2,"ts":3,"s":"t"})"), "i||a|1|2|3000|-|{.s=text:t}");
  EXPECT_EQ(one_line(R"({"ph":"M","name":"process_name","pid":1,"tid":0,"args":{"name":"python"}})"),
            "M||process_name|1|0|-|-|{name=text:python}");
  EXPECT_EQ(one_line(R"({"ph":"s","id":7,"pid":1,"tid":2,"ts":3,"cat":"ac2g","name":"ac2g"})"),
            "s|ac2g|ac2g|1|2|3000|-|{.id=int:7}");
  EXPECT_EQ(one_line(R"({"ph":"t","id":7,"pid":1,"tid":2,"ts":3,"cat":"ac2g","name":"ac2g"})"),
            "t|ac2g|ac2g|1|2|3000|-|{.id=int:7}");
  EXPECT_EQ(one_line(R"({"ph":"f","id":7,"pid":1,"tid":2,"ts":3,"cat":"ac2g","name":"ac2g","bp":"e"})"),
            "f|ac2g|ac2g|1|2|3000|-|{.id=int:7}{.bp=text:e}");
  EXPECT_EQ(one_line(R"({"ph":"C","name":"memory","pid":1,"ts":3,"args":{"used":1.5,"free":2}})"),
            "C||memory|1|-|3000|-|{used=real:1.5}{free=int:2}");
}

TEST(InputPhases, UnknownOnesAreCountedAndKept) {
  const Reading reading = read_events(R"({"ph":"X","ts":1,"dur":1}, {"ph":"Q","ts":2}, {"ph":"flow","name":"n"})");
  EXPECT_EQ(reading.events, (Lines{"X|||-|-|1000|1000|", "Q|||-|-|2000|-|", "flow||n|-|-|-|-|"}));
  EXPECT_EQ(reading.problems, (Lines{problem_at("unknown_phase", 27, 2) + " " + std::to_string(kFirstEvent + 46)}));
}

TEST(InputPairs, BecomeSlices) {
  const Reading reading = read_events(R"({"ph":"B","name":"outer","pid":1,"tid":1,"ts":10},
    {"ph":"B","name":"inner","pid":1,"tid":1,"ts":20},
    {"ph":"E","pid":1,"tid":1,"ts":35},
    {"ph":"E","pid":1,"tid":1,"ts":50})");
  EXPECT_EQ(reading.events,
            (Lines{"B||outer|1|1|10000|40000|", "B||inner|1|1|20000|15000|", "E|||1|1|35000|-|", "E|||1|1|50000|-|"}));
  EXPECT_EQ(reading.problems, Lines{});
}

TEST(InputPairs, OfDifferentTracksInAnyOrder) {
  const Reading reading = read_events(R"({"ph":"E","pid":1,"tid":1,"ts":30}, {"ph":"B","name":"b","pid":1,"tid":2,"ts":11},
    {"ph":"B","name":"a","pid":1,"tid":1,"ts":10}, {"ph":"E","pid":1,"tid":2,"ts":12})");
  EXPECT_EQ(reading.events, (Lines{"E|||1|1|30000|-|", "B||b|1|2|11000|1000|", "B||a|1|1|10000|20000|", "E|||1|2|12000|-|"}));
  EXPECT_EQ(reading.problems, Lines{});
}

TEST(InputPairs, UnmatchedOnesAreCounted) {
  const Reading reading = read_events(R"({"ph":"E","pid":1,"tid":1,"ts":1}, {"ph":"B","name":"a","pid":1,"tid":1,"ts":2},
    {"ph":"B","name":"b","pid":1,"tid":2,"ts":2}, {"ph":"B","name":"c","pid":1,"tid":2,"ts":3}, {"ph":"E","pid":1,"tid":2,"ts":4})");
  EXPECT_EQ(reading.events[1], "B||a|1|1|2000|-|");
  EXPECT_EQ(reading.events[2], "B||b|1|2|2000|-|");
  EXPECT_EQ(reading.events[3], "B||c|1|2|3000|1000|");
  EXPECT_EQ(reading.problems, (Lines{"unmatched_begin 2", "unmatched_end 1"}));
}

TEST(InputPairs, UnmatchedOnesHaveAPlaceWherePlacesAreKept) {
  const std::string text = trace_of(R"({"ph":"E","pid":1,"tid":2,"ts":1}, {"ph":"B","name":"b","pid":1,"tid":2,"ts":2},
    {"ph":"B","name":"c","pid":1,"tid":1,"ts":3}, {"ph":"E","pid":1,"tid":1,"ts":4}, {"ph":"B","name":"d","pid":1,"tid":1,"ts":5})");
  const auto place = [&](std::string_view part) { return ' ' + std::to_string(text.find(part)); };
  EXPECT_EQ(problems_with_places(text),
            (Lines{"unmatched_begin 2" + place(R"({"ph":"B","name":"b")") + place(R"({"ph":"B","name":"d")"),
                   "unmatched_end 1" + place(R"({"ph":"E","pid":1,"tid":2)")}));
}

TEST(InputPairs, AreListedAsSlicesOfTheirCategory) {
  const auto trace = read_ok(trace_of(
      R"({"ph":"B","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1}, {"ph":"E","cat":"cpu_op","pid":1,"tid":1,"ts":3})"));
  ASSERT_EQ(trace->of(EventClass::op).size(), 1U);
  EXPECT_EQ(trace->events.dur_ns(trace->of(EventClass::op)[0]), 2000);
  EXPECT_EQ(trace->window->duration_ns(), 2000);
}

TEST(InputTracks, AreExactPairs) {
  EXPECT_EQ(one_line(R"({"ph":"X","pid":-1,"tid":-2,"ts":1,"dur":1})"), "X|||-1|-2|1000|1000|");
  EXPECT_EQ(one_line(R"({"ph":"X","pid":9223372036854775807,"tid":-9223372036854775808,"ts":1,"dur":1})"),
            "X|||9223372036854775807|-9223372036854775808|1000|1000|");
  EXPECT_EQ(one_line(R"({"ph":"X","pid":"Spans","tid":"","ts":1,"dur":1})"), "X|||'Spans|'|1000|1000|");
  EXPECT_EQ(one_line(R"({"ph":"X","ts":1,"dur":1})"), "X|||-|-|1000|1000|");
  EXPECT_EQ(one_line(R"({"ph":"X","pid":null,"tid":1.5,"ts":1,"dur":1})"), "X|||-|'1.5|1000|1000|");
  // Beyond 64 bits the digits name the track.
  EXPECT_EQ(one_line(R"({"ph":"X","pid":18446744073709551615,"tid":1,"ts":1,"dur":1})"),
            "X|||'18446744073709551615|1|1000|1000|");
}

TEST(InputTracks, NumberAndItsTextAreTwo) {
  const auto trace = read_ok(trace_of(R"({"ph":"X","pid":1,"tid":1,"ts":1,"dur":1}, {"ph":"X","pid":"1","tid":1,"ts":1,"dur":1},
    {"ph":"X","pid":1,"tid":-1,"ts":1,"dur":1}, {"ph":"X","pid":1,"tid":1,"ts":1,"dur":1}, {"ph":"X","tid":1,"ts":1,"dur":1})"));
  EXPECT_EQ(trace->forms.tracks().size(), 4U);
  EXPECT_EQ(trace->track(EventId{0U}), trace->track(EventId{3U}));
}

TEST(InputNames, EscapesAreDecoded) {
  EXPECT_EQ(one_line(R"({"ph":"X","name":"a\"b\\c\/d\u00e9\ud83d\ude00\n","ts":1,"dur":1})"),
            "X||a\"b\\c/d\u00e9\U0001F600<0a>|-|-|1000|1000|");
  EXPECT_EQ(one_line("{\"ph\":\"X\",\"n\\u0061me\":\"x\",\"ts\":1,\"dur\":1}"), "X||x|-|-|1000|1000|");
}

TEST(InputNames, OtherTypes) { EXPECT_EQ(one_line(R"({"ph":"X","cat":null,"name":5,"ts":1,"dur":1})"), "X||5|-|-|1000|1000|"); }

TEST(InputNames, ElementsWithoutPhase) {
  const Reading reading = read_events(R"({"name":"a","ts":1}, {"ph":5,"ts":1}, {}, {"ph":"X","ts":1,"dur":1})");
  EXPECT_EQ(reading.events, Lines{"X|||-|-|1000|1000|"});
  EXPECT_EQ(reading.problems, Lines{problem_at("no_phase", 0, 3) + " 38 55"});
}

const Lines kTwo = {"X|cpu_op|a|1|2|1000|1000|", "X|cpu_op|b|1|2|2000|1000|"};

TEST(InputAround, EventsFirstMiddleLast) {
  const std::string events = "\"traceEvents\": [" + plain_event("a", 1) + "," + plain_event("b", 2) + "]";
  for (const std::string& text : {"{" + events + ", \"schemaVersion\": 1, \"x\": {\"y\": [1, \"]}\"]}}",
                                  "{\"schemaVersion\": 1, " + events + ", \"x\": 2}",
                                  "{\"x\": {\"traceEvents\": [1]}, \"schemaVersion\": 1, " + events + "}",
                                  "\n {\"x\":[],\"schemaVersion\":1,\n" + events + "\n}\n"}) {
    const Reading reading = read_all_ways(text);
    EXPECT_EQ(reading.events, kTwo) << text;
    EXPECT_EQ(reading.problems, Lines{}) << text;
    EXPECT_EQ(read_ok(text)->metadata.schema_version, 1) << text;
  }
}

TEST(InputAround, BareArray) {
  const Reading reading = read_all_ways(" [" + plain_event("a", 1) + ",\n" + plain_event("b", 2) + "\n]\n");
  EXPECT_EQ(reading.events, kTwo);
  EXPECT_EQ(reading.problems, Lines{});
}

TEST(InputAround, ByteOrderMark) {
  for (const std::string& body : {trace_of(plain_event("a", 1) + "," + plain_event("b", 2)),
                                  "[" + plain_event("a", 1) + "," + plain_event("b", 2) + "]"}) {
    const Reading reading = read_all_ways("\xEF\xBB\xBF" + body);
    EXPECT_EQ(reading.events, kTwo);
    EXPECT_EQ(reading.problems, Lines{});
  }
}

TEST(InputAround, NoEventsAtAll) {
  for (const std::string_view text : {R"({"traceEvents": []})", "[]", R"({"schemaVersion": 1, "traceEvents": [ ] })"}) {
    const Reading reading = read_all_ways(text);
    EXPECT_EQ(reading.events, Lines{});
    EXPECT_EQ(reading.problems, Lines{});
  }
}

TEST(InputAround, SecondEventsKeyIsCounted) {
  const std::string text =
      R"({"traceEvents": [)" + plain_event("a", 1) + "," + plain_event("b", 2) + R"(], "traceEvents": [{"ph":"X"}]})";
  const Reading reading = read_all_ways(text);
  EXPECT_EQ(reading.events, kTwo);
  EXPECT_EQ(reading.problems, Lines{"duplicate_events_key 1 " + std::to_string(text.rfind('['))});
}

TEST(InputAround, BytesAndElements) {
  const std::string text = trace_of(plain_event("a", 1) + ", 5, null, " + plain_event("b", 2) + ", {\"name\": 1}");
  const auto trace = read_ok(text);
  EXPECT_EQ(trace->json_bytes, text.size());
  EXPECT_EQ(trace->file_bytes, text.size());
  EXPECT_EQ(trace->elements, 5U);
  EXPECT_EQ(trace->events.size(), 2U);
  EXPECT_EQ(trace->container, "plain");
}

TEST(InputOrder, UnsortedAndOverlappingEventsStayAsTheyAre) {
  const Reading reading = read_events(
      R"({"ph":"X","pid":1,"tid":1,"ts":30,"dur":10}, {"ph":"X","pid":1,"tid":1,"ts":10,"dur":25}, {"ph":"X","pid":1,"tid":1,"ts":20,"dur":50})");
  EXPECT_EQ(reading.events, (Lines{"X|||1|1|30000|10000|", "X|||1|1|10000|25000|", "X|||1|1|20000|50000|"}));
  EXPECT_EQ(reading.problems, Lines{});
}

TEST(InputOrder, KeysOfAnEventInAnyOrder) {
  EXPECT_EQ(one_line(R"({"args":{"a":1},"dur":4,"tid":2,"ts":3,"bp":"e","name":"n","pid":1,"cat":"c","ph":"X"})"),
            "X|c|n|1|2|3000|4000|{a=int:1}{.bp=text:e}");
}

// Odd values behind a hundred plain events of the same layout: the path that learned the layout must not take them for plain.
TEST(InputOdd, InALayoutThatIsKnown) {
  struct Odd {
    std::string_view name, pid, ts, dur, arg, line;
  };
  constexpr Odd kOdd[] = {
      {"\"n\"", "1", "2", "-5", "7", "X|cpu_op|n|1|2|2000|-|{a=int:7}{b=int:1}"},
      {"\"n\"", "1", "2", "-0", "7", "X|cpu_op|n|1|2|2000|0|{a=int:7}{b=int:1}"},
      {"\"n\"", "1", "-2", "5", "7", "X|cpu_op|n|1|2|-2000|5000|{a=int:7}{b=int:1}"},
      {"\"n\"", "1", "2e1", "5E0", "7", "X|cpu_op|n|1|2|20000|5000|{a=int:7}{b=int:1}"},
      {"\"n\"", "1", "\"2\"", "\"5\"", "7", "X|cpu_op|n|1|2|2000|5000|{a=int:7}{b=int:1}"},
      {"\"n\"", "1", "2", "5", "-2147483649", "X|cpu_op|n|1|2|2000|5000|{a=int:-2147483649}{b=int:1}"},
      {"\"n\"", "1", "2", "5", "9223372036854775808", "X|cpu_op|n|1|2|2000|5000|{a=uint:9223372036854775808}{b=int:1}"},
      {"\"n\"", "1", "2", "5", "18446744073709551616", "X|cpu_op|n|1|2|2000|5000|{a=big:18446744073709551616}{b=int:1}"},
      {"\"n\"", "1", "2", "5", "7.25", "X|cpu_op|n|1|2|2000|5000|{a=real:7.25}{b=int:1}"},
      {"\"n\"", "1", "2", "5", "nan", "X|cpu_op|n|1|2|2000|5000|{a=null}{b=int:1}"},
      {"\"n\"", "1", "2", "5", "007", "X|cpu_op|n|1|2|2000|5000|{a=text:007}{b=int:1}"},
      {"\"n\"", "1", "2", "5", "[1, 2", "X|cpu_op|n|1|2|2000|5000|{a=text:[1, 2,\"b\":1<7d>}"},
      {"\"\\u006e\"", "1", "2", "5", "7", "X|cpu_op|n|1|2|2000|5000|{a=int:7}{b=int:1}"},
      {"\"\\q\"", "1", "2", "5", "7", "X|cpu_op|\\q|1|2|2000|5000|{a=int:7}{b=int:1}"},
      {"5", "1", "2", "5", "7", "X|cpu_op|5|1|2|2000|5000|{a=int:7}{b=int:1}"},
      {"\"n\"", "\"1\"", "2", "5", "7", "X|cpu_op|n|'1|2|2000|5000|{a=int:7}{b=int:1}"},
      {"\"n\"", "-1", "2", "5", "7", "X|cpu_op|n|-1|2|2000|5000|{a=int:7}{b=int:1}"},
      {"\"n\"", "99999999999999999999", "2", "5", "7", "X|cpu_op|n|'99999999999999999999|2|2000|5000|{a=int:7}{b=int:1}"},
      {"\"n\"", "null", "2", "5", "7", "X|cpu_op|n|-|2|2000|5000|{a=int:7}{b=int:1}"},
      {"\"n\"", "1.0", "2", "5", "7", "X|cpu_op|n|'1.0|2|2000|5000|{a=int:7}{b=int:1}"},
      {"\"n\"", "1", "2", "99999999.9999", "7", "X|cpu_op|n|1|2|2000|99999999999|{a=int:7}{b=int:1}"},
      {"\"n\"", "1", "1e30", "5", "7", ""},
  };
  const auto event = [](const Odd& o) {
    std::string text = R"({"ph":"X","cat":"cpu_op","name":)";
    for (const auto& [key, value] : {std::pair{"", o.name},
                                     {R"(,"pid":)", o.pid},
                                     {R"(,"tid":2,"ts":)", o.ts},
                                     {R"(,"dur":)", o.dur},
                                     {R"(,"args":{"a":)", o.arg}}) {
      text += key;
      text += value;
    }
    return text + R"(,"b":1}})";
  };
  constexpr Odd kPlain = {"\"n\"", "1", "2", "5", "7", "X|cpu_op|n|1|2|2000|5000|{a=int:7}{b=int:1}"};
  std::string events;
  Lines expected;
  for (const Odd& odd : kOdd) {
    for (int i = 0; i < 5; ++i) {
      events += event(kPlain) + ",";
      expected.emplace_back(kPlain.line);
    }
    events += event(odd) + ",";
    if (!odd.line.empty()) expected.emplace_back(odd.line);
  }
  events += event(kPlain);
  expected.emplace_back(kPlain.line);
  const Lines found = read_events(events).events;
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i], expected[i]) << i;
}

TEST(InputOptions, InterruptedByProgress) {
  ReadOptions options = options_of({.threads = 2, .window_bytes = 64});
  int calls = 0;
  options.progress = [&](std::uint64_t done, std::uint64_t total) {
    EXPECT_LE(done, total);
    return ++calls < 3;
  };
  std::string events = plain_event("a", 1);
  for (int i = 0; i < 10; ++i) events += "," + plain_event("b", i);
  const auto reading = read_trace_bytes(trace_of(events), "test", options);
  ASSERT_FALSE(reading.has_value());
  EXPECT_EQ(reading.error().code, ErrorCode::interrupted);
  EXPECT_EQ(calls, 3);
}

TEST(InputOptions, MaxBytes) {
  const std::string text = trace_of(plain_event("a", 1));
  ReadOptions options;
  options.max_bytes = text.size();
  EXPECT_TRUE(read_trace_bytes(text, "test", options).has_value());
  options.max_bytes = text.size() - 1;
  const auto reading = read_trace_bytes(text, "test", options);
  ASSERT_FALSE(reading.has_value());
  EXPECT_EQ(reading.error().code, ErrorCode::too_large);
  EXPECT_NE(reading.error().message.find(std::to_string(options.max_bytes)), std::string::npos);
  EXPECT_NE(reading.error().hint.find("--max-bytes"), std::string::npos);
  EXPECT_EQ(reading.error().where, "test, byte " + std::to_string(options.max_bytes));
  // Also before the events.
  const auto metadata =
      read_trace_bytes("{\"a\": \"" + std::string(200'000, 'x') + "\", \"traceEvents\": []}", "test", options);
  ASSERT_FALSE(metadata.has_value());
  EXPECT_EQ(metadata.error().code, ErrorCode::too_large);
}

TEST(InputOptions, MaxMemory) {
  std::string events = plain_event("a", 1);
  for (int i = 0; i < 3000; ++i) events += "," + plain_event("some name " + std::string(1000, 'x') + std::to_string(i), i);
  ReadOptions options;
  options.max_memory = 20 << 20;
  EXPECT_TRUE(read_trace_bytes(trace_of(events), "test", options).has_value());
  options.max_memory = 4 << 20;
  options.window_bytes = 4096;
  const auto reading = read_trace_bytes(trace_of(events), "test", options);
  ASSERT_FALSE(reading.has_value());
  EXPECT_EQ(reading.error().code, ErrorCode::too_large);
}

}  // namespace
}  // namespace ridge::test
