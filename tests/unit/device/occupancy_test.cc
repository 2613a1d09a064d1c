// Blocks that a multiprocessor holds, by hand.
#include "device/occupancy.h"

#include <gtest/gtest.h>

#include "device/device_table.h"

namespace ridge {
namespace {

std::optional<std::int64_t> held(std::int64_t major, std::int64_t minor, const BlockNeeds& block) {
  return resident_blocks(multiprocessor_limits(major, minor).value(), block);
}

TEST(Occupancy, ThreadsBlocksRegistersAndSharedMemoryEachLimit) {
  EXPECT_EQ(held(9, 0, {128, 16, 0}), 16);       // 2048 threads
  EXPECT_EQ(held(9, 0, {32, 16, 0}), 32);        // 32 blocks
  EXPECT_EQ(held(7, 5, {32, 16, 0}), 16);        // 16 blocks
  EXPECT_EQ(held(9, 0, {128, 32, 0}), 16);       // 64 warps of 1,024 registers
  EXPECT_EQ(held(9, 0, {384, 168, 0}), 1);       // 5376 registers a warp: 3 for each scheduler, 12 in all
  EXPECT_EQ(held(9, 0, {128, 33, 0}), 12);       // 33 x 32 are given out as 1,280: 12 warps for each scheduler
  EXPECT_EQ(held(8, 0, {256, 32, 49152}), 3);    // 164 KiB, 49 KiB each
  EXPECT_EQ(held(7, 0, {256, 32, 49152}), 2);    // 96 KiB, nothing kept
  EXPECT_EQ(held(9, 0, {384, 168, 232448}), 1);  // all that a block can have
  EXPECT_EQ(held(8, 9, {1024, 32, 0}), 1);       // 1536 threads
}

// Threads, registers and shared memory of launches on an H200, with the blocks of ncu's theoretical occupancy: products,
// convolutions, attention, sorts, norms, reductions, elementwise.
TEST(Occupancy, IsThatOfNsightCompute) {
  struct Counted {
    BlockNeeds block;
    std::int64_t blocks;
  };
  constexpr Counted kCounted[] = {
      {{128, 32, 0}, 16},     {{512, 32, 2064}, 4},    {{128, 54, 2064}, 9},    {{1024, 30, 128}, 2},  {{128, 39, 24}, 12},
      {{128, 18, 0}, 16},     {{384, 168, 231424}, 1}, {{384, 168, 134144}, 1}, {{64, 32, 0}, 32},     {{64, 16, 0}, 32},
      {{128, 195, 33808}, 2}, {{512, 32, 4096}, 4},    {{256, 20, 1024}, 8},    {{288, 55, 16144}, 4}, {{80, 39, 6656}, 16},
      {{384, 40, 33792}, 4},  {{256, 51, 0}, 4},       {{512, 40, 6145}, 3},    {{128, 38, 0}, 12},    {{1024, 32, 12288}, 2},
  };
  for (const Counted& c : kCounted)
    EXPECT_EQ(held(9, 0, c.block), c.blocks) << c.block.threads << " " << c.block.registers_per_thread;
}

TEST(Occupancy, WhatDoesNotFitIsNoneAndWhatIsNoLaunchIsNothing) {
  EXPECT_EQ(held(8, 6, {1024, 255, 0}), 0);
  EXPECT_EQ(held(9, 0, {128, 32, 300000}), 0);
  EXPECT_EQ(held(9, 0, {0, 32, 0}), std::nullopt);
  EXPECT_EQ(held(9, 0, {2048, 32, 0}), std::nullopt);
  EXPECT_EQ(held(9, 0, {128, -1, 0}), std::nullopt);
}

TEST(Occupancy, EveryDeviceOfNvidiaHasLimits) {
  for (const DeviceRow& row : device_rows())
    EXPECT_EQ(multiprocessor_limits(row.spec.name).has_value(), row.spec.vendor == "NVIDIA") << row.spec.name;
  EXPECT_EQ(multiprocessor_limits("no such device"), std::nullopt);
}

}  // namespace
}  // namespace ridge
