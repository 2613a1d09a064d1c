// How elementwise kernels go over tensors, by hand: what PyTorch's iterator makes of layouts that programs have.
#include "predict/walk.h"

#include <gtest/gtest.h>

namespace ridge::features {
namespace {

OpArgument tensor(std::vector<std::int64_t> sizes, std::vector<std::int64_t> strides, DType dtype = DType::f32) {
  OpArgument argument;
  argument.kind = OpArgument::Kind::tensor;
  argument.tensor = {std::move(sizes), std::move(strides), dtype};
  return argument;
}

Walk walk(std::string_view op, std::vector<OpArgument> arguments, std::string_view kind = "pointwise") {
  OpCall call;
  call.op = op;
  call.arguments = std::move(arguments);
  call.has_shapes = true;
  std::string_view name = op.substr(6);
  if (name.ends_with('_')) name.remove_suffix(1);
  const auto found = walk_of(call, name, kind, 4);
  EXPECT_TRUE(found.has_value());
  return found.value_or(Walk());
}

TEST(Walk, TensorsThatLieAlikeAreOneRow) {
  const Walk dense = walk("aten::add", {tensor({8, 64, 32, 32}, {65536, 1024, 32, 1}), tensor({8, 64, 32, 32}, {})});
  EXPECT_TRUE(dense.plain);
  EXPECT_EQ(dense.tensors, 3) << "two are read, one is written";
  EXPECT_EQ(dense.moved_bytes, 3.0 * 4 * 8 * 64 * 32 * 32);
  // Channels last, both of them.
  EXPECT_TRUE(
      walk("aten::add", {tensor({8, 64, 32, 32}, {65536, 1, 2048, 64}), tensor({8, 64, 32, 32}, {65536, 1, 2048, 64})}).plain);
}

// A part of a wider tensor whose channels lie last: images of 160 channels in one of 192. The result takes the order of the
// first; what is left are two dimensions, and no byte is moved in vain.
TEST(Walk, APartOfAWiderTensorHasTwoDimensions) {
  const Walk found = walk(
      "aten::add", {tensor({64, 160, 80, 80}, {1228800, 1, 15360, 192}), tensor({64, 160, 80, 80}, {1024000, 1, 12800, 160})});
  EXPECT_FALSE(found.plain);
  EXPECT_EQ(found.dims, 2);
  EXPECT_EQ(found.inner, 160);
  EXPECT_LT(found.by_blocks, 1.1);
}

// A transposing copy writes in order, and reads one element of each sector.
TEST(Walk, ATurnedTensorIsReadSectorBySector) {
  const Walk found = walk("aten::copy_", {tensor({1024, 4096}, {4096, 1}), tensor({1024, 4096}, {1, 1024})}, "copy");
  EXPECT_FALSE(found.plain);
  EXPECT_EQ(found.dims, 2);
  EXPECT_EQ(found.tensors, 2);
  EXPECT_NEAR(found.by_warps, 4.5, 0.01) << "one of the two tensors eight times";
}

TEST(Walk, WhatIsBroadcastIsReadOnce) {
  const Walk found = walk("aten::mul", {tensor({4096, 1024}, {1024, 1}), tensor({4096, 1}, {1, 1})});
  EXPECT_FALSE(found.plain);
  EXPECT_EQ(found.dims, 2);
  EXPECT_LT(found.by_blocks, 0.75) << "two of three tensors move";
  const Walk scalar = walk("aten::mul", {tensor({4096, 1024}, {1024, 1}), tensor({}, {})});
  EXPECT_TRUE(scalar.plain) << "a number is no tensor that is walked";
}

TEST(Walk, AnOpInPlaceKeepsItsOrder) {
  // The result is the first tensor: its order decides, and the second is read turned.
  const Walk found = walk("aten::add_", {tensor({512, 512}, {512, 1}), tensor({512, 512}, {1, 512})});
  EXPECT_GT(found.by_warps, 2.0);
  EXPECT_EQ(found.tensors, 3);
}

TEST(Walk, NothingOfOtherOps) {
  OpCall call;
  call.op = "aten::sum";
  call.arguments = {tensor({4, 4}, {})};
  EXPECT_FALSE(walk_of(call, "sum", "reduction", 4).has_value());
  call.op = "aten::add";
  call.arguments = {tensor({0, 4}, {})};
  EXPECT_FALSE(walk_of(call, "add", "pointwise", 4).has_value()) << "without elements there is no walk";
}

TEST(Walk, DimensionsByTheirStrides) {
  const StrideOrder order = sorted_by_strides({{8, 64, 32, 16}, {32768, 1, 1024, 64}, DType::f32});
  EXPECT_EQ(order.sizes, (std::vector<std::int64_t>{8, 32, 16, 64}));
  EXPECT_EQ(order.place_of, (std::vector<std::int64_t>{0, 3, 1, 2}));
}

TEST(Walk, PiecesOfAListThatIsJoined) {
  const TensorShape a{{4, 32, 8, 8}, {2048, 1, 256, 32}, DType::bf16}, b{{4, 20, 8, 8}, {1280, 1, 160, 20}, DType::bf16};
  const Joined last = joined_of({a, b}, 1, false, 2);
  EXPECT_TRUE(last.channels_last);
  EXPECT_FALSE(last.dense);
  EXPECT_EQ(last.shortest_bytes, 40) << "the channels of one position";
  EXPECT_EQ(last.alignment, 3) << "eight bytes";
  const Joined rows = joined_of({{{4, 8}, {8, 1}, DType::f32}, {{2, 8}, {8, 1}, DType::f32}}, 0, false, 4);
  EXPECT_TRUE(rows.dense);
  EXPECT_EQ(rows.shortest_bytes, 64);
}

}  // namespace
}  // namespace ridge::features
