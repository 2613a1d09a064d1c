// Targets of requests: what is read, what is refused, and that equal targets have one text.
#include "server/query.h"
#include "support/says.h"

#include <gtest/gtest.h>

#include <ridge/argument_list.h>

namespace ridge::server {
namespace {

TEST(Query, TakesATargetApart) {
  const auto target = parse_target("/api/v1/search?q=a%20b%2Bc+d&t=0&empty=&switch");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->path, "/api/v1/search");
  EXPECT_EQ(target->query.at("q"), "a b+c d");
  EXPECT_EQ(target->query.at("t"), "0");
  EXPECT_EQ(target->query.at("empty"), "");
  EXPECT_EQ(target->query.at("switch"), "");
}

TEST(Query, EqualTargetsHaveOneText) {
  const auto a = parse_target("/x?b=%C3%A9&a=1%2f2"), b = parse_target("/x?a=1%2F2&&b=%c3%a9&");
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->canonical(), "/x?a=1%2F2&b=%C3%A9");
  EXPECT_EQ(b->canonical(), a->canonical());
  EXPECT_EQ(parse_target(a->canonical())->query, a->query);
}

TEST(Query, RefusesWhatIsOdd) {
  const std::string many = [] {
    std::string text = "/x?";
    for (int i = 0; i < 40; ++i) text += "a" + std::to_string(i) + "=1&";
    return text;
  }();
  for (const std::string& text :
       {std::string(), std::string("x"), std::string("http://a/"), std::string("*"), std::string("/x y"), std::string("/x\ty"),
        std::string("/x?a=%"), std::string("/x?a=%1"), std::string("/x?a=%zz"), std::string("/x?a=%00"), std::string("/x?=1"),
        std::string("/x?a=%1F"), std::string("/x?a=%ff"), std::string("/x?a=%ed%a0%80"), std::string("/x#part"),
        std::string("/\x80"), "/" + std::string(9000, 'a'), many}) {
    EXPECT_FALSE(parse_target(text)) << text.substr(0, 60);
  }
}

TEST(Query, WhatComesTwiceIsAListAndRefusedWhereNoneIsMeant) {
  const auto target = parse_target("/x?a=1,2&b=0&%61=3");
  ASSERT_TRUE(target);
  EXPECT_EQ(listed(target->query, "a"), (std::vector<std::string_view>{"1,2", "3"}));
  EXPECT_TRUE(target->repeated.contains("a"));
  EXPECT_FALSE(target->repeated.contains("b"));
  Parameters parameters(*target);
  parameters.text("a", "");
  parameters.text("b", "");
  EXPECT_FALSE(parameters.finish());
}

TEST(Query, PathsAreNeverDecoded) {
  EXPECT_EQ(parse_target("/%2e%2e/etc/passwd")->path, "/%2e%2e/etc/passwd");
  EXPECT_EQ(parse_target("/../x")->path, "/../x");
}

TEST(Query, NumbersAreWholeAndInRange) {
  const auto read = [](std::string_view text) {
    const auto target = parse_target("/x?n=" + std::string(text));
    Parameters parameters(*target);
    parameters.integer("n", std::nullopt, -5, 8192);
    return parameters.finish().has_value();
  };
  for (const char* good : {"0", "-5", "8192", "007"}) EXPECT_TRUE(read(good)) << good;
  for (const char* bad :
       {"", "-6", "8193", "1.5", "1e3", "0x10", "%2b1", "99999999999999999999", "-99999999999999999999", "nan", "1%20", "%201"})
    EXPECT_FALSE(read(bad)) << bad;
}

TEST(Query, MissingAndUnknownParametersAreNamed) {
  const auto target = parse_target("/x?other=1");
  Parameters missing(*target);
  missing.integer("n", std::nullopt, 0, 1);
  EXPECT_TRUE(test::says(missing.finish().error().message, {"'n'"}));
  Parameters unknown(*target);
  EXPECT_TRUE(test::says(unknown.finish().error().message, {"'other'"}));
}

TEST(Query, ListsOfIds) {
  const auto read = [](std::string_view text) {
    const auto target = parse_target("/x?ids=" + std::string(text));
    Parameters parameters(*target);
    const auto ids = parameters.ids("ids");
    return parameters.finish() ? ids : std::nullopt;
  };
  EXPECT_EQ(read("1,2,3"), (std::vector<std::uint32_t>{1, 2, 3}));
  EXPECT_EQ(read(""), std::vector<std::uint32_t>{});
  for (const char* bad : {"a", "1,,2", "-1", "4294967296", "1;2"}) EXPECT_EQ(read(bad), std::nullopt) << bad;
  std::string long_list = "1";
  for (int i = 0; i < 4000; ++i) long_list += ",1";
  EXPECT_TRUE(read(long_list.substr(0, 8000)));
}

}  // namespace
}  // namespace ridge::server
