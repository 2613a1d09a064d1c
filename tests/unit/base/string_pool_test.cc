// Equal texts share an id, bytes never move, threads may intern at once.
#include "base/string_pool.h"

#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace ridge {
namespace {

TEST(StringPool, EachTextOnce) {
  StringPool pool;
  const StringId a = pool.intern("a"), b = pool.intern("b");
  EXPECT_NE(a, b);
  EXPECT_EQ(pool.intern(std::string("a")), a);
  EXPECT_EQ(pool.at(a), "a");
  EXPECT_EQ(pool.at(b), "b");
  EXPECT_EQ(pool.size(), 3U);  // with the empty text
}

TEST(StringPool, EmptyTextIsZero) {
  StringPool pool;
  EXPECT_EQ(pool.intern(""), StringId{});
  EXPECT_EQ(pool.at(StringId{}), "");
}

TEST(StringPool, FindDoesNotAdd) {
  StringPool pool;
  const StringId a = pool.intern("a");
  StringId id;
  EXPECT_TRUE(pool.find("a", &id));
  EXPECT_EQ(id, a);
  EXPECT_FALSE(pool.find("b", &id));
  EXPECT_EQ(pool.size(), 2U);
}

TEST(StringPool, TextsWithZerosAndOfAnyLength) {
  StringPool pool;
  const std::string zero("a\0b", 3), large(5'000'000, 'x');
  EXPECT_NE(pool.intern(zero), pool.intern("a"));
  EXPECT_EQ(pool.at(pool.intern(zero)), zero);
  EXPECT_EQ(pool.at(pool.intern(large)), large);
  EXPECT_GT(pool.bytes(), large.size());
}

// Over several blocks of views and growths of the table; bytes never move.
TEST(StringPool, Many) {
  StringPool pool;
  const char* first = pool.at(pool.intern("text 0")).data();
  std::vector<StringId> ids;
  for (int i = 0; i < 100'000; ++i) ids.push_back(pool.intern("text " + std::to_string(i)));
  EXPECT_EQ(pool.at(ids[0]).data(), first);
  for (int i = 0; i < 100'000; i += 7) {
    const auto at = static_cast<std::size_t>(i);
    ASSERT_EQ(pool.at(ids[at]), "text " + std::to_string(i));
    ASSERT_EQ(pool.intern("text " + std::to_string(i)), ids[at]);
  }
  EXPECT_EQ(pool.size(), 100'001U);
}

TEST(StringPool, FromSeveralThreads) {
  StringPool pool;
  std::vector<std::vector<StringId>> ids(4);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < 20'000; ++i) ids[t].push_back(pool.intern(std::to_string((i * (t + 1)) % 20'000)));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(pool.size(), 20'001U);
  for (std::size_t t = 0; t < 4; ++t) {
    for (std::size_t i = 0; i < 20'000; ++i) ASSERT_EQ(pool.at(ids[t][i]), std::to_string((i * (t + 1)) % 20'000));
  }
}

}  // namespace
}  // namespace ridge
