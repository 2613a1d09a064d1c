// Lines and messages: what is kept, what is refused, what a JSON-RPC id may be.
#include "mcp/message.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "mcp/line_reader.h"

namespace ridge::mcp {
namespace {

std::vector<std::string> lines_of(const std::vector<std::string>& pieces, std::size_t longest) {
  std::vector<std::string> lines;
  LineReader reader(longest);
  const auto line = [&](std::string_view text) { lines.emplace_back(text); };
  const auto too_long = [&] { lines.emplace_back("[too long]"); };
  for (const std::string& piece : pieces) reader.add(piece, line, too_long);
  reader.end(line, too_long);
  return lines;
}

TEST(LineReader, PiecesMakeLines) {
  EXPECT_EQ(lines_of({"a", "b\nc\n\n", "d"}, 10), (std::vector<std::string>{"ab", "c", "", "d"}));
  EXPECT_EQ(lines_of({"\n"}, 10), (std::vector<std::string>{""}));
  EXPECT_TRUE(lines_of({}, 10).empty());
}

TEST(LineReader, LongLinesAreToldOnceAndTheNextIsWhole) {
  EXPECT_EQ(lines_of({"1234", "\nab\n"}, 4), (std::vector<std::string>{"1234", "ab"}));
  EXPECT_EQ(lines_of({"123", "45", std::string(1000, 'x'), "\nab\n"}, 4), (std::vector<std::string>{"[too long]", "ab"}));
  EXPECT_EQ(lines_of({"12345"}, 4), (std::vector<std::string>{"[too long]"}));
}

TEST(Message, RequestsAndNotifications) {
  const auto request = read_message(R"({"jsonrpc":"2.0","id":"a\"b","method":"ping","params":{"x":[1,2.5,null,true,"t"]}})");
  ASSERT_TRUE(request);
  EXPECT_EQ(request->kind, Message::Kind::request);
  EXPECT_EQ(request->id, R"("a\"b")");
  ASSERT_NE(request->params.find("x"), nullptr);
  EXPECT_EQ(request->params.find("x")->list()->size(), 5U);
  EXPECT_EQ(read_message(R"({"jsonrpc":"2.0","id":-7,"method":"ping"})")->id, "-7");
  EXPECT_EQ(read_message(R"({"jsonrpc":"2.0","method":"x"})")->kind, Message::Kind::notification);
  EXPECT_EQ(read_message(R"({"jsonrpc":"2.0","id":1,"result":{}})")->kind, Message::Kind::response);
}

TEST(Message, RefusalsBearTheIdWhereThereIsOne) {
  EXPECT_EQ(error_line(read_message(R"({"jsonrpc":"1.0","id":5,"method":"ping"})").error()),
            R"({"jsonrpc":"2.0","id":5,"error":{"code":-32600,"message":"\"jsonrpc\" must be \"2.0\""}})"
            "\n");
  EXPECT_TRUE(read_message("{").error().id.empty());
  EXPECT_EQ(read_message(R"({"jsonrpc":"2.0","id":18446744073709551615,"method":"ping"})").error().code, kInvalidRequest);
}

// A client waits for the answer to its id: a number or a text that cannot be read elsewhere in the line takes the id from
// nobody.
TEST(Message, WhatCannotBeReadElsewhereLeavesTheId) {
  const auto id_of = [](std::string_view line) {
    const auto message = read_message(line);
    return message ? "read" : std::to_string(message.error().code) + " " + message.error().id;
  };
  EXPECT_EQ(id_of(R"({"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"runs":18446744073709551616}})"), "-32700 7");
  EXPECT_EQ(id_of(R"({"jsonrpc":"2.0","method":"tools/call","params":{"runs":1e400},"id":7})"), "-32700 7");
  EXPECT_EQ(id_of(R"({"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"sort":"\ud800"}})"), R"(-32700 "a")");
  EXPECT_EQ(id_of(R"({"params":{"id":3,"x":1e400},"id":7})"), "-32700 7");
  for (const char* line :
       {R"({"params":{"id":3,"x":1e400}})", R"({"id":1e400})", R"({"id":18446744073709551616})", R"([{"id":7},1e400])",
        R"({"id":[7],"x":1e400})", R"({"id":null,"x":1e400})", "1e400", "", R"({"id":"\ud800"})", "{\"id\":\"\xff\"}"})
    EXPECT_EQ(id_of(line), "-32700 ") << line;
}

TEST(Message, DepthIsBounded) {
  const auto nested = [](std::size_t depth) {
    return R"({"jsonrpc":"2.0","method":"m","params":{"x":)" + std::string(depth, '[') + std::string(depth, ']') + "}}";
  };
  EXPECT_TRUE(read_message(nested(kDeepestJson - 4)));
  EXPECT_EQ(read_message(nested(kDeepestJson)).error().code, kParseError);
  EXPECT_EQ(read_message(nested(200'000)).error().code, kParseError);
}

}  // namespace
}  // namespace ridge::mcp
