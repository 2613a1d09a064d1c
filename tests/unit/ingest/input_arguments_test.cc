// Arguments of events: types, values, and keys that are given twice. Expectations are written by hand.
#include <gtest/gtest.h>

#include "unit/ingest/reading.h"

namespace ridge::test {
namespace {

TEST(InputArguments, TheirKeyMayBeEscaped) {
  EXPECT_EQ(one_line(R"({"ph":"X","ts":1,"dur":1,"\u0061rgs":{"device":3}})"), "X|||-|-|1000|1000|{device=int:3}");
}

TEST(InputArguments, KeepTypeAndValue) {
  EXPECT_EQ(
      one_line(
          R"({"ph":"X","ts":1,"dur":1,"args":{"a":1,"b":-2147483648,"c":2147483648,"d":9223372036854775807,"e":18446744073709551615}})"),
      "X|||-|-|1000|1000|{a=int:1}{b=int:-2147483648}{c=int:2147483648}{d=int:9223372036854775807}{e=uint:"
      "18446744073709551615}");
  EXPECT_EQ(
      one_line(R"({"ph":"X","ts":1,"dur":1,"args":{"a":1.5,"b":-0.0,"c":1e400,"d":2E-3,"e":true,"f":false,"g":null,"h":""}})"),
      "X|||-|-|1000|1000|{a=real:1.5}{b=real:-0}{c=real:inf}{d=real:0.002}{e=true}{f=false}{g=null}{h=text:}");
  EXPECT_EQ(one_line(R"({"ph":"X","ts":1,"dur":1,"args":{"a":[ 1, [ 2 , "x y" ], {} ],"b":{ "c" : [ ] }}})"),
            R"(X|||-|-|1000|1000|{a=json:[1,[2,"x y"],{<7d>]}{b=json:{"c":[]<7d>})");
  EXPECT_EQ(one_line(R"({"ph":"X","ts":1,"dur":1,"args":{}})"), "X|||-|-|1000|1000|");
  EXPECT_EQ(one_line(R"({"ph":"X","ts":1,"dur":1,"args":null,"tts":5})"), "X|||-|-|1000|1000|{.args=null}{.tts=int:5}");
}

TEST(InputArguments, BigIntegersStayText) {
  const Reading reading =
      read_events(R"({"ph":"X","ts":1,"dur":1,"args":{"a":18446744073709551616,"b":-9223372036854775809}})");
  EXPECT_EQ(reading.events, Lines{"X|||-|-|1000|1000|{a=big:18446744073709551616}{b=big:-9223372036854775809}"});
  EXPECT_EQ(reading.problems, Lines{problem_at("big_integer", 0)});
}

TEST(InputArguments, OfDuplicateKeysTheLastIsKept) {
  const Reading reading = read_events(R"({"ph":"i","ph":"X","ts":1,"ts":2,"dur":1,"args":{"a":1,"b":2,"a":"x"}})");
  EXPECT_EQ(reading.events, Lines{"X|||-|-|2000|1000|{b=int:2}{a=text:x}"});
  EXPECT_EQ(reading.problems, Lines{problem_at("duplicate_key", 0)});
}

TEST(InputArguments, OfTwoArgsTheLastIsKept) {
  const Reading reading =
      read_events(R"({"ph":"X","ts":1,"args":{"a":1,"b":2},"dur":1,"args":{"a":3}},{"ph":"X","ts":2,"dur":1,"args":{"a":4}})");
  EXPECT_EQ(reading.events, (Lines{"X|||-|-|1000|1000|{a=int:3}", "X|||-|-|2000|1000|{a=int:4}"}));
  EXPECT_EQ(reading.problems, Lines{problem_at("duplicate_key", 0)});
}

TEST(InputArguments, OfTwoArgsTheLastIsKeptWhateverItIs) {
  const std::string event = R"({"ph":"X","ts":1,"dur":1,)";
  const Reading scalar = read_events(event + R"("args":{"a":1},"args":5})");
  EXPECT_EQ(scalar.events, Lines{"X|||-|-|1000|1000|{.args=int:5}"});
  EXPECT_EQ(scalar.problems, Lines{problem_at("duplicate_key", 0)});
  const Reading object = read_events(event + R"("args":5,"args":{"a":1}})");
  EXPECT_EQ(object.events, Lines{"X|||-|-|1000|1000|{a=int:1}"});
  EXPECT_EQ(object.problems, Lines{problem_at("duplicate_key", 0)});
}

TEST(InputArguments, ManyDuplicates) {
  std::string args;
  for (int i = 0; i < 200; ++i) args += "\"k" + std::to_string(i % 50) + "\":" + std::to_string(i) + ",";
  const Reading reading = read_events(R"({"ph":"X","ts":1,"dur":1,"args":{)" + args + R"("z":1}})");
  std::string expected = "X|||-|-|1000|1000|";
  for (int i = 150; i < 200; ++i) expected += "{k" + std::to_string(i % 50) + "=int:" + std::to_string(i) + "}";
  EXPECT_EQ(reading.events, Lines{expected + "{z=int:1}"});
}

TEST(InputArguments, KeyOfTheEventAndOfItsArgsAreTwo) {
  EXPECT_EQ(one_line(R"({"ph":"X","ts":1,"dur":1,"id":5,"args":{"id":6,"ts":7,"name":"n"}})"),
            "X|||-|-|1000|1000|{.id=int:5}{id=int:6}{ts=int:7}{name=text:n}");
}

TEST(InputArguments, TypeMayChangeFromEventToEvent) {
  std::string events;
  const std::string_view values[] = {"1", "\"x\"", "1.5", "null", "[1]", "true", "5000000000", "false", "99999999999999999999",
                                     "-1"};
  for (int round = 0; round < 30; ++round) {
    for (const std::string_view value : values) {
      events += R"({"ph":"X","name":"n","pid":1,"tid":1,"ts":1,"dur":1,"args":{"v":)" + std::string(value) + R"(,"w":1}},)";
    }
  }
  events.pop_back();
  const Reading reading = read_events(events);
  ASSERT_EQ(reading.events.size(), 300U);
  const Lines expected = {
      "int:1", "text:x", "real:1.5", "null", "json:[1]", "true", "int:5000000000", "false", "big:99999999999999999999",
      "int:-1"};
  for (std::size_t i = 0; i < reading.events.size(); ++i) {
    EXPECT_EQ(reading.events[i], "X||n|1|1|1000|1000|{v=" + expected[i % 10] + "}{w=int:1}");
  }
}

}  // namespace
}  // namespace ridge::test
