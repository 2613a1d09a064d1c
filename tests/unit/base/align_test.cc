// The aligner against a plain quadratic one, and what it must not take long for.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/align.h"

namespace ridge::alignment {
namespace {

using Keys = std::vector<std::uint64_t>;

// The length of the longest common subsequence, by the textbook.
std::size_t longest_common(const Keys& a, const Keys& b) {
  std::vector<std::vector<std::size_t>> best(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = a.size(); i-- > 0;) {
    for (std::size_t j = b.size(); j-- > 0;)
      best[i][j] = a[i] == b[j] ? best[i + 1][j + 1] + 1 : std::max(best[i + 1][j], best[i][j + 1]);
  }
  return best[0][0];
}

std::vector<Pair> align_keys(const Keys& a, const Keys& b) {
  AlignInput input;
  input.levels.push_back({a, b});
  return align(input);
}

void expect_ordered_and_equal(const std::vector<Pair>& pairs, const Keys& a, const Keys& b) {
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    ASSERT_EQ(a[pairs[i].first], b[pairs[i].second]);
    if (i == 0) continue;
    ASSERT_LT(pairs[i - 1].first, pairs[i].first);
    ASSERT_LT(pairs[i - 1].second, pairs[i].second);
  }
}

// A step of a model: a few kinds of calls, over and over, as layers repeat.
Keys layers(std::size_t count) {
  Keys keys;
  for (std::size_t i = 0; i < count; ++i) {
    for (const unsigned key : {1U, 2U, 2U, 2U, 3U, 4U, 1U, 5U, 6U, 5U}) keys.push_back(key);
  }
  return keys;
}

Keys without_some(const Keys& keys, std::size_t removed, unsigned seed) {
  std::mt19937 random(seed);
  Keys out = keys;
  for (std::size_t i = 0; i < removed; ++i) out.erase(out.begin() + static_cast<std::ptrdiff_t>(random() % out.size()));
  return out;
}

TEST(Align, PairsEqualSequencesInFull) {
  const Keys keys = layers(50);
  EXPECT_EQ(align_keys(keys, keys).size(), keys.size());
}

TEST(Align, IsAsGoodAsTheLongestCommonSubsequenceOnSmallGaps) {
  std::mt19937 random(7);
  for (unsigned round = 0; round < 200; ++round) {
    Keys a, b;
    for (unsigned i = 0; i < 1 + random() % 60; ++i) a.push_back(1 + random() % 4);
    for (unsigned i = 0; i < 1 + random() % 60; ++i) b.push_back(1 + random() % 4);
    const std::vector<Pair> pairs = align_keys(a, b);
    expect_ordered_and_equal(pairs, a, b);
    EXPECT_GE(pairs.size() + 4, longest_common(a, b));  // ends are taken off greedily, unique calls are believed
  }
}

TEST(Align, FindsEveryRemovalInALongStep) {
  const Keys whole = layers(300);
  for (const std::size_t removed : {1U, 5U, 40U}) {
    const Keys less = without_some(whole, removed, static_cast<unsigned>(removed));
    const std::vector<Pair> pairs = align_keys(whole, less);
    expect_ordered_and_equal(pairs, whole, less);
    EXPECT_EQ(pairs.size(), less.size()) << removed;
  }
}

// 35,000 calls with 700 differences: fewest edits, and no table of 1.2 billion cells.
TEST(Align, CopesWithManyDifferencesInALongSequence) {
  const Keys whole = layers(3500);
  const Keys less = without_some(whole, 700, 3);
  const std::vector<Pair> pairs = align_keys(whole, less);
  expect_ordered_and_equal(pairs, whole, less);
  EXPECT_EQ(pairs.size(), less.size());
}

// Nothing in common but a handful of values, and far too long for any table.
TEST(Align, CopesWithSequencesThatHaveLittleInCommon) {
  std::mt19937 random(11);
  Keys a, b;
  for (int i = 0; i < 60'000; ++i) {
    a.push_back(1 + random() % 3);
    b.push_back(1 + random() % 3);
  }
  const std::vector<Pair> pairs = align_keys(a, b);
  expect_ordered_and_equal(pairs, a, b);
  EXPECT_GT(pairs.size(), 10'000U);
}

TEST(Align, PrefersStrongEvidence) {
  // a: x1 x2, b: x2. The weak level says all are equal, the strong one tells x1 from x2.
  AlignInput input;
  input.levels.push_back({{11, 12}, {12}});
  input.levels.push_back({{1, 1}, {1}});
  const std::vector<Pair> pairs = align(input);
  ASSERT_EQ(pairs.size(), 1U);
  EXPECT_EQ(pairs[0], Pair(1, 0));
}

TEST(Align, TakesTheScoreWhereNoEvidencePairs) {
  AlignInput input;
  input.levels.push_back({{1, 7, 2}, {1, 8, 2}});
  EXPECT_EQ(align(input).size(), 2U);
  input.score = [](std::uint32_t, std::uint32_t) { return 1; };
  EXPECT_EQ(align(input).size(), 3U);
}

TEST(Align, ZeroIsNoEvidence) {
  EXPECT_TRUE(align_keys({0, 0}, {0, 0}).empty());
  EXPECT_TRUE(align_keys({}, {1}).empty());
}

TEST(PairByOccurrence, TakesTheNthOfEach) {
  const Evidence evidence{{5, 6, 5, 7}, {6, 5, 5}};
  const std::vector<std::uint32_t> a{0, 1, 2, 3}, b{0, 1, 2};
  const std::vector<Pair> pairs = pair_by_occurrence(a, b, evidence);
  EXPECT_EQ(pairs, (std::vector<Pair>{{0, 1}, {1, 0}, {2, 2}}));
}

}  // namespace
}  // namespace ridge::alignment
