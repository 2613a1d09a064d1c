// Configurations of products by Triton: which there are, and in which order they are expected to be.
#include "predict/tile_features.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "predict/expected_time.h"
#include "predict/op_lines.h"

namespace ridge {
namespace {

TEST(TileFeatures, WhatInductorTries) {
  const TritonProduct large{2048, 1024, 4096, false, false, DType::bf16};
  const auto tiles = inductor_tiles(large);
  EXPECT_EQ(tiles.size(), 20U);
  EXPECT_EQ(tiles.front(), (TritonTile{32, 32, 16, 2, 1}));
  EXPECT_EQ(tiles.back(), (TritonTile{128, 128, 128, 8, 4}));
  EXPECT_EQ(tiles_of(large, tiles.front()), 64 * 32);
  EXPECT_EQ(shared_bytes(large, {64, 64, 16, 4, 2}), 8192);
  // Tiles are no larger than the product, and no two are the same then; a warp has 256 elements at least.
  const auto small = inductor_tiles({9, 4096, 40, false, true, DType::bf16});
  EXPECT_LT(small.size(), 20U);
  for (const TritonTile& tile : small) {
    EXPECT_EQ(tile.m, 16);
    EXPECT_LE(tile.k, 64);
    EXPECT_LE(tile.warps, tile.m * tile.n / 256);
  }
}

TEST(TileFeatures, ProductsOfLines) {
  const auto lines = read_op_lines(
      R"({"op": "aten::addmm", "shapes": [[512], [64, 96], [96, 512]], "strides": [[1], [1, 64], [1, 96]], "dtypes": "float16", "config": "inductor"})",
      "x");
  ASSERT_TRUE(lines.has_value());
  const OpLine& line = lines->front();
  ASSERT_TRUE(line.product.has_value());
  EXPECT_EQ(line.product->m, 64);
  EXPECT_EQ(line.product->n, 512);
  EXPECT_EQ(line.product->k, 96);
  EXPECT_TRUE(line.product->a_turned && line.product->b_turned);
  EXPECT_GE(line.tiles.size(), 8U);
  for (
      const std::string_view bad : {
          R"({"op": "mm", "shapes": [[8, 8], [8, 8]], "dtypes": "float16", "config": "all"})",
          R"({"op": "mm", "shapes": [[8, 8], [8, 8]], "dtypes": "float16", "config": {"BLOCK_M": 64}})",
          R"({"op": "mm", "shapes": [[8, 8], [8, 8]], "dtypes": "float16", "config": {"BLOCK_M": 63, "BLOCK_N": 64, "BLOCK_K": 64, "num_warps": 4, "num_stages": 3}})",
          R"({"op": "mm", "shapes": [[8, 8], [8, 8]], "dtypes": "float16", "config": {"BLOCK_M": 65536, "BLOCK_N": 64, "BLOCK_K": 64, "num_warps": 4, "num_stages": 3}})",
          R"({"op": "relu", "shapes": [[8, 8]], "dtypes": "float16", "config": "inductor"})",
      }) {
    const auto refused = read_op_lines(bad, "x");
    ASSERT_FALSE(refused.has_value()) << bad;
    EXPECT_NE(refused.error().message.find("'config'"), std::string::npos) << refused.error().message;
  }
}

// As measured on an H200: 2048 x 4096 x 1024 in bfloat16 takes 24 us in tiles of 128 x 128 and over 150 us in those of 32 x 32.
TEST(TileFeatures, TheTableTellsFastFromSlow) {
  const TritonProduct product{2048, 1024, 4096, false, false, DType::bf16};
  const DeviceSpec& device = **find_device("NVIDIA H200");
  const auto time = [&](const TritonTile& tile) {
    std::string why;
    const auto told = expected_time(features_of_tile(product, tile, false, 132), device, nullptr, &why);
    EXPECT_TRUE(told.has_value()) << why;
    return told ? told->ns : 0;
  };
  const double fast = time({128, 128, 64, 8, 5}), slow = time({32, 32, 16, 2, 1});
  EXPECT_GT(fast, 17'000) << "its roof";
  EXPECT_LT(fast, 2 * 24'400);
  EXPECT_GT(slow, 3 * fast);
  EXPECT_TRUE(features_of_tile({64, 64, 64, false, false, DType::f32}, {64, 64, 32, 4, 2}, false, 132).kind.empty())
      << "float32 without TF32 was not measured";
}

}  // namespace
}  // namespace ridge
