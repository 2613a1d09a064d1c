// FLOPs of ops against numbers computed by hand (beside each) or by PyTorch's own counter.
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "ops/op_work.h"

namespace ridge {
namespace {

OpWork work(std::string_view op, std::string_view dims, std::string_view types, std::string_view values = "", Part part = {}) {
  const OpFormula* row = find_op(op);
  EXPECT_NE(row, nullptr) << op;
  return row == nullptr ? OpWork() : row->work(parse_op_call(op, dims, types, "", values), part);
}
double flops(std::string_view op, std::string_view dims, std::string_view types, std::string_view values = "",
             KernelRole role = KernelRole::main) {
  return work(op, dims, types, values, {.role = role}).flops.value_or(-1);
}

constexpr std::string_view kTwo = R"(["float","float"])";
constexpr std::string_view kThree = R"(["float","float","float","Scalar","Scalar"])";

TEST(GemmFlops, IsTwoPerMultiplyAdd) {
  EXPECT_EQ(flops("aten::mm", "[[512,1024],[1024,2048]]", kTwo), 2.0 * 512 * 1024 * 2048);
  EXPECT_EQ(flops("aten::mm", "[[512,1024],[1024,2048],[512,2048]]", R"(["float","float","float"])"), 2.0 * 512 * 1024 * 2048);
  EXPECT_EQ(flops("aten::addmm", "[[4096],[333,1024],[1024,4096],[],[]]", kThree), 2793406464.0);
  EXPECT_EQ(flops("aten::_addmm_activation", "[[4096],[333,1024],[1024,4096],[],[]]", kThree), 2793406464.0);
  EXPECT_EQ(flops("aten::bmm", "[[16,128,64],[16,64,256]]", kTwo), 67108864.0);
  // The batch is that of the factors: self may be broadcast.
  EXPECT_EQ(flops("aten::baddbmm", "[[1,128,256],[16,128,64],[16,64,256],[],[]]", kThree), 67108864.0);
  EXPECT_EQ(flops("aten::linear", "[[4,77,1024],[4096,1024],[4096]]", R"(["float","float","float"])"), 2583691264.0);
  EXPECT_EQ(flops("aten::_int_mm", "[[32,64],[64,16]]", R"(["signed char","signed char"])"), 2.0 * 32 * 64 * 16);
}

TEST(GemmFlops, EveryScaledForm) {
  constexpr std::string_view kDims = "[[1024,1024],[1024,2048],[],[],[],[],[],[]]";
  constexpr std::string_view kTypes = R"(["c10::Float8_e4m3fn","c10::Float8_e4m3fn","float","float","","","Scalar","Scalar"])";
  EXPECT_EQ(flops("aten::_scaled_mm", kDims, kTypes), 4294967296.0);
  EXPECT_EQ(flops("aten::_scaled_mm.out", kDims, kTypes), 4294967296.0);
  EXPECT_EQ(flops("aten::_scaled_mm_v2", kDims, kTypes), 4294967296.0);
}

TEST(GemmFlops, GroupedProductsSumOverTheGroups) {
  constexpr double kAll = 2.0 * 4096 * 1024 * 2048;
  EXPECT_EQ(flops("aten::_grouped_mm", "[[4096,1024],[8,1024,2048],[8]]", R"(["c10::BFloat16","c10::BFloat16","int"])"), kAll);
  EXPECT_EQ(flops("aten::_grouped_mm", "[[8,512,1024],[8,1024,2048]]", kTwo), kAll);
  // Two matrices, the groups along k: [M, K] x [K, N] as a whole.
  EXPECT_EQ(flops("aten::_grouped_mm", "[[1024,4096],[4096,2048],[8]]", R"(["float","float","int"])"), kAll);
}

constexpr std::string_view kConv =
    R"(["float","float","","ScalarList","ScalarList","ScalarList","Scalar","ScalarList","Scalar"])";

TEST(ConvolutionFlops, CountsPaddingStrideAndDilation) {
  // 7x7, stride 2, padding 3 over 224x224: 112x112 positions, 2 * 112^2 * 49 * 3 * 64.
  EXPECT_EQ(flops("aten::convolution", "[[1,3,224,224],[64,3,7,7],[],[],[],[],[],[],[]]", kConv,
                  R"(["","","","[2, 2]","[3, 3]","[1, 1]","False","[0, 0]","1"])"),
            236027904.0);
  // One number for both dimensions.
  EXPECT_EQ(flops("aten::convolution", "[[1,3,224,224],[64,3,7,7],[],[],[],[],[],[],[]]", kConv,
                  R"(["","","","[2]","[3]","[1]","False","[0]","1"])"),
            236027904.0);
  // Dilation 2: reach 5, 64 + 4 - 4 = 64 positions a side.
  EXPECT_EQ(flops("aten::cudnn_convolution", "[[4,32,64,64],[64,32,3,3],[],[],[],[]]", R"(["float","float"])",
                  R"(["","","[2, 2]","[1, 1]","[2, 2]","1"])"),
            603979776.0);
  // Without constants the positions are not known.
  EXPECT_EQ(work("aten::convolution", "[[1,3,224,224],[64,3,7,7]]", kTwo).flops, std::nullopt);
}

TEST(ConvolutionFlops, EverySpellingAgrees) {
  constexpr std::string_view kDims = "[[2,8,10,10],[16,8,3,3],[],[],[],[],[],[]]";
  constexpr double kExpected = 2.0 * 10 * 10 * 9 * 2 * 16 * 8;
  EXPECT_EQ(flops("aten::_convolution", kDims, kTwo, R"(["","","","[1]","[1]","[1]","False","[0]","1"])"), kExpected);
  EXPECT_EQ(flops("aten::cudnn_convolution", kDims, kTwo, R"(["","","[1]","[1]","[1]","1"])"), kExpected);
  EXPECT_EQ(flops("aten::miopen_convolution", kDims, kTwo, R"(["","","","[1]","[1]","[1]","1"])"), kExpected);
  EXPECT_EQ(flops("aten::mkldnn_convolution", kDims, kTwo, R"(["","","","[1]","[1]","[1]","1"])"), kExpected);
  EXPECT_EQ(flops("aten::_slow_conv2d_forward", kDims, kTwo, R"(["","","[3, 3]","","[1]","[1]"])"), kExpected);
  EXPECT_EQ(flops("aten::conv2d", kDims, kTwo, R"(["","","","[1]","[1]","[1]","1"])"), kExpected);
  // Depthwise: 96 channels of one each. 2 * 56^2 * 49 * 4 * 96.
  EXPECT_EQ(
      flops("aten::_conv_depthwise2d", "[[4,96,56,56],[96,1,7,7]]", kTwo, R"(["","","[7, 7]","","[1, 1]","[3, 3]","[1, 1]"])"),
      118013952.0);
}

TEST(ConvolutionFlops, TransposedCountsInputPositions) {
  // 2 * 28^2 * 16 * 4 * 64 * 32.
  EXPECT_EQ(flops("aten::convolution", "[[4,64,28,28],[64,32,4,4]]", kTwo,
                  R"(["","","","[2, 2]","[1, 1]","[1, 1]","True","[0, 0]","1"])"),
            205520896.0);
  EXPECT_EQ(flops("aten::cudnn_convolution_transpose", "[[4,64,28,28],[64,32,4,4]]", kTwo,
                  R"(["","","[1, 1]","[0, 0]","[2, 2]","[1, 1]","1"])"),
            205520896.0);
}

TEST(ConvolutionFlops, EachGradientCostsTheForwardPass) {
  constexpr std::string_view kTypes = R"(["float","float","float"])";
  // groups 8: weight [64, 8, 3, 3]; forward 2 * 56^2 * 9 * 4 * 64 * 8 = 115,605,504. PyTorch's counter gives the weight 8 times
  // that.
  constexpr std::string_view kDims = "[[4,64,56,56],[4,64,56,56],[64,8,3,3],[],[],[],[],[],[],[],[]]";
  const auto values = [](std::string_view mask) {
    return R"(["","","","[0]","[1, 1]","[1, 1]","[1, 1]","False","[0, 0]","8",")" + std::string(mask) + "\"]";
  };
  const std::string all = values("[True, True, False]");
  EXPECT_EQ(flops("aten::convolution_backward", kDims, kTypes, all), 2 * 115605504.0);
  EXPECT_EQ(flops("aten::convolution_backward", kDims, kTypes, all, KernelRole::grad_input), 115605504.0);
  EXPECT_EQ(flops("aten::convolution_backward", kDims, kTypes, all, KernelRole::grad_weight), 115605504.0);
  EXPECT_EQ(flops("aten::convolution_backward", kDims, kTypes, values("[False, True, False]")), 115605504.0);
  EXPECT_EQ(flops("aten::convolution_backward", kDims, kTypes, values("[False, False, True]")), 0);
  EXPECT_EQ(flops("aten::convolution_backward", kDims, kTypes, all, KernelRole::layout_in), 0);
}

TEST(AttentionFlops, BothLayoutsGroupedHeadsAndTheCausalHalf) {
  constexpr std::string_view kTypes = R"(["c10::BFloat16","c10::BFloat16","c10::BFloat16"])";
  constexpr double kForward = 4.0 * 2 * 16 * 512 * 512 * 64;
  EXPECT_EQ(flops("aten::_scaled_dot_product_flash_attention", "[[2,16,512,64],[2,16,512,64],[2,16,512,64]]", kTypes),
            kForward);
  EXPECT_EQ(flops("aten::_flash_attention_forward", "[[2,512,16,64],[2,512,16,64],[2,512,16,64]]", kTypes), kForward);
  // 32 query heads on 8 of keys: 4 * 2 * 32 * 256^2 * 128.
  EXPECT_EQ(flops("aten::_cudnn_attention_forward", "[[2,32,256,128],[2,8,256,128],[2,8,256,128]]", kTypes), 2147483648.0);
  const OpWork causal = work("aten::_flash_attention_forward", "[[2,512,16,64],[2,512,16,64],[2,512,16,64],[],[],[],[],[],[]]",
                             kTypes, R"(["","","","","","512","512","0.","True"])");
  EXPECT_EQ(causal.flops, kForward);
  EXPECT_EQ(causal.flops_causal, kForward * 513 / 1024);
  // Five products backward; a depth of v of its own: 2 B H S^2 (3 * 64 + 2 * 32).
  EXPECT_EQ(flops("aten::_scaled_dot_product_efficient_attention_backward",
                  "[[2,16,512,32],[2,16,512,64],[2,16,512,64],[2,16,512,32]]", R"(["float","float","float","float"])"),
            2.0 * 2 * 16 * 512 * 512 * (3 * 64 + 2 * 32));
  // Tokens of sequences with lengths that no trace holds: 4 sequences as long as the longest.
  const OpWork packed = work("aten::_flash_attention_forward", "[[1000,16,64],[1000,16,64],[1000,16,64],[5],[5],[],[],[],[]]",
                             R"(["c10::Half","c10::Half","c10::Half","int","int","Scalar","Scalar","Scalar","Scalar"])",
                             R"(["","","","","","300","300","0.","False"])");
  EXPECT_EQ(packed.flops, 4.0 * 4 * 16 * 300 * 300 * 64);
  EXPECT_TRUE(packed.ambiguous);
}

TEST(Flops, OpsThatPyTorchDoesNotCountHaveNone) {
  EXPECT_EQ(flops("aten::add", "[[8,8],[8,8]]", kTwo), 0);
  EXPECT_EQ(flops("aten::_softmax", "[[8,8]]", kTwo), 0);
  EXPECT_EQ(find_op("aten::linalg_qr"), nullptr);
  EXPECT_EQ(find_op("mm"), nullptr);
  EXPECT_EQ(find_op("aten::add_"), find_op("aten::add"));
  EXPECT_EQ(find_op("aten::mm.out"), find_op("aten::mm"));
}

}  // namespace
}  // namespace ridge
