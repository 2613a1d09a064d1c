// What a convolution is described by, against counts by hand: its arithmetic and traffic by part, which library does it, what
// is turned or copied first, and what is a plain product.
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "predict/call_features.h"

namespace ridge {
namespace {

using Dims = std::vector<std::int64_t>;

struct ConvCall {
  Dims x, w;
  int stride = 1, padding = 0, dilation = 1, more = 0, groups = 1;
  bool transposed = false, bias = false;
  bool x_last = false, w_last = false;  // whether channels lie last
  std::string type = "c10::Half";
  bool tf32 = false, whole = true;
  Dims gradient = {};  // of the result: the backward pass
  std::string mask = "[True, True, False]";
};

std::string strides_of(const Dims& sizes, bool last) {
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), 0U);
  if (last) {
    order.erase(order.begin() + 1);
    order.push_back(1);
  }
  Dims strides(sizes.size(), 1);
  std::int64_t at = 1;
  for (std::size_t i = order.size(); i-- > 0;) strides[order[i]] = at, at *= sizes[order[i]];
  return fmt::format("[{}]", fmt::join(strides, ", "));
}

CallFeatures described(const ConvCall& c) {
  const auto list = [&](int value) { return fmt::format("\"[{}]\"", fmt::join(Dims(c.x.size() - 2, value), ", ")); };
  const auto dims = [](const Dims& sizes) { return fmt::format("[{}]", fmt::join(sizes, ", ")); };
  const std::string options = fmt::format(R"({}, {}, {}, "{}", {}, "{}")", list(c.stride), list(c.padding), list(c.dilation),
                                          c.transposed ? "True" : "False", list(c.more), c.groups);
  const std::string lists = R"("ScalarList", "ScalarList", "ScalarList", "Scalar", "ScalarList", "Scalar")";
  const std::string x = dims(c.x), w = dims(c.w), xs = strides_of(c.x, c.x_last), ws = strides_of(c.w, c.w_last);
  const std::string made = fmt::format("[{}]", c.w[0]);
  if (!c.gradient.empty())
    return features_of_call(
        parse_op_call("aten::convolution_backward",
                      fmt::format("[{}, {}, {}, [], [], [], [], [], [], [], []]", dims(c.gradient), x, w),
                      fmt::format(R"(["{0}", "{0}", "{0}", "ScalarList", {1}, "ScalarList"])", c.type, lists),
                      fmt::format("[{}, {}, {}, [], [], [], [], [], [], [], []]", strides_of(c.gradient, c.x_last), xs, ws),
                      fmt::format(R"(["", "", "", "{}", {}, "{}"])", made, options, c.mask)),
        c.tf32, 132, c.whole);
  return features_of_call(
      parse_op_call("aten::convolution", fmt::format("[{}, {}, {}, [], [], [], [], [], []]", x, w, c.bias ? made : "[]"),
                    fmt::format(R"(["{0}", "{0}", "{1}", {2}])", c.type, c.bias ? c.type : "", lists),
                    fmt::format("[{}, {}, {}, [], [], [], [], [], []]", xs, ws, c.bias ? "[1]" : "[]"),
                    fmt::format(R"(["", "", "", {}])", options)),
      c.tf32, 132, c.whole);
}
CallFeatures part_of(const ConvCall& c, std::string_view role = "forward") {
  for (const CallFeatures& part : described(c).parts) {
    if (part.role == role) return part;
  }
  return {};
}
bool has_part(const ConvCall& c, std::string_view role) { return part_of(c, role).role == role; }

// 8 images of 64 x 56 x 56 by 128 windows of 64 x 3 x 3, at every second position: 28 x 28 of them.
const ConvCall kEverySecond{.x = {8, 64, 56, 56}, .w = {128, 64, 3, 3}, .stride = 2, .padding = 1};
constexpr double kInputBytes = 2.0 * 8 * 64 * 56 * 56, kWeightBytes = 2.0 * 128 * 64 * 9,
                 kResultBytes = 2.0 * 8 * 128 * 28 * 28;

TEST(ConvolutionFeatures, ReadTwoTensorsAndWriteTheThird) {
  const OpWork forward = part_of(kEverySecond).work;
  EXPECT_DOUBLE_EQ(*forward.flops, 2.0 * 8 * 28 * 28 * 128 * 64 * 9);
  EXPECT_DOUBLE_EQ(*forward.read, kInputBytes + kWeightBytes);
  EXPECT_DOUBLE_EQ(*forward.written, kResultBytes);
  ConvCall backward = kEverySecond;
  backward.gradient = {8, 128, 28, 28};
  const OpWork input = part_of(backward, "input").work, weight = part_of(backward, "weight").work;
  EXPECT_DOUBLE_EQ(*input.read, kResultBytes + kWeightBytes);
  EXPECT_DOUBLE_EQ(*input.written, kInputBytes);
  EXPECT_DOUBLE_EQ(*weight.read, kInputBytes + kResultBytes);
  EXPECT_DOUBLE_EQ(*weight.written, kWeightBytes);
  EXPECT_DOUBLE_EQ(*input.flops, *forward.flops);
}

// Windows of one position at every second position of two dimensions meet a quarter of the input.
TEST(ConvolutionFeatures, WhatStridesPassOverIsNotRead) {
  const OpWork work = part_of({.x = {8, 64, 56, 56}, .w = {128, 64, 1, 1}, .stride = 2}).work;
  EXPECT_DOUBLE_EQ(*work.read, kInputBytes / 4 + 2.0 * 128 * 64);
}

// Sizes of results as PyTorch documents them for Conv2d and ConvTranspose2d.
TEST(ConvolutionFeatures, SizesOfResults) {
  const auto positions = [](const ConvCall& c) { return *part_of(c).work.written / (2.0 * 8 * 128); };
  EXPECT_DOUBLE_EQ(positions({.x = {8, 64, 56, 56}, .w = {128, 64, 3, 3}}), 54 * 54);
  EXPECT_DOUBLE_EQ(positions({.x = {8, 64, 56, 56}, .w = {128, 64, 3, 3}, .padding = 1}), 56 * 56);
  EXPECT_DOUBLE_EQ(positions({.x = {8, 64, 56, 56}, .w = {128, 64, 3, 3}, .dilation = 4}), 48 * 48);
  const ConvCall up{.x = {8, 64, 28, 28}, .w = {64, 128, 3, 3}, .stride = 2, .padding = 1, .transposed = true};
  EXPECT_DOUBLE_EQ(positions(up), 55 * 55);
  ConvCall whole = up;
  whole.more = 1;
  EXPECT_DOUBLE_EQ(positions(whole), 56 * 56);
}

TEST(ConvolutionFeatures, GroupsAreProductsOfTheirOwn) {
  const CallFeatures groups = part_of({.x = {8, 64, 56, 56}, .w = {128, 16, 3, 3}, .padding = 1, .groups = 4});
  EXPECT_DOUBLE_EQ(*groups.work.flops, 2.0 * 8 * 56 * 56 * 128 * 16 * 9);
  EXPECT_EQ(groups.kind, "convolution_forward");
}

// A channel by itself has nothing to multiply by: vector units do it, far below their peak. PyTorch takes cuDNN's kernels in
// float16 for usual windows over many channels, and its own otherwise and for gradients.
TEST(ConvolutionFeatures, AChannelByItselfIsNoMatrix) {
  const ConvCall usual{.x = {8, 64, 56, 56}, .w = {64, 1, 3, 3}, .padding = 1, .groups = 64};
  const CallFeatures by_cudnn = part_of(usual);
  EXPECT_EQ(by_cudnn.kind, "depthwise_forward");
  EXPECT_FALSE(by_cudnn.matrix);
  EXPECT_EQ(by_cudnn.turned_bytes, 0);
  EXPECT_TRUE(part_of(kEverySecond).matrix);
  ConvCall other = usual, dilated = usual, few = usual, wide = usual, gradient = usual;
  other.type = "c10::BFloat16";
  dilated.dilation = 2;
  few = {.x = {8, 16, 56, 56}, .w = {16, 1, 3, 3}, .padding = 1, .groups = 16};
  wide.w = {64, 1, 7, 7};
  const double own = part_of(other).reached;
  EXPECT_LT(own, by_cudnn.reached);
  EXPECT_LT(by_cudnn.reached, 1);
  EXPECT_EQ(part_of(dilated).reached, own);
  EXPECT_EQ(part_of(few).reached, own);
  EXPECT_EQ(part_of(wide).reached, own);
  gradient.gradient = {8, 64, 56, 56};
  EXPECT_EQ(part_of(gradient, "input").reached, own);
  EXPECT_EQ(part_of(gradient, "input").kind, "depthwise_input");
}

// Tensor cores want channels last.
TEST(ConvolutionFeatures, AreTurnedForTensorCores) {
  const auto turned = [](ConvCall c) { return part_of(c).turned_bytes > 0; };
  ConvCall c = kEverySecond;
  EXPECT_TRUE(turned(c));
  c.x_last = c.w_last = true;
  EXPECT_FALSE(turned(c)) << "they lie so";
  c = kEverySecond;
  c.type = "float";
  EXPECT_FALSE(turned(c)) << "vector units take any order";
  c.tf32 = true;
  EXPECT_TRUE(turned(c));
  EXPECT_FALSE(turned({.x = {8, 64, 56, 56}, .w = {128, 64, 1, 1}})) << "a product of each image";
}

// The order of the input or of the weight decides; what lies otherwise is copied first, which in a trace is a call of its own.
TEST(ConvolutionFeatures, OneTensorInTheOtherOrderIsCopied) {
  ConvCall c = kEverySecond;
  EXPECT_FALSE(has_part(c, "turned"));
  c.w_last = true;
  EXPECT_TRUE(has_part(c, "turned"));
  EXPECT_EQ(part_of(c).turned_bytes, 0);
  c.whole = false;
  EXPECT_FALSE(has_part(c, "turned"));
  c = kEverySecond;
  c.x_last = true;
  EXPECT_FALSE(has_part(c, "turned"));
  EXPECT_EQ(part_of(c).turned_bytes, 0);
}

TEST(ConvolutionFeatures, APlainProductIsAWindowOfOnePosition) {
  const auto is_product = [](ConvCall c) {
    c.x_last = c.w_last = true;
    return part_of(c).kind == "product";
  };
  EXPECT_TRUE(is_product({.x = {8, 64, 56, 56}, .w = {128, 64, 1, 1}}));
  EXPECT_FALSE(is_product({.x = {8, 64, 56, 56}, .w = {128, 64, 1, 1}, .stride = 2}));
  EXPECT_FALSE(is_product({.x = {8, 64, 56, 56}, .w = {128, 64, 1, 1}, .padding = 1}));
  EXPECT_FALSE(is_product({.x = {8, 64, 56, 56}, .w = {128, 16, 1, 1}, .groups = 4}));
  EXPECT_FALSE(is_product({.x = {8, 64, 4000}, .w = {128, 64, 1}})) << "sequences have no such order";
}

// ATen's kernels for a channel by itself add the bias as they go; in a trace its addition is a call of its own.
TEST(ConvolutionFeatures, ABiasIsAddedByAnOpOfItsOwn) {
  ConvCall c = kEverySecond;
  EXPECT_FALSE(has_part(c, "bias"));
  c.bias = true;
  EXPECT_TRUE(has_part(c, "bias"));
  c.whole = false;
  EXPECT_FALSE(has_part(c, "bias"));
  EXPECT_FALSE(has_part({.x = {8, 64, 56, 56}, .w = {64, 1, 3, 3}, .groups = 64, .bias = true}, "bias"));
}

}  // namespace
}  // namespace ridge
