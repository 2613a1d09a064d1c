// What is no trace gets an error that says what it seems to be.
#include <gtest/gtest.h>

#include "support/files.h"
#include "support/says.h"
#include "support/trace_lines.h"

namespace ridge::test {
namespace {

using namespace std::string_view_literals;

struct Case {
  const char* name;
  std::string_view bytes;
  ErrorCode code;
  std::string_view says;  // part of the message
};

constexpr Case kCases[] = {
    {"Empty", ""sv, ErrorCode::truncated, "empty"},
    {"EmptyIsTruncated", ""sv, ErrorCode::truncated, "truncated"},
    {"WhiteSpace", " \n\t\r\n "sv, ErrorCode::truncated, "white space"},
    {"EmptyObject", "{}"sv, ErrorCode::not_a_trace, "\"traceEvents\""},
    {"OtherKeys", R"({"users": [1], "groups": {}})"sv, ErrorCode::not_a_trace, "users, groups"},
    {"EventsNoList", R"({"traceEvents": 5})"sv, ErrorCode::not_a_trace, "\"traceEvents\""},
    {"EventsNull", R"({"traceEvents": null})"sv, ErrorCode::not_a_trace, "\"traceEvents\""},
    {"EventsObject", R"({"schemaVersion": 1, "traceEvents": {}})"sv, ErrorCode::not_a_trace, "\"traceEvents\""},
    {"ExecutionTrace", R"({"schema": "1.0", "nodes": []})"sv, ErrorCode::not_a_trace, "execution trace"},
    {"Rocprof", R"({"rocprofiler-sdk-tool": [{}]})"sv, ErrorCode::not_a_trace, "rocprofiler"},
    {"Numbers", "[1,2,3]"sv, ErrorCode::not_a_trace, "\"ph\""},
    {"Objects", R"([{"name": "x"}, {"name": "y"}])"sv, ErrorCode::not_a_trace, "\"ph\""},
    {"Log", "[INFO] 2024-01-01 12:00:00 epoch 1\n[INFO] done\n"sv, ErrorCode::not_a_trace, ""},
    {"PythonList", "['a', 'b']\n"sv, ErrorCode::not_a_trace, ""},
    {"Brackets", "[[[["sv, ErrorCode::not_a_trace, ""},
    {"Number", "17"sv, ErrorCode::not_a_trace, "value"},
    {"Text", "\"hello\""sv, ErrorCode::not_a_trace, "value"},
    {"Words", "hello world"sv, ErrorCode::not_a_trace, "JSON"},
    {"Elf",
     "\x7F"
     "ELF\x02\x01\x01\0\0\0\0"sv,
     ErrorCode::not_a_trace, "ELF"},
    {"Zip", "PK\x03\x04\x14\0\0\0"sv, ErrorCode::not_a_trace, "ZIP"},
    {"Html", "<!DOCTYPE html><html></html>"sv, ErrorCode::not_a_trace, "HTML"},
    {"HtmlInSmall", "<!doctype html><html></html>"sv, ErrorCode::not_a_trace, "HTML"},
    {"Pickle", "\x80\x04\x95\0\0"sv, ErrorCode::not_a_trace, "pickle"},
    {"Xz",
     "\xFD"
     "7zXZ\0"sv,
     ErrorCode::not_a_trace, "xz"},
    {"Binary", "\x01\x02\0\0\x03"sv, ErrorCode::not_a_trace, "binary"},
    {"Utf16", "{\0\"\0t\0\"\0:\0[\0]\0}\0"sv, ErrorCode::not_a_trace, "UTF-16"},
    {"Utf16Big", "\0{\0\"\0t\0\"\0:\0[\0]\0}"sv, ErrorCode::not_a_trace, "UTF-16"},
    {"Utf16List", "[\0{\0}\0]\0"sv, ErrorCode::not_a_trace, "UTF-16"},
    {"BareKeys", "{ foo: 1 }"sv, ErrorCode::not_a_trace, "byte 2"},
    {"NoColon", R"({"a" 1, "b": 2})"sv, ErrorCode::not_a_trace, "byte 5"},
    {"CutObject", R"({"schemaVersion": 1, "x)"sv, ErrorCode::truncated, "truncated"},
    {"CutBrace", "{"sv, ErrorCode::truncated, "truncated"},
};

class NotATrace : public testing::TestWithParam<Case> {};

TEST_P(NotATrace, SaysWhatItSeemsToBe) {
  for (const Way& way : small_file_ways()) {
    const auto reading = read_text(GetParam().bytes, way);
    ASSERT_FALSE(reading.has_value());
    EXPECT_EQ(reading.error().code, GetParam().code);
    EXPECT_NE(reading.error().message.find(GetParam().says), std::string::npos) << reading.error().message;
    EXPECT_EQ(reading.error().where, "test");
    EXPECT_FALSE(reading.error().hint.empty());
  }
}

INSTANTIATE_TEST_SUITE_P(Inputs, NotATrace, testing::ValuesIn(kCases), [](const auto& p) { return std::string(p.param.name); });

TEST(NotATracePacked, SomethingElseCompressed) {
  for (const std::string& packed : {gzip("hello world"), zstd("hello world")}) {
    const auto reading = read_text(packed);
    ASSERT_FALSE(reading.has_value());
    EXPECT_EQ(reading.error().code, ErrorCode::not_a_trace);
    EXPECT_TRUE(says(reading.error().message, {"compressed"}));
  }
}

TEST(NotATracePacked, OtherJsonCompressed) {
  const auto reading = read_text(gzip(R"({"users": []})"));
  ASSERT_FALSE(reading.has_value());
  EXPECT_TRUE(says(reading.error().message, {"users"}));
}

TEST(NotATracePacked, DamagedBeforeItsEvents) {
  std::string packed = gzip(R"({"schemaVersion": 1, "traceEvents": []})");
  packed[10] = '\x07';  // a block of no known type
  const auto reading = read_text(packed);
  ASSERT_FALSE(reading.has_value());
  EXPECT_NE(reading.error().message.find("damaged before"), std::string::npos) << reading.error().message;
}

TEST(NotATracePacked, NothingCompressed) {
  const auto reading = read_text(gzip(""));
  ASSERT_FALSE(reading.has_value());
  EXPECT_EQ(reading.error().code, ErrorCode::truncated);
}

TEST(NotATraceFile, Absent) {
  const auto reading = read_trace("/nonexistent/trace.json", {});
  ASSERT_FALSE(reading.has_value());
  EXPECT_EQ(reading.error().code, ErrorCode::cannot_open);
  EXPECT_EQ(reading.error().where, "/nonexistent/trace.json");
}

TEST(NotATraceFile, Folder) {
  const auto reading = read_trace(test::source_dir(), {});
  ASSERT_FALSE(reading.has_value());
  EXPECT_EQ(reading.error().code, ErrorCode::cannot_open);
}

}  // namespace
}  // namespace ridge::test
