// The table of expected times by hand-made trees with known answers, and what the built-in one says of well-known work.
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "predict/expected_table.h"
#include "predict/expected_time.h"
#include "predict/op_lines.h"

namespace ridge {
namespace {

CallFeatures features_of(std::string_view json) {
  auto lines = read_op_lines(json, "x");
  static std::vector<std::vector<OpLine>> kept;  // the features point into the lines
  kept.push_back(std::move(*lines));
  return features_of_call(kept.back().front().call, kept.back().front().tf32.value_or(false), 132);
}

std::optional<ExpectedTime> expected(std::string_view json, const DeviceSpec& device, const MeasuredPoints* own = nullptr) {
  std::string why;
  return expected_time(features_of(json), device, own, &why);
}

const DeviceSpec& h200() { return **find_device("NVIDIA H200"); }

constexpr std::string_view kProduct =
    R"({"op": "aten::mm", "shapes": [[4096, 4096], [4096, 4096]], "dtypes": ["bfloat16", "bfloat16"]})";

// |ii is 0 and |is ten units.
constexpr std::string_view kTable = R"(# by hand
device NVIDIA H200
source by hand
kind product
start 0.5
unit 0.01
ops mm addmm
cuts 6 5
cuts 27 0.5
spread 12 -0.1 0.2 30
spread 99 -0.3 0.4 40
tree 60|ii|is
tree R0|ii|is
)";

CallFeatures by_hand(float sixth, std::string_view op) {
  CallFeatures call;
  call.kind = "product";
  call.op = op;
  call.values.assign(27, 0);
  call.values[6] = sixth;
  return call;
}

TEST(ExpectedTable, SumsTheLeavesOfItsTrees) {
  const auto table = ExpectedTable::read(kTable);
  ASSERT_TRUE(table.has_value());
  EXPECT_EQ(table->device(), "NVIDIA H200");
  const auto small = table->factor(by_hand(5, "mm"), 1000);
  ASSERT_TRUE(small.has_value());
  EXPECT_NEAR(std::log(small->factor), 0.5, 1e-6) << "at the cut: the left leaf";
  EXPECT_NEAR(std::log(small->low / small->factor), -0.1, 1e-6);
  EXPECT_EQ(small->points, 30);
  const auto large = table->factor(by_hand(6, "addmm"), 1e9);
  ASSERT_TRUE(large.has_value());
  EXPECT_NEAR(std::log(large->factor), 0.7, 1e-6) << "the right leaf of both: by the sixth feature, and by the op's code";
  EXPECT_NEAR(std::log(large->high / large->factor), 0.4, 1e-6);
  EXPECT_EQ(large->points, 40);
}

TEST(ExpectedTable, SaysWhatItDoesNotKnow) {
  const auto table = ExpectedTable::read(kTable);
  ASSERT_TRUE(table.has_value());
  EXPECT_FALSE(table->factor(by_hand(5, "linear"), 1000)->op_known);
  CallFeatures other = by_hand(5, "mm");
  other.kind = "fft";
  EXPECT_FALSE(table->factor(other, 1000).has_value());
}

TEST(ExpectedTable, RefusesBadLines) {
  for (const std::string_view bad :
       {"tree 60|ii|is\n", "kind x\ntree 00|ii|is\n", "kind x\ncuts 0 1\ntree 00|ii\n", "kind x\nunit y\n", "kind x\nwhat\n",
        "kind x\ncuts 0 1\ntree 09|ii|ii\n", "kind x\ncuts 0 1\ntree |ii|ii\n"}) {
    EXPECT_FALSE(ExpectedTable::read(bad).has_value()) << bad;
  }
}

TEST(ExpectedTable, TheBuiltInOneIsWhole) {
  const ExpectedTable& table = ExpectedTable::built_in();
  EXPECT_EQ(table.device(), "NVIDIA H200");
  EXPECT_FALSE(table.source().empty());
  for (const std::string_view kind : {"product",
                                      "convolution_forward",
                                      "convolution_input",
                                      "convolution_weight",
                                      "depthwise_forward",
                                      "depthwise_input",
                                      "depthwise_weight",
                                      "attention",
                                      "attention_backward",
                                      "pointwise",
                                      "copy",
                                      "reduction",
                                      "softmax",
                                      "norm",
                                      "norm_backward",
                                      "gather",
                                      "loss",
                                      "optimizer",
                                      "pooling",
                                      "sort",
                                      "triton_pointwise",
                                      "triton_reduction",
                                      "triton_persistent_reduction"}) {
    CallFeatures call;
    call.kind = kind;
    EXPECT_TRUE(table.factor(call, 1000).has_value()) << kind;
  }
}

// 137 GFLOP at 989 TFLOP/s are 139 us; cuBLAS reaches 600 to 800 TFLOP/s.
TEST(ExpectedTime, OfALargeProduct) {
  const auto time = expected(kProduct, h200());
  ASSERT_TRUE(time.has_value());
  EXPECT_GT(time->ns, 150e3);
  EXPECT_LT(time->ns, 260e3);
  EXPECT_LT(time->low_ns, time->ns);
  EXPECT_GT(time->high_ns, time->ns);
  EXPECT_NE(time->basis.find("NVIDIA H200"), std::string::npos);
}

TEST(ExpectedTime, OfOtherDevicesIsScaledAndSaid) {
  const DeviceSpec& a100 = **find_device("A100-SXM4-80GB");
  const auto here = expected(kProduct, h200()), there = expected(kProduct, a100);
  ASSERT_TRUE(here && there);
  EXPECT_NEAR(there->ns / here->ns, 989.4 / 312.0, 0.1) << "bfloat16 peaks";
  EXPECT_NEAR(there->high_ns / there->ns, here->high_ns / here->ns * 1.5, 0.01);
  EXPECT_NE(there->basis.find("scaled by the peaks"), std::string::npos);
}

TEST(ExpectedTime, IsNullAndSaysWhy) {
  std::string why;
  EXPECT_FALSE(
      expected_time(features_of(R"({"op": "mine::op", "shapes": [[4]], "dtypes": ["float32"]})"), h200(), nullptr, &why));
  EXPECT_FALSE(why.empty());
  why.clear();
  EXPECT_FALSE(expected_time(features_of(R"({"op": "aten::mm"})"), h200(), nullptr, &why)) << "no shapes";
  EXPECT_FALSE(why.empty());
  DeviceSpec unknown;
  EXPECT_FALSE(expected_time(features_of(kProduct), unknown, nullptr, &why)) << "a device without figures";
}

TEST(ExpectedTime, FollowsPointsThatTheUserMeasured) {
  const auto plain = expected(kProduct, h200());
  ASSERT_TRUE(plain.has_value());
  const std::string line = std::string(kProduct.substr(0, kProduct.size() - 1)) +
                           ", \"warm_ns\": " + std::to_string(plain->ns * 2) +
                           ", \"cold_ns\": " + std::to_string(plain->ns * 2) + "}";
  const auto own = MeasuredPoints::read(line, "mine.jsonl", h200());
  ASSERT_TRUE(own.has_value());
  const auto moved = expected(kProduct, h200(), &*own);
  ASSERT_TRUE(moved.has_value());
  EXPECT_NEAR(moved->ns / plain->ns, 2, 0.01);
  EXPECT_NE(moved->basis.find("measured points"), std::string::npos);
  EXPECT_FALSE(MeasuredPoints::read(kProduct, "mine.jsonl", h200()).has_value()) << "a line without times is no point";
}

std::string convolution(std::string_view mask) {
  return R"({"op": "aten::convolution_backward", "shapes": [[16, 128, 28, 28], [16, 128, 28, 28], [128, 128, 3, 3]],
  "dtypes": "bfloat16", "args": {"padding": [1, 1], "output_mask": )" +
         std::string(mask) + "}}";
}

// The gradients are made one after the other.
TEST(ExpectedTime, OfAConvolutionIsTheSumOfItsParts) {
  std::string both = convolution("[true, true, false]"), input = convolution("[true, false, false]"),
              weight = convolution("[false, true, false]"), bias = convolution("[true, true, true]");
  for (std::string* line : {&both, &input, &weight, &bias}) std::erase(*line, '\n');
  EXPECT_NEAR(expected(both, h200())->ns, expected(input, h200())->ns + expected(weight, h200())->ns, 1);
  EXPECT_GT(expected(bias, h200())->ns, expected(both, h200())->ns + 1000) << "its gradient is summed by a kernel of its own";
  const auto time = expected(both, h200());
  EXPECT_LT(time->low_ns, time->ns);
  EXPECT_GT(time->high_ns, time->ns);
  EXPECT_NE(time->basis.find("convolution_input"), std::string::npos) << time->basis;
  EXPECT_NE(time->basis.find("convolution_weight"), std::string::npos) << time->basis;
}

// In a trace the sum of the bias' gradient is a call of its own, with its own launches.
TEST(ExpectedTime, OfACallInATraceIsOfItsOwnLaunches) {
  std::string text = convolution("[true, true, true]");
  std::erase(text, '\n');
  const auto lines = read_op_lines(text, "x");
  ASSERT_TRUE(lines.has_value());
  EXPECT_EQ(features_of_call(lines->front().call, false, 132).parts.size(), 3U);
  EXPECT_EQ(features_of_call(lines->front().call, false, 132, false).parts.size(), 2U);
}

TEST(ExpectedTime, AWindowOfOnePositionIsAProduct) {
  const std::string_view line =
      R"({"op": "aten::conv2d", "shapes": [[32, 256, 56, 56], [64, 256, 1, 1]], "dtypes": "bfloat16", "args": {"memory_format": "channels_last"}})";
  const CallFeatures features = features_of(line);
  ASSERT_EQ(features.parts.size(), 1U);
  EXPECT_EQ(features.parts.front().kind, "product");
  const auto product = expected(
      R"({"op": "aten::mm", "shapes": [[100352, 256], [256, 64]], "strides": [[256, 1], [1, 256]], "dtypes": "bfloat16"})",
      h200());
  EXPECT_NEAR(expected(line, h200())->ns / product->ns, 1, 0.3);
}

// More of the same is never faster.
TEST(ExpectedTime, GrowsWithTheCall) {
  for (const char* op : {R"({"op": "aten::sum", "shapes": [[#]], "dtypes": "float32"})",
                         R"({"op": "aten::sum", "shapes": [[#, 1024]], "dtypes": "bfloat16", "args": {"dim": [1]}})",
                         R"({"op": "aten::mean", "shapes": [[#, 768]], "dtypes": "float32", "args": {"dim": [0]}})",
                         R"({"op": "aten::native_layer_norm", "shapes": [[#, 1024], [1024], [1024]], "dtypes": "bfloat16"})",
                         R"({"op": "aten::_softmax", "shapes": [[#, 4096]], "dtypes": "float32", "args": {"dim": 1}})"}) {
    double before = 0;
    for (long long n = 1; n <= 65536; n *= 2) {
      std::string line = op;
      line.replace(line.find('#'), 1, std::to_string(n));
      const auto time = expected(line, h200());
      ASSERT_TRUE(time.has_value()) << line;
      EXPECT_GE(time->ns, before * (1 - 1e-9)) << line;
      EXPECT_LE(time->low_ns, time->ns);
      EXPECT_GE(time->high_ns, time->ns);
      before = time->ns;
    }
  }
}

double serial_of(std::string_view json) { return features_of(json).serial_ns; }

// What goes down all rows with few blocks is waited for, whatever moves beside it: 208 us of 49152 rows on an H200.
TEST(ExpectedTime, TheGradientsOfANormsWeightsGoDownTheRows) {
  const auto asked = [](std::string_view mask) {
    return R"({"op": "aten::native_layer_norm_backward", "shapes": [[49152, 384], [49152, 384], [], [49152, 1], [49152, 1], [384], [384], []], "dtypes": ["float32", "float32", "ScalarList", "float32", "float32", "float32", "float32", ""], "concrete": ["", "", "[384]", "", "", "", "", ")" +
           std::string(mask) + R"("]})";
  };
  EXPECT_GT(serial_of(asked("[True, True, True]")), serial_of(asked("[True, False, False]")) + 150e3);
  EXPECT_GT(expected(asked("[True, True, True]"), h200())->ns, 3 * expected(asked("[True, False, False]"), h200())->ns);
}

// 264 and 131 us on an H200; the peak of memory allows 66 and 33.
TEST(ExpectedTime, NormsOverChannelsThatLieLastWaitForTheirThreads) {
  const auto sized = [](std::string_view training) {
    return R"({"op": "aten::native_batch_norm", "shapes": [[64, 128, 80, 80], [128], [128], [128], [128], [], [], []], "strides": [[819200, 1, 10240, 128], [1], [1], [1], [1], [], [], []], "dtypes": ["bfloat16", "float32", "float32", "float32", "float32", "", "", ""], "concrete": ["", "", "", "", "", ")" +
           std::string(training) + R"(", "0.1", "1e-05"]})";
  };
  EXPECT_NEAR(serial_of(sized("True")), 264e3, 40e3);
  EXPECT_LT(serial_of(sized("False")), 100e3);
}

// Each dimension is rolled by a kernel of its own.
TEST(ExpectedTime, ARollOfTwoDimensionsGoesOverTheTensorTwice) {
  const auto rolled = [](std::string_view shifts, std::string_view dims) {
    return R"({"op": "aten::roll", "shapes": [[24, 56, 56, 256], [], []], "dtypes": ["float16", "", ""], "concrete": ["", ")" +
           std::string(shifts) + R"(", ")" + std::string(dims) + R"("]})";
  };
  const double once = expected(rolled("[3]", "[1]"), h200())->ns, twice = expected(rolled("[3, 3]", "[1, 2]"), h200())->ns;
  EXPECT_NEAR(twice / once, 2, 0.3);
}

// Tiles of 32 channels turn an image of three channels as slowly as one of 32: 154 us of [96, 3, 192, 192] on an H200.
TEST(ExpectedTime, FewChannelsAreTurnedAsSlowlyAsMany) {
  const auto turned_bytes = [](std::string_view channels) {
    const std::string c(channels);
    return features_of(R"({"op": "aten::conv2d", "shapes": [[96, )" + c + ", 192, 192], [64, " + c +
                       R"(, 3, 3]], "dtypes": "bfloat16"})")
        .parts.front()
        .turned_bytes;
  };
  EXPECT_NEAR(turned_bytes("3") / turned_bytes("32"), 1, 0.05);
  EXPECT_GT(turned_bytes("64"), turned_bytes("32") * 1.2);
  EXPECT_GT(turned_bytes("3") / (0.7 * 4.8e12) * 1e9, 150e3);
  const CallFeatures one = features_of(
      R"({"op": "aten::conv2d", "shapes": [[8, 1024, 14, 14], [2048, 1024, 1, 1]], "dtypes": "float16", "args": {"stride": [2, 2]}})");
  EXPECT_LT(one.parts.front().turned_bytes, 40e6) << "a window of one position lies alike either way";
}

// Of images that lie channel by channel each has a product of its own, and the sums of all are summed: 383 us on an H200 for
// 384 images (680 MB of sums), as the product of all at once would take 14. Others of the kind are turned first, which is
// faster.
TEST(ExpectedTime, AWeightsGradientOfOnePositionIsMadeImageByImage) {
  const auto gradient = [](std::string_view images, std::string_view length) {
    const std::string n(images), l(length);
    return expected(R"({"op": "aten::convolution_backward", "shapes": [[)" + n + ", 384, " + l + "], [" + n + ", 1152, " + l +
                        R"(], [384, 1152, 1]], "dtypes": "bfloat16", "args": {"output_mask": [false, true, false]}})",
                    h200())
        ->ns;
  };
  EXPECT_GT(gradient("384", "32"), 2 * gradient("24", "512")) << "as many positions in fewer images";
}

// What is converted where it is read is walked element by element: 222 us on an H200, where the comparison of two such tensors
// of one type takes 142.
TEST(ExpectedTime, TensorsOfTwoTypesAreConvertedElementByElement) {
  const auto of = [](std::string_view op, std::string_view type) {
    return expected(R"({"op": "aten::)" + std::string(op) +
                        R"(", "shapes": [[16384, 1, 192], [16384, 16, 192]], "dtypes": ["bfloat16", ")" + std::string(type) +
                        R"("], "strides": [[192, 192, 1], [3072, 192, 1]]})",
                    h200())
        ->ns;
  };
  EXPECT_NEAR(of("mul", "bool"), 222e3, 30e3);
  EXPECT_NEAR(of("eq", "bfloat16"), 142e3, 20e3);
}

// 320 us on an H200; the peak of memory allows 40.
TEST(ExpectedTime, RowsAddedByIndexTakeAnAtomicAdditionAnElement) {
  const auto added = [](std::string_view rows) {
    const std::string n(rows);
    return R"({"op": "aten::index_add_", "shapes": [[9000, 192], [], [)" + n + "], [" + n +
           R"(, 192], []], "dtypes": ["float32", "Scalar", "int64", "float32", "Scalar"], "concrete": ["", "0", "", "", "1"]})";
  };
  EXPECT_NEAR(serial_of(added("240000")), 320e3, 20e3);
  EXPECT_NEAR(expected(added("240000"), h200())->ns, 320e3, 60e3);
  EXPECT_LT(serial_of(added("1000")), 2e3);
}

// The result of a transposed convolution is the input's gradient of the plain one that goes the other way, and the reverse: the
// same kernels, the same time.
TEST(ExpectedTime, ATransposedConvolutionIsThePlainOneTheOtherWay) {
  const CallFeatures transposed = features_of(
      R"({"op": "aten::convolution", "shapes": [[12, 96, 7680], [96, 48, 8], [], [], [], [], [], [], []], "dtypes": ["float16", "float16", "", "", "", "", "", "", ""], "concrete": ["", "", "", "[4]", "[2]", "[1]", "True", "[0]", "1"]})");
  const auto gradient = [](std::string_view mask) {
    return features_of(
        R"({"op": "aten::convolution_backward", "shapes": [[12, 96, 7680], [12, 48, 30720], [96, 48, 8]], "dtypes": "float16", "args": {"stride": [4], "padding": [2], "output_mask": )" +
        std::string(mask) + "}}");
  };
  const CallFeatures plain = gradient("[true, false, false]");
  ASSERT_EQ(transposed.parts.size(), 1U);
  ASSERT_EQ(plain.parts.size(), 1U);
  EXPECT_EQ(transposed.parts[0].kind, "convolution_input");
  EXPECT_EQ(transposed.parts[0].role, "forward");
  EXPECT_EQ(transposed.parts[0].work.flops, plain.parts[0].work.flops);
  EXPECT_EQ(transposed.parts[0].work.read, plain.parts[0].work.read);
  EXPECT_EQ(transposed.parts[0].work.written, plain.parts[0].work.written);
  EXPECT_EQ(transposed.parts[0].turned_bytes, plain.parts[0].turned_bytes);
}

// A warp a row, however short: 396 us of 1.8 million rows of 32 on an H200.
TEST(ExpectedTime, ShortRowsTakeAWarpEach) {
  EXPECT_NEAR(serial_of(R"({"op": "aten::sum", "shapes": [[1800000, 32]], "dtypes": "float32", "args": {"dim": [1]}})"), 420e3,
              60e3);
  EXPECT_LT(serial_of(R"({"op": "aten::sum", "shapes": [[1800000, 4]], "dtypes": "float32", "args": {"dim": [1]}})"), 60e3);
}

// Gathers have kernels of their own each: of one that was not measured nothing is known.
TEST(ExpectedTime, OfAGatherThatWasNotMeasuredIsUnknown) {
  std::string why;
  const CallFeatures bag =
      features_of(R"({"op": "aten::take", "shapes": [[100000, 64], [16384]], "dtypes": ["float32", "int64"]})");
  EXPECT_FALSE(expected_time(bag, h200(), nullptr, &why).has_value());
  EXPECT_NE(why.find("take"), std::string::npos) << why;
}

TEST(ExpectedTime, OfAGeneratedKernelIsByItsSort) {
  for (const std::string_view kind : {"triton_pointwise", "triton_reduction", "triton_persistent_reduction"}) {
    const CallFeatures kernel = features_of_kernel({.kind = kind,
                                                    .bytes_read = 2e8,
                                                    .bytes_written = 2e8,
                                                    .flops = 0,
                                                    .blocks = 100000,
                                                    .threads = 256,
                                                    .dtype = DType::bf16},
                                                   132);
    std::string why;
    const auto time = expected_time(kernel, h200(), nullptr, &why);
    ASSERT_TRUE(time.has_value()) << kind << ": " << why;
    EXPECT_GT(time->ns, 4e8 / 4.9e12 * 1e9) << "no faster than the memory";
    EXPECT_LT(time->ns, 10 * 4e8 / 4.9e12 * 1e9);
  }
}

// Of a list whose type is not told the bytes are not, either.
TEST(ExpectedTime, OfAListOfUnknownTypeIsUnknown) {
  std::string why;
  const CallFeatures call = features_of(
      R"({"op": "aten::_fused_adamw_", "shapes": [[[1024, 1024], [1024]]], "dtypes": ["TensorList"], "strides": [[[1024, 1], [1]]], "concrete": [""]})");
  EXPECT_FALSE(expected_time(call, h200(), nullptr, &why).has_value());
  EXPECT_FALSE(why.empty());
}

TEST(ExpectedTime, Tf32IsFasterThanFloat32) {
  const std::string one = R"({"op": "aten::mm", "shapes": [[4096, 4096], [4096, 4096]], "dtypes": ["float32", "float32"])";
  EXPECT_LT(expected(one + R"(, "tf32": true})", h200())->ns * 3, expected(one + "}", h200())->ns);
}

}  // namespace
}  // namespace ridge
