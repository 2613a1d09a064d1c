#include <gtest/gtest.h>

#include <ridge/render.h>

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
  EXPECT_EQ(near.error().hint, "did you mean json?");
  EXPECT_EQ(find_format("parquet").error().hint, "formats: table, json, csv, md, svg");
}

}  // namespace
}  // namespace ridge
