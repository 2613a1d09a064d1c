// Answers fit their bytes whatever the report holds, lead with what matters, and name the way to the rest.
#include "mcp/answer.h"

#include <gtest/gtest.h>

#include <string>

#include <ridge/engine.h>

#include "mcp/command_line.h"
#include "mcp/json_value.h"
#include "mcp/tool_table.h"

namespace ridge::mcp {
namespace {

Report many_rows(std::size_t rows, const std::string& name) {
  Report report;
  report.command = "kernels";
  report.headline = name;
  Table first{.name = "kernels",
              .columns = {{"name", Type::text}, {"time_ns", Type::integer, Unit::ns}, {"flops", Type::number}}};
  Table lead{.name = "findings", .columns = {{"id", Type::text}}};
  lead.hints.leads = true;
  for (std::size_t i = 0; i < rows; ++i) {
    first.add_row({name + std::to_string(i), static_cast<std::int64_t>(i), Cell()});
    lead.add_row({std::to_string(i)});
  }
  report.tables = {std::move(first), std::move(lead)};
  for (int i = 0; i < 20; ++i) report.diagnostics.push_back({"code", 1, name + std::to_string(i)});
  return report;
}

JsonValue result_of(const Report& report, const Wanted& wanted) {
  const AnswerFrame frame{"kernels", {{"trace", "\"t\""}}, true};
  const auto members = answer_members({{&report, "ridge kernels t"}}, wanted, frame);
  EXPECT_TRUE(members);
  EXPECT_LE(members->size(), wanted.answer_bytes);
  const auto parsed = parse_json("{" + *members + "}");
  EXPECT_TRUE(parsed) << *members;
  return *parsed;
}

const std::string& text_of(const JsonValue& result) { return *result.find("content")->list()->front().find("text")->text(); }

TEST(Answer, FitsItsBytes) {
  for (const std::size_t rows : {0U, 1U, 30U, 1000U}) {
    for (const std::size_t length : {3U, 300U, 20'000U}) {
      if (rows * length > 1'000'000) continue;  // of both much: slow, and nothing new
      const Report report = many_rows(rows, std::string(length, '"') + "\n\xC3\x28\u202e");
      for (const std::size_t bytes : {kFewestAnswerBytes, kDefaultAnswerBytes, kMostAnswerBytes}) {
        const JsonValue result = result_of(report, {.answer_bytes = bytes});
        EXPECT_NE(text_of(result).find("reproduce: ridge kernels t"), std::string::npos)
            << rows << " " << length << " " << bytes;
      }
    }
  }
}

TEST(Answer, WhatLeadsComesFirstAndTheRestIsCounted) {
  const JsonValue result = result_of(many_rows(1000, "k"), {});
  const std::string& text = text_of(result);
  EXPECT_LT(text.find("findings, rows 1 to"), text.find("kernels, rows 1 to"));
  EXPECT_NE(text.find("of 1000"), std::string::npos);
  EXPECT_NE(text.find("unknown: flops"), std::string::npos);  // said once, not in every row
  const JsonValue* more = result.find("structuredContent")->find("more");
  ASSERT_EQ(more->list()->size(), 2U);
  const JsonValue* arguments = more->list()->front().find("arguments");
  EXPECT_EQ(*arguments->find("trace")->text(), "t");
  EXPECT_EQ(*arguments->find("table")->text(), "findings");
  EXPECT_GT(*arguments->find("offset")->integer(), 0);
}

TEST(Answer, PagesAndOrder) {
  const Report report = many_rows(50, "k");
  const std::string text = text_of(result_of(report, {.table = "kernels", .sort = "time", .offset = 10, .limit = 3}));
  EXPECT_NE(text.find("rows 11 to 13 of 50"), std::string::npos) << text;
  EXPECT_NE(text.find("- \"k39\" | 39 ns"), std::string::npos) << text;
  EXPECT_NE(text_of(result_of(report, {.table = "kernels", .offset = 99})).find("none of its 50 rows"), std::string::npos);
  EXPECT_FALSE(answer_members({{&report, ""}}, {.table = "nothing"}, {}));
  EXPECT_FALSE(answer_members({{&report, ""}}, {.sort = "nothing"}, {}));
}

TEST(Answer, DataIsQuotedAndVisible) {
  EXPECT_EQ(quoted_data("a\"b\n\u202e"), R"("a\"b\\n\\u202e")");
  EXPECT_EQ(quoted_data("\U000E0041\U000E0101"), R"("\\u{e0041}\\u{e0101}")");
  EXPECT_LE(quoted_data(std::string(5000, 'x'), 200).size(), 202U);
}

TEST(CommandLine, WordsAreTheShellsOwn) {
  EXPECT_EQ(shell_word("a/b.json.gz"), "a/b.json.gz");
  EXPECT_EQ(shell_word("it's $(x)"), R"('it'\''s $(x)')");
  EXPECT_EQ(shell_word("a\nb"), R"($'a\x0ab')");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(command_line("whatif",
                         {{"do",
                           "a\x1F"
                           "b c"},
                          {"recorded", "true"}},
                         "-time", "t"),
            "ridge whatif --do a --do 'b c' --recorded --sort=-time t");
}

// What the tools of all analyses share must not hide a parameter of one.
TEST(Tools, ParametersHaveNamesOfTheirOwn) {
  for (const Tool& tool : tools()) {
    for (const Parameter& parameter : tool.parameters) {
      EXPECT_NE(parameter.name, "trace");
      EXPECT_NE(parameter.name, "traces");
      EXPECT_FALSE(parameter.names_file) << tool.name;
      for (const Parameter& rows : row_parameters()) EXPECT_NE(parameter.name, rows.name) << tool.name;
    }
  }
  EXPECT_EQ(tools().size(), analyses().size() + 2);
}

}  // namespace
}  // namespace ridge::mcp
