// find_args_end against cut_members, which finds the same the long way.
#include "rewrite/args_end.h"

#include <string>

#include <gtest/gtest.h>

#include "ingest/scan.h"
#include "rewrite/event_members.h"
#include "support/files.h"
#include "support/spans.h"

namespace ridge::test {
namespace {

// The end as an offset; -1 when it was not found.
std::ptrdiff_t args_end(std::string event) {
  const std::size_t size = event.size();
  event.append(kPadding, '}');  // what stands behind must not matter
  const ArgsEnd end = find_args_end(event.data(), event.data() + size);
  return end.at == nullptr ? -1 : end.at - event.data();
}

std::ptrdiff_t behind(std::string_view event, std::string_view text) {
  return static_cast<std::ptrdiff_t>(event.find(text) + text.size());
}

TEST(ArgsEnd, WhereTheLastMemberEnds) {
  for (const std::string_view event :
       {R"({"ph":"X","args":{"a":1,"last":2}})", R"({"ph":"X","args" : { "a":[{"b":"}"},[]], "last":2 } })",
        R"({"ph":"X","args":{"args":{"x":{}},"last":2}})", R"({"args":{"first":1},"ph":"}{[","args":{"last":2
    }
  })",
        R"({"id":{"a":[]},"args":3,"args":{"last":2}} , )"}) {
    EXPECT_EQ(args_end(std::string(event)), behind(event, "\"last\":2")) << event;
  }
}

TEST(ArgsEnd, BehindTheBraceOfEmptyOnes) {
  for (const std::string_view event : {R"({"ph":"X","args":{}})", R"({"ph":"X","args":{  }
})"}) {
    EXPECT_EQ(args_end(std::string(event)), behind(event, "\"args\":{")) << event;
    std::string text(event);
    text.append(kPadding, ' ');
    EXPECT_TRUE(find_args_end(text.data(), text.data() + event.size()).empty);
  }
}

TEST(ArgsEnd, LeavesWhatTakesACloserLook) {
  for (const std::string_view event :
       {R"({"ph":"X"})", R"({"ph":"X","args":[1]})", R"({"ph":"X","args":null})", R"({"ph":"X","args":{"a":1},"id":1})",
        R"({"ph":"X","args":{"a":1},"args":2})", R"({"ph":"X","more":{"a":1}})", R"({"ph":"X","args":{"a":"\""}})",
        R"({"ph":"X","\u0061rgs":{"a":1}})", R"({"ph":"X","a":{"args":{"b":1}}})", R"({"ph":"X","my args":{"b":1}})",
        R"({"ph":"X","args":{"a":1})", "{}", "{", ""}) {
    EXPECT_EQ(args_end(std::string(event)), -1) << event;
  }
}

TEST(ArgsEnd, AsCutMembersHasItInEveryTrace) {
  std::size_t found = 0, events = 0;
  for (const std::string& path : own_traces()) {
    std::string json = json_of(path);
    const Spans spans = spans_of(json);
    json.append(kPadding, '\0');
    EventMembers members;
    for (const Span& span : spans.events) {
      const char* begin = json.data() + span.begin;
      const char* end = json.data() + span.end;
      if (!cut_members(begin, end, &members)) continue;
      ++events;
      const ArgsEnd at = find_args_end(begin, end);
      if (at.at == nullptr) continue;
      ++found;
      ASSERT_EQ(members.args_form, EventMembers::Args::object) << path << ", byte " << span.begin;
      ASSERT_EQ(at.empty, members.args.empty()) << path << ", byte " << span.begin;
      ASSERT_EQ(at.at, at.empty ? members.args_open + 1 : members.args.back().end) << path << ", byte " << span.begin;
    }
  }
  EXPECT_GT(events, 10'000U);
  EXPECT_GT(found, events / 2) << "hardly any event is plain";
}

}  // namespace
}  // namespace ridge::test
