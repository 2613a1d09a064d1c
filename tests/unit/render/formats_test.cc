// Formats by name, and which columns are for programs only.
#include <gtest/gtest.h>

#include <ridge/render.h>

#include "support/says.h"

namespace ridge {
namespace {

TEST(Formats, AreFoundByName) {
  for (const Format& format : formats()) EXPECT_EQ(find_format(format.name).value(), &format);
  EXPECT_EQ(formats().front().name, "table");  // the default
}

TEST(Formats, OnlyThoseForPeopleAreCut) {
  EXPECT_TRUE((*find_format("table"))->cut_by_default);
  EXPECT_TRUE((*find_format("md"))->cut_by_default);
  EXPECT_FALSE((*find_format("json"))->cut_by_default);
  EXPECT_FALSE((*find_format("csv"))->cut_by_default);
}

TEST(Formats, UnknownNameIsAnErrorWithTheNearest) {
  const auto near = find_format("jsno");
  ASSERT_FALSE(near);
  EXPECT_EQ(near.error().code, ErrorCode::usage);
  EXPECT_TRUE(test::says(near.error().hint, {" json?"}));
  EXPECT_TRUE(test::says(find_format("parquet").error().hint, {"table, json, csv, md, svg"}));
}

// An event's id tells a reader nothing, and its start is where it leads; a start that stands for itself does tell.
TEST(Formats, PlacesOfEventsAreForPrograms) {
  Report report;
  report.tables.resize(1);
  report.tables[0].columns = {{"id", Type::text, Unit::none, Role::plain},
                              {"event", Type::integer, Unit::none, Role::event},
                              {"start_ns", Type::integer, Unit::ns, Role::time_start}};
  report.tables[0].add_row({std::string("host_sync"), std::int64_t{4711}, std::int64_t{815}});
  const auto rendered = [&](std::string_view format) { return *report_text(report, **find_format(format)); };
  for (const std::string_view people : {"table", "md"}) {
    EXPECT_EQ(rendered(people).find("4711"), std::string::npos) << rendered(people);
    EXPECT_EQ(rendered(people).find("815"), std::string::npos);
  }
  for (const std::string_view programs : {"json", "csv"}) {
    EXPECT_NE(rendered(programs).find("4711"), std::string::npos);
    EXPECT_NE(rendered(programs).find("815"), std::string::npos);
  }
  report.tables[0].columns[1].role = Role::plain;
  EXPECT_NE(rendered("table").find("815"), std::string::npos);
}

}  // namespace
}  // namespace ridge
