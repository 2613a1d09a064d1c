// The cache of answers: bounded, one computation for many who ask at once, nothing but good answers kept.
#include "server/answer_cache.h"

#include <atomic>
#include <chrono>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <ridge/stop.h>

namespace ridge::server {
namespace {

TEST(AnswerCache, KeepsWhatWasAskedLast) {
  AnswerCache cache(2, 1 << 20);
  int made = 0;
  const auto ask = [&](const std::string& key) {
    return cache.get(key, [&] { return ++made, answer(200, "about " + key); }).text();
  };
  EXPECT_EQ(ask("a"), "about a");
  EXPECT_EQ(ask("b"), "about b");
  EXPECT_EQ(ask("a"), "about a");
  EXPECT_EQ(made, 2);
  ask("c");  // b goes
  ask("a");
  EXPECT_EQ(made, 3);
  ask("b");
  EXPECT_EQ(made, 4);
  EXPECT_EQ(cache.entries(), 2U);
}

TEST(AnswerCache, IsBoundedInBytes) {
  AnswerCache cache(1000, 10'000);
  std::minstd_rand random;
  const auto noise = [&](std::size_t bytes) {  // that no packing makes much smaller
    std::string text(bytes, ' ');
    for (char& c : text) c = static_cast<char>(random() >> 8);
    return text;
  };
  for (int i = 0; i < 100; ++i) cache.get(std::to_string(i), [&] { return answer(200, noise(1000)); });
  EXPECT_LE(cache.bytes(), 10'000U);
  EXPECT_GT(cache.entries(), 5U);
  EXPECT_EQ(cache.get("huge", [&] { return answer(200, noise(50'000)); }).text().size(), 50'000U);
  EXPECT_LE(cache.bytes(), 10'000U);
}

TEST(AnswerCache, ForgetsRefusals) {
  AnswerCache cache(10, 1000);
  int made = 0;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(cache.get("bad", [&] { return ++made, answer(400, "no"); }).status, 400U);
  EXPECT_EQ(made, 3);
  EXPECT_EQ(cache.entries(), 0U);
  EXPECT_EQ(cache.bytes(), 0U);
}

TEST(AnswerCache, ManyWhoAskAtOnceWaitForOne) {
  AnswerCache cache(10, 1 << 20);
  std::atomic<int> made = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      const Answer got = cache.get("slow", [&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        ++made;
        return answer(200, "done");
      });
      EXPECT_EQ(got.text(), "done");
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made, 1);
}

// Of several clients who ask the same, the first goes away: the next one's answer is made all the same.
TEST(AnswerCache, WhoGoesAwayLeavesTheWorkToTheNext) {
  AnswerCache cache(10, 1 << 20);
  std::atomic<bool> begun = false, gone = false;
  std::jthread first([&] {
    const auto left = cache.get("key", [&] {
      begun = true;
      while (!gone) std::this_thread::yield();
      return answer(kClientGone, "");
    });
    EXPECT_EQ(left.status, kClientGone);
  });
  while (!begun) std::this_thread::yield();
  std::jthread leaver([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    gone = true;
  });
  EXPECT_EQ(cache.get("key", [] { return answer(200, "made"); }).text(), "made");
}

TEST(AnswerCache, WhoIsToStopWaitsForNobody) {
  AnswerCache cache(10, 1 << 20);
  std::atomic<bool> begun = false, stopped = false;
  std::jthread first([&] {
    cache.get("key", [&] {
      begun = true;
      while (!stopped) std::this_thread::yield();
      return answer(200, "made");
    });
  });
  while (!begun) std::this_thread::yield();
  const std::atomic<bool> flag = true;
  {
    const StopWhen stop(flag);
    EXPECT_EQ(cache.get("key", [] { return answer(200, "never"); }).status, kClientGone);
  }
  stopped = true;
}

}  // namespace
}  // namespace ridge::server
