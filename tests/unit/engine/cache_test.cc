// The cache: within its budget, the least recently used first, and never what somebody holds.
#include "engine/cache.h"

#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace ridge {
namespace {

struct Thing {
  std::uint64_t bytes = 0;
  std::shared_ptr<const Thing> made_from = nullptr;
  std::uint64_t memory_bytes() const { return bytes; }
};

class Things {
 public:
  explicit Things(std::uint64_t budget) : cache(budget) {}

  std::shared_ptr<const Thing> get(const std::string& key, std::uint64_t bytes, std::shared_ptr<const Thing> from = nullptr) {
    return *cache.get<Thing>(key, [&]() -> Result<std::shared_ptr<const Thing>> {
      ++made;
      return std::make_shared<const Thing>(bytes, from);
    });
  }

  Cache cache;
  int made = 0;
};

TEST(Cache, MakesAThingOnce) {
  Things things(100);
  EXPECT_EQ(things.get("a", 10), things.get("a", 10));
  EXPECT_EQ(things.made, 1);
  EXPECT_EQ(things.cache.entries(), 1U);
  EXPECT_EQ(things.cache.bytes(), 10U);
}

TEST(Cache, ManyWhoAskAtOnceWaitForOneThatIsMade) {
  Cache cache(100);
  std::atomic<int> made = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      const auto got = cache.get<Thing>("slow", [&]() -> Result<std::shared_ptr<const Thing>> {
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        ++made;
        return std::make_shared<const Thing>(10U);
      });
      EXPECT_EQ((*got)->bytes, 10U);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made, 1);
}

TEST(Cache, WhatCouldNotBeMadeIsTriedAgain) {
  Cache cache(100);
  const auto fails = []() -> Result<std::shared_ptr<const Thing>> { return fail(ErrorCode::usage, "no"); };
  EXPECT_FALSE(cache.get<Thing>("a", fails));
  EXPECT_FALSE(cache.get<Thing>("a", fails));
  EXPECT_EQ(cache.entries(), 0U);
}

TEST(Cache, TheLeastRecentlyUsedGoesFirst) {
  Things things(100);
  things.get("a", 40), things.get("b", 40), things.get("a", 40), things.get("c", 40);
  things.cache.trim();
  EXPECT_EQ(things.cache.bytes(), 80U);
  things.get("a", 40), things.get("c", 40);
  EXPECT_EQ(things.made, 3);
  things.get("b", 40);
  EXPECT_EQ(things.made, 4);
}

TEST(Cache, WhatIsHeldStaysAndIsCounted) {
  Things things(50);
  const auto held = things.get("held", 60);
  things.get("other", 10);
  things.cache.trim();
  EXPECT_EQ(things.cache.bytes(), 60U);
  EXPECT_EQ(things.get("held", 60), held);
  EXPECT_EQ(held->bytes, 60U);
}

TEST(Cache, WhatAThingIsMadeFromGoesAfterIt) {
  Things things(50);
  things.get("costs", 40, things.get("model", 40));
  things.cache.trim();
  EXPECT_EQ(things.cache.entries(), 1U) << "the costs went, the model alone fits";
  things.get("costs", 60, things.get("model", 40));
  things.cache.trim();
  EXPECT_EQ(things.cache.entries(), 1U);
  Things none(0);
  none.get("timeline", 1, none.get("costs", 1, none.get("model", 1)));
  none.cache.trim();
  EXPECT_EQ(none.cache.entries(), 0U);
}

TEST(Cache, WhatFailsIsNotKept) {
  Cache cache(10);
  const auto failed =
      cache.get<Thing>("a", []() -> Result<std::shared_ptr<const Thing>> { return fail(ErrorCode::usage, "no"); });
  EXPECT_FALSE(failed.has_value());
  EXPECT_EQ(cache.entries(), 0U);
}

}  // namespace
}  // namespace ridge
