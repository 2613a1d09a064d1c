// A product's tiles followed wave by wave: what is read again, counted by hand for panels that are all lost or all kept.
#include "cost/library/product_waves.h"

#include <gtest/gtest.h>

namespace ridge {
namespace {

constexpr double kLost = 50e6, kKept = 1e4;  // bytes of a panel: a wave of them leaves nothing, or everything, in the cache

TileWalk tiles_of(double blocks, double panel) {
  return {.along = 4, .across = 16, .group = 8, .blocks = blocks, .along_bytes = panel, .across_bytes = panel};
}

TEST(ProductWaves, AWaveForEachGroupTakesTheOtherOperandAgain) {
  EXPECT_EQ(reread_by_walk(tiles_of(32, kLost), 1), 4 * kLost);  // two groups, four panels along each
  EXPECT_EQ(reread_by_walk(tiles_of(32, kKept), 1), 0);
}

TEST(ProductWaves, OneWaveTakesEverythingOnce) { EXPECT_EQ(reread_by_walk(tiles_of(64, kLost), 1), 0); }

TEST(ProductWaves, APartOfARowAcrossTakesItsOwnPanelsOnly) {
  // 30 tiles of the first group; its last two, which are two panels across, and 28 of the second, past all four panels along;
  // the last four, which are one panel along and four across.
  EXPECT_EQ(reread_by_walk(tiles_of(30, kLost), 1), (4 + 2 + 1 + 4) * kLost);
}

TEST(ProductWaves, WhatStaysAtTheTurnIsNotReadAgain) {
  TileWalk walk = tiles_of(32, kLost);
  walk.at_turn = kLost;  // one of the four panels along
  EXPECT_EQ(reread_by_walk(walk, 1), 3 * kLost);
}

TEST(ProductWaves, ALargerCacheKeepsMore) {
  EXPECT_GT(*reread_by_walk(tiles_of(32, 4e6), 1), 0);
  EXPECT_EQ(*reread_by_walk(tiles_of(32, 4e6), 3), 0);
}

// 8192 x 5120 x 2048 of bfloat16 by nvjet_sm90_tst_320x128_64x3_1x2_h_bz_coopB_TNT, with 0, 8, 16 and 24 of 60 MiB of an H200's
// L2 set aside for others: what the same kernel reads in all.
TEST(ProductWaves, WhatIsLostIsLostForWantOfCache) {
  const TileWalk walk{.along = 26,
                      .across = 20,
                      .group = 16,
                      .blocks = 66,
                      .along_bytes = 320 * 2048 * 2.0,
                      .across_bytes = 256 * 2048 * 2.0,
                      .result_bytes = 320 * 256 * 2.0};
  const double once = (8192 + 5120) * 2048 * 2.0;
  const auto read = [&](double mib) { return once + reread_by_walk(walk, (60 - mib) / 60).value(); };
  EXPECT_NEAR(read(0), 132.2e6, 0.1 * 132.2e6);
  EXPECT_NEAR(read(8), 171.8e6, 0.1 * 171.8e6);
  EXPECT_NEAR(read(16), 192.5e6, 0.1 * 192.5e6);
  EXPECT_NEAR(read(24), 198.8e6, 0.1 * 198.8e6);
}

TEST(ProductWaves, TilesWithoutEndAreNotFollowed) {
  EXPECT_EQ(reread_by_walk({.along = 1e3, .across = 1e2, .blocks = 132, .along_bytes = 1, .across_bytes = 1}, 1), std::nullopt);
  EXPECT_EQ(reread_by_walk({.along = 4, .across = 4}, 1), std::nullopt);  // the trace does not tell the blocks
}

}  // namespace
}  // namespace ridge
