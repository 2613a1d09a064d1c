// The documented JSON byte for byte, escapes and bad UTF-8.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <ridge/render.h>

#include "base/version.h"
#include "sample_report.h"

namespace ridge {
namespace {

std::string json(const Report& report, const View& view = {}) { return *report_text(report, **find_format("json"), view); }

// The JSON of one cell, as it stands in the only row of the only table.
std::string json_of(const Cell& cell) {
  Report report;
  report.tables.resize(1);
  constexpr Type kTypes[] = {Type::text, Type::boolean, Type::integer, Type::number, Type::text};  // as a Cell has them
  report.tables[0].add_column({"value", kTypes[cell.index()]}, {cell});
  const std::string all = json(report);
  const std::size_t begin = all.find("\"rows\":[\n[") + 10;
  return all.substr(begin, all.find("]],\"total\"") - begin);
}

TEST(Json, IsTheDocumentedShape) {
  Report report = sample_report();
  report.tables[0].truncate(1);
  report.tables[0].parent = "kernel";
  report.series = {{"allocated", Unit::bytes, {{0, 1.5}, {1000, 2.0}}}};
  report.diagnostics = {{"no_device_events", 1, "the trace has no device events"}};
  report.next = "ridge ops";
  EXPECT_EQ(json(report), "{\"schema\":2,\"ridge\":\"" + std::string(version()) + R"(","command":"kernels",
"traces":[
{"path":"runs/a.json","name":"a.json"}],
"tables":[
{"name":"kernels","columns":[{"name":"kernel","type":"text","unit":null,"role":"event"},{"name":"count","type":"integer","unit":"count","role":null},{"name":"time_ns","type":"integer","unit":"ns","role":null},{"name":"mean_ns","type":"number","unit":"ns","role":null},{"name":"fused","type":"boolean","unit":null,"role":null}],"rows":[
["gemm",2000,600000,300,true]],"total":[null,2004,1000000,499,null],"parent":"kernel"}],
"series":[
{"name":"allocated","unit":"bytes","points":[[0,1.5],[1000,2]]}],
"diagnostics":[
{"code":"no_device_events","count":1,"message":"the trace has no device events","severity":"warning"}]}
)");
}

TEST(Json, EmptyReportIsStillWhole) {
  EXPECT_EQ(json({}), "{\"schema\":2,\"ridge\":\"" + std::string(version()) +
                          "\",\"command\":\"\",\n\"traces\":[],\n\"tables\":[],\n\"series\":[],\n\"diagnostics\":[]}\n");
}

TEST(Json, HoldsNoOthersRow) { EXPECT_EQ(json(sample_report(), {.sort = "", .limit = 1}).find("other"), std::string::npos); }

TEST(Json, NumbersAreExact) {
  EXPECT_EQ(json_of(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(json_of(0.1), "0.1");
  EXPECT_EQ(json_of(1e300), "1e+300");
  EXPECT_EQ(std::stod(json_of(1.0 / 3)), 1.0 / 3);
}

TEST(Json, UnknownAndNotFiniteAreNull) {
  EXPECT_EQ(json_of({}), "null");
  EXPECT_EQ(json_of(std::nan("")), "null");
  EXPECT_EQ(json_of(-std::numeric_limits<double>::infinity()), "null");
}

TEST(Json, StringsAreEscaped) {
  EXPECT_EQ(json_of(text("a\"b\\c")), R"("a\"b\\c")");
  EXPECT_EQ(json_of(text(std::string("\0\n\x1b[31m\x7f", 8))), "\"\\u0000\\u000a\\u001b[31m\\u007f\"");
  EXPECT_EQ(json_of(text("µ漢")), "\"µ漢\"");
}

TEST(Json, BadUtf8IsReplaced) {
  EXPECT_EQ(json_of(text("a\xff"
                         "b")),
            "\"a\uFFFD"
            "b\"");
  EXPECT_EQ(json_of(text("\xe6\xbc")), "\"\uFFFD\"");        // cut short
  EXPECT_EQ(json_of(text("\xc0\x80")), "\"\uFFFD\"");        // overlong
  EXPECT_EQ(json_of(text("\xed\xa0\x80x")), "\"\uFFFDx\"");  // a surrogate
  EXPECT_EQ(json_of(text("\xe6\"")), "\"\uFFFD\\\"\"");      // a lead byte must not swallow the quote
}

}  // namespace
}  // namespace ridge
