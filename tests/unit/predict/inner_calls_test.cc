// What ops leave to others: who asks about the op alone is told the sum, a trace's call is of its own launches.
#include "predict/inner_calls.h"

#include <gtest/gtest.h>

#include "predict/expected_time.h"
#include "predict/op_lines.h"

namespace ridge {
namespace {

struct WholeAndOwn {
  CallFeatures whole, own;
};

WholeAndOwn whole_and_own(std::string_view json) {
  auto lines = read_op_lines(json, "x");
  EXPECT_TRUE(lines.has_value()) << json;
  static std::vector<std::vector<OpLine>> kept;  // the features point into the lines
  kept.push_back(std::move(*lines));
  const OpCall& call = kept.back().front().call;
  return {features_of_call(call, false, 132), features_of_call(call, false, 132, false)};
}

double ns_of_features(const CallFeatures& call) {
  std::string why;
  const auto time = expected_time(call, **find_device("NVIDIA H200"), nullptr, &why);
  EXPECT_TRUE(time.has_value()) << why;
  return time ? time->ns : 0;
}

// The gradient of a loss over a vocabulary is nearly all zeros: 805 MB, which alone take 168 us at the memory's peak.
TEST(InnerCalls, TheGradientOfALossFillsZerosFirst) {
  const WholeAndOwn call = whole_and_own(
      R"({"op": "aten::nll_loss_backward", "shapes": [[], [4096, 49152], [4096], [], [], [], []], "dtypes": ["float32", "float32", "int64", "", "Scalar", "Scalar", "float32"]})");
  ASSERT_EQ(call.whole.parts.size(), 2U);
  EXPECT_EQ(call.whole.parts[0].role, "own");
  EXPECT_EQ(call.whole.parts[1].op, "fill");
  EXPECT_TRUE(call.own.parts.empty());
  EXPECT_GT(ns_of_features(call.whole), 160e3);
  EXPECT_LT(ns_of_features(call.whole), 230e3);
  EXPECT_LT(ns_of_features(call.own), 40e3) << "of a trace only the kernel that writes one element of each row";
}

TEST(InnerCalls, ANormOfTurnedRowsCopiesThemFirst) {
  constexpr std::string_view kDense =
      R"({"op": "aten::native_layer_norm", "shapes": [[32, 256, 768], [768], [768]], "dtypes": "float32", "strides": [[196608, 768, 1], [1], [1]]})";
  constexpr std::string_view kTurned =
      R"({"op": "aten::native_layer_norm", "shapes": [[32, 256, 768], [768], [768]], "dtypes": "float32", "strides": [[196608, 1, 256], [1], [1]]})";
  const WholeAndOwn dense = whole_and_own(kDense), turned = whole_and_own(kTurned);
  EXPECT_TRUE(dense.whole.parts.empty());
  ASSERT_EQ(turned.whole.parts.size(), 2U);
  EXPECT_EQ(turned.whole.parts[1].op, "copy");
  EXPECT_EQ(turned.whole.parts[0].values, dense.whole.values) << "the norm itself sees the copy";
  EXPECT_GT(ns_of_features(turned.whole), 1.5 * ns_of_features(dense.whole));
}

TEST(InnerCalls, AnOpWithoutUnderscoreWritesIntoACopy) {
  const WholeAndOwn made = whole_and_own(
      R"({"op": "aten::masked_fill", "shapes": [[64, 1024, 1024], [1024, 1024], []], "dtypes": ["float32", "bool", "Scalar"]})");
  const WholeAndOwn in_place = whole_and_own(
      R"({"op": "aten::masked_fill_", "shapes": [[64, 1024, 1024], [1024, 1024], []], "dtypes": ["float32", "bool", "Scalar"]})");
  ASSERT_EQ(made.whole.parts.size(), 2U);
  EXPECT_TRUE(in_place.whole.parts.empty());
  EXPECT_GT(ns_of_features(made.whole), ns_of_features(in_place.whole) + 100e3) << "268 MB are read and written once more";
}

TEST(InnerCalls, TheGradientOfASliceIsZerosAndACopy) {
  const WholeAndOwn call = whole_and_own(
      R"({"op": "aten::slice_backward", "shapes": [[64, 1024, 256], [], [], [], [], []], "dtypes": ["float32", "ScalarList", "Scalar", "Scalar", "Scalar", "Scalar"], "concrete": ["", "[64, 1024, 1024]", "2", "0", "256", "1"]})");
  ASSERT_EQ(call.whole.parts.size(), 2U);
  EXPECT_GT(ns_of_features(call.whole), 268e6 / 4.9e12 * 1e9);
  EXPECT_TRUE(call.own.kind.empty()) << "itself it launches nothing";
}

// Neither of a factor's two dimensions lies dense, as where channels are made the batch: each is copied, 84 us on an H200.
TEST(InnerCalls, AFactorThatNoLibraryReadsIsCopiedFirst) {
  const WholeAndOwn scattered = whole_and_own(
      R"({"op": "aten::bmm", "shapes": [[192, 256, 256], [192, 256, 256]], "dtypes": "bfloat16", "strides": [[1, 98304, 384], [1, 384, 98304]]})");
  const WholeAndOwn turned = whole_and_own(
      R"({"op": "aten::bmm", "shapes": [[192, 256, 256], [192, 256, 256]], "dtypes": "bfloat16", "strides": [[65536, 1, 256], [65536, 256, 1]]})");
  EXPECT_TRUE(turned.whole.parts.empty()) << "the library reads it as it lies";
  ASSERT_EQ(scattered.whole.parts.size(), 3U);
  EXPECT_EQ(scattered.whole.parts[1].op, "copy");
  EXPECT_EQ(scattered.whole.parts[2].op, "copy");
  EXPECT_EQ(scattered.own.values, scattered.whole.parts[0].values) << "in a trace the product sees the copies";
  EXPECT_GT(ns_of_features(scattered.whole), 120e3);
  EXPECT_LT(ns_of_features(scattered.own), 40e3);
  const WholeAndOwn row = whole_and_own(
      R"({"op": "aten::mm", "shapes": [[1, 256], [256, 64]], "dtypes": "bfloat16", "strides": [[1, 1], [64, 1]]})");
  EXPECT_TRUE(row.whole.parts.empty()) << "one row goes past nothing";
}

TEST(InnerCalls, ANormOfVeryManyRowsLeavesSumsToOthers) {
  constexpr std::string_view kEnd =
      R"("dtypes": ["float32", "float32", "ScalarList", "float32", "float32", "float32", "float32", ""], "concrete": ["", "", "[192]", "", "", "", "", "[True, True, True]"]})";
  const auto of_rows = [&](std::string_view rows) {
    const std::string n(rows);
    return whole_and_own(R"({"op": "aten::native_layer_norm_backward", "shapes": [[)" + n + ", 192], [" + n + ", 192], [], [" +
                         n + ", 1], [" + n + ", 1], [192], [192], []], " + std::string(kEnd));
  };
  const WholeAndOwn many = of_rows("76800"), few = of_rows("49152");
  EXPECT_TRUE(few.whole.parts.empty());
  ASSERT_EQ(many.whole.parts.size(), 3U) << "of the weight and of the bias";
  EXPECT_EQ(many.whole.parts[1].op, "sum");
}

TEST(InnerCalls, AVolumeWhoseChannelsLieLastIsNormedInFloat32) {
  constexpr std::string_view kRest =
      R"("dtypes": ["bfloat16", "float32", "float32", "float32", "float32", "", "", ""], "concrete": ["", "", "", "", "", "True", "0.1", "1e-05"]})";
  const auto lying = [&](std::string_view strides) {
    return whole_and_own(
        R"({"op": "aten::native_batch_norm", "shapes": [[6, 96, 12, 32, 32], [96], [96], [96], [96], [], [], []], "strides": [)" +
        std::string(strides) + ", [1], [1], [1], [1], [], [], []], " + std::string(kRest));
  };
  EXPECT_TRUE(lying("[1179648, 12288, 1024, 32, 1]").whole.parts.empty());
  const WholeAndOwn last = lying("[1179648, 1, 98304, 3072, 96]");
  ASSERT_EQ(last.whole.parts.size(), 2U);
  EXPECT_EQ(last.whole.parts[1].op, "copy");
  EXPECT_NEAR(ns_of_features(last.whole), 135e3, 40e3) << "132 to 139 us on an H200";
}

// 261 us on an H200: 155 for int64 of what was flags, eight times as many bytes, and 107 to sum those.
TEST(InnerCalls, FlagsAreCopiedIntoIntegersBeforeTheyAreSummed) {
  constexpr std::string_view kRest = R"("shapes": [[16384, 16, 192], [], [], []], "concrete": ["", "[1]", "True", ""]})";
  const auto summed = [&](std::string_view type) {
    return whole_and_own(R"({"op": "aten::sum", "dtypes": [")" + std::string(type) + R"(", "", "", ""], )" +
                         std::string(kRest));
  };
  const WholeAndOwn flags = summed("bool"), integers = summed("int64");
  EXPECT_TRUE(integers.whole.parts.empty());
  EXPECT_TRUE(summed("bfloat16").whole.parts.empty()) << "summed in float32 where it lies";
  ASSERT_EQ(flags.whole.parts.size(), 2U);
  EXPECT_EQ(flags.whole.parts[1].op, "copy");
  EXPECT_EQ(flags.own.values, integers.whole.values) << "the sum itself sees the copy";
  EXPECT_NEAR(ns_of_features(flags.whole), 261e3, 50e3);
  EXPECT_NEAR(ns_of_features(flags.own), 107e3, 25e3);
}

TEST(InnerCalls, WhatIsSummedInAnotherTypeIsCopiedFirst) {
  const auto summed = [&](std::string_view code) {  // c10::ScalarType: 4 int64, 6 float32, 7 float64
    return whole_and_own(
               R"({"op": "aten::sum", "shapes": [[4096, 4096], [], [], []], "dtypes": ["float32", "", "", ""], "concrete": ["", "[1]", "False", ")" +
               std::string(code) + R"("]})")
        .whole.parts.size();
  };
  EXPECT_EQ(summed(""), 0U);
  EXPECT_EQ(summed("6"), 0U);
  EXPECT_EQ(summed("7"), 2U);
}

// 73 us on an H200: 15 to fill the whole, and 58 for rows that no longer lie one behind the other.
TEST(InnerCalls, PaddingFillsTheWholeAndCopiesIntoIt) {
  const auto padded = [&](std::string_view pads) {
    return whole_and_own(
        R"({"op": "aten::constant_pad_nd", "shapes": [[40, 384, 1536], [], []], "dtypes": ["bfloat16", "", ""], "strides": [[589824, 1536, 1], [], []], "concrete": ["", ")" +
        std::string(pads) + R"(", "0."]})");
  };
  const WholeAndOwn call = padded("[2, 0]");
  ASSERT_EQ(call.whole.parts.size(), 2U);
  EXPECT_EQ(call.whole.parts[0].op, "fill");
  EXPECT_EQ(call.whole.parts[1].op, "copy");
  EXPECT_NEAR(ns_of_features(call.whole), 73e3, 12e3);
  EXPECT_TRUE(padded("[-2, 0]").whole.parts.empty()) << "what is only cut off is not filled";
  EXPECT_EQ(padded("[1, 1, 1, 1, 1, 1, 1, 1]").whole.parts.size(), 0U) << "more dimensions than the tensor has";
}

// 350 us on an H200, where one pass over the rows would be 60.
TEST(InnerCalls, TheLogarithmOfASumIsOtherOpsAltogether) {
  const WholeAndOwn call = whole_and_own(
      R"({"op": "aten::logsumexp", "shapes": [[6, 640, 12288], [], []], "dtypes": ["float32", "", ""], "strides": [[7864320, 12288, 1], [], []], "concrete": ["", "[-1]", "False"]})");
  ASSERT_EQ(call.whole.parts.size(), 9U);
  EXPECT_EQ(call.whole.parts[0].op, "amax");
  EXPECT_NEAR(ns_of_features(call.whole), 350e3, 50e3);
}

}  // namespace
}  // namespace ridge
