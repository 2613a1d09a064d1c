// The order of an optimizer's tensors: sizes and launches as an H200 recorded them.
#include "replay/list_order.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace ridge {
namespace {

constexpr int kAdam = 36;  // tensors of a launch over four lists

// Chunks in the order of gradients, the last first.
const std::vector<std::int64_t> kSessions = {1, 1, 1, 1, 1, 1, 1, 1, 1, 4, 1, 1, 1, 1, 1, 1, 2, 1, 1, 1, 1, 1, 4,
                                             1, 4, 1, 1, 1, 1, 2, 1, 1, 1, 1, 1, 4, 1, 4, 1, 1, 1, 1, 4, 2, 1, 782};
const std::vector<std::int64_t> kRan = {320, 320, 193, 15};

std::vector<std::int64_t> chunks_over(const std::vector<double>& sizes) {
  std::vector<std::int64_t> out;
  for (const double size : sizes) out.push_back(static_cast<std::int64_t>(chunks_of(size)));
  return out;
}

TEST(ListOrder, ALaunchIsFullOfBlocksOrOfTensors) {
  EXPECT_EQ(launches_over({782}, kAdam), (std::vector<std::int64_t>{320, 320, 142}));
  EXPECT_EQ(launches_over(std::vector<std::int64_t>(40, 1), kAdam), (std::vector<std::int64_t>{36, 4}));
  // What is left of the tensor that filled the first launch is a tensor of the second.
  std::vector<std::int64_t> cut = {321};
  cut.insert(cut.end(), 40, 1);
  EXPECT_EQ(launches_over(cut, kAdam), (std::vector<std::int64_t>{320, 36, 5}));
  EXPECT_EQ(launches_over({}, kAdam), std::vector<std::int64_t>());
  EXPECT_EQ(most_tensors("multi_tensor_apply_kernel<at::native::FusedOptimizerTensorListMetadata<4>, x>"), kAdam);
  for (const char* other :
       {"TensorListMetadata<4>", "FusedOptimizerTensorListMetadata<", "FusedOptimizerTensorListMetadata<9>"})
    EXPECT_EQ(most_tensors(other), 0) << other;
}

TEST(ListOrder, ExchangesTensorsUntilTheLaunchesAreThoseOfTheTrace) {
  std::vector<double> sizes;
  for (const std::int64_t chunks : kSessions) sizes.push_back(65536.0 * static_cast<double>(chunks) - 7);
  ASSERT_NE(launches_over(kSessions, kAdam), kRan);
  std::vector<double> ordered = order_for(sizes, kRan, kAdam);
  EXPECT_EQ(launches_over(chunks_over(ordered), kAdam), kRan);
  EXPECT_EQ(order_for(sizes, {1, 2, 3}, kAdam), sizes) << "no order gives these";
  EXPECT_EQ(order_for(sizes, kRan, 0), sizes) << "another kernel";
  EXPECT_EQ(order_for({1e300, 5}, kRan, kAdam), (std::vector<double>{1e300, 5})) << "no tensor of a device";
  std::ranges::sort(ordered);
  std::ranges::sort(sizes);
  EXPECT_EQ(ordered, sizes) << "the same tensors";
}

}  // namespace
}  // namespace ridge
