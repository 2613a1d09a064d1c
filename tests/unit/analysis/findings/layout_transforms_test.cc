// Transforms between NCHW and NHWC: which kernels are some, which of them channels_last does away with, and what it changes of
// the norms, pools and convolutions beside them.
#include <gtest/gtest.h>

#include <string>

#include <fmt/format.h>

#include "unit/analysis/findings/calls.h"

namespace ridge {
namespace {

using test::args_of;
using test::Call;
using test::claimed_work;
using test::Found;
using test::found_in_calls;

constexpr std::string_view kTurnImages = "void cudnn::engines_precompiled::nchwToNhwcKernel<__half, __half, float>()";
constexpr std::string_view kLayoutId = "layout_transforms";

Call turned_by(std::string_view op, std::vector<std::string> around = {}, std::string args = "") {
  return {.op = op, .kernel = kTurnImages, .us = 100, .args = std::move(args), .around = std::move(around)};
}

double expected_us(const std::vector<Call>& calls) { return claimed_work(found_in_calls(calls), kLayoutId).expected_us; }

TEST(LayoutTransforms, AreKernelsThatTurnTensors) {
  for (const char* kernel : {"void cudnn::engines_precompiled::nhwcToNchwKernel<__half, __half, float>()",
                             "void cudnn::engines_precompiled::nchwToFoldedNhwcKernel<__half>()",
                             "batched_transpose_32x32_half", "transpose_NCHW2CNHW_lds"})
    EXPECT_DOUBLE_EQ(expected_us({{.op = "aten::conv2d", .kernel = kernel}}), 100) << kernel;
  // Helpers of convolutions too, which put zeros around an image or scale it.
  for (const char* kernel :
       {"void cudnn::ops::nhwcAddPaddingKernel<__half>()", "cudnn::ops::scalePackedTensor_kernel<float>()"})
    EXPECT_FALSE(found_in_calls({{.op = "aten::conv2d", .kernel = kernel}}).has(kLayoutId)) << kernel;
}

// Inductor's copies are named after the convolution alone; with another op in its name a kernel computes something.
TEST(LayoutTransforms, OfInductorAreNamedAfterTheConvolutionAlone) {
  const auto generated = [](std::string_view kernel) {
    return expected_us({{.op = kernel, .kernel = kernel}, {.op = "aten::conv2d", .kernel = "cudnn_fprop_sm90"}});
  };
  EXPECT_DOUBLE_EQ(generated("triton_poi_fused_convolution_0"), 100);
  EXPECT_DOUBLE_EQ(generated("triton_poi_fused_convolution_backward_3"), 100);
  EXPECT_DOUBLE_EQ(generated("triton_poi_fused_convolution_relu_0"), 0);
}

TEST(LayoutTransforms, GoOfImagesAndVolumesNotOfSequences) {
  EXPECT_DOUBLE_EQ(expected_us({turned_by("aten::cudnn_convolution", {"aten::conv2d"})}), 100);
  EXPECT_DOUBLE_EQ(expected_us({turned_by("aten::cudnn_convolution", {"aten::conv3d"})}), 100);
  EXPECT_DOUBLE_EQ(expected_us({turned_by("aten::cudnn_convolution", {"aten::conv_transpose2d"})}), 100);
  const Found both = found_in_calls(
      {turned_by("aten::conv2d"), {.op = "aten::conv1d", .kernel = "void cudnn::nhwcToNchwKernel<__half, __half, float>()"}});
  ASSERT_TRUE(both.has(kLayoutId)) << both.ids();
  EXPECT_DOUBLE_EQ(claimed_work(both, kLayoutId).expected_us, 100);
  const std::string& evidence = both.find(kLayoutId)->finding.evidence;
  EXPECT_NE(evidence.find("nchwToNhwc"), evidence.npos) << evidence;
  EXPECT_EQ(evidence.find("nhwcToNchw"), evidence.npos) << evidence;
}

// A sequence is made an image of one row inside of the op: what the program called decides.
TEST(LayoutTransforms, AreOfTheOutermostOpsTensors) {
  const std::string sequence = args_of({{"[8, 64, 4000]", "[]", "c10::Half"}, {"[64, 64, 3]", "[]", "c10::Half"}});
  const std::string row = args_of({{"[8, 64, 1, 4000]", "[]", "c10::Half"}, {"[64, 64, 1, 3]", "[]", "c10::Half"}});
  EXPECT_FALSE(found_in_calls({turned_by("aten::cudnn_convolution", {"aten::convolution|" + sequence}, row)}).has(kLayoutId));
  EXPECT_DOUBLE_EQ(expected_us({turned_by("aten::cudnn_convolution", {"aten::convolution|" + row}, row)}), 100);
}

// A program of sequences and of images: whose transforms these are is not told, so none are expected to go.
TEST(LayoutTransforms, OfAProgramOfBothAreNotExpectedToGo) {
  const Call turn = turned_by("aten::convolution");
  const Call image{.op = "aten::conv2d", .kernel = "implicit_gemm", .us = 1};
  const Call sequence{.op = "aten::conv1d", .kernel = "implicit_gemm", .us = 1};
  EXPECT_DOUBLE_EQ(expected_us({turn, image}), 100);
  EXPECT_DOUBLE_EQ(expected_us({turn, sequence}), 0);
  EXPECT_DOUBLE_EQ(expected_us({turn, image, sequence}), 0);
  EXPECT_DOUBLE_EQ(expected_us({turn, sequence, image}), 0);
}

// A convolution's own transforms go with channels_last. What another op turns for itself it may turn in that order too.
TEST(LayoutTransforms, OfOtherOpsMayGo) {
  const std::string image = args_of({{"[8, 64, 56, 56]", "[]", "c10::Half"}});
  const Found found = found_in_calls({turned_by("aten::conv2d"), turned_by("aten::cudnn_grid_sampler", {}, image)});
  ASSERT_TRUE(found.has(kLayoutId)) << found.ids();
  EXPECT_DOUBLE_EQ(claimed_work(found, kLayoutId).expected_us, 100);
  EXPECT_DOUBLE_EQ(claimed_work(found, kLayoutId).bound_us, 200);
}

// What channels_last changes of a call beside a transform of 100 us that goes.
test::ClaimedWork beside(const Call& call) {
  const test::ClaimedWork all = claimed_work(found_in_calls({turned_by("aten::conv2d"), call}), kLayoutId);
  return {all.bound_us - 100, all.expected_us - 100};
}

Call normed(const std::string& sizes, const std::string& strides) {
  const test::Tensor of_channels{"[32]", strides.empty() ? "[]" : "[1]", "c10::BFloat16"};
  return {.op = "aten::native_batch_norm",
          .kernel = "void at::native::batch_norm_transform_input_kernel<c10::BFloat16, float, c10::BFloat16, true, int>()",
          .us = 300,
          .args = args_of({{sizes, strides.empty() ? "[]" : strides, "c10::BFloat16"},
                           of_channels,
                           of_channels,
                           of_channels,
                           of_channels,
                           {.value = "True"},
                           {.value = "0.1"},
                           {.value = "1e-05"}})};
}

// 300 us of images in NCHW order, of which such a norm takes less in the other; images in that order stay as they are. Strides
// that were not recorded are those of a new tensor.
TEST(LayoutTransforms, NormsOfImagesInNchwOrderFollow) {
  const test::ClaimedWork first = beside(normed("[64, 32, 112, 112]", "[401408, 12544, 112, 1]"));
  EXPECT_GT(first.expected_us, 20);
  EXPECT_GT(first.bound_us, first.expected_us);
  EXPECT_LT(first.bound_us, 300);
  const test::ClaimedWork unknown = beside(normed("[64, 32, 112, 112]", ""));
  EXPECT_DOUBLE_EQ(unknown.expected_us, first.expected_us);
  for (const test::ClaimedWork& stays :
       {beside(normed("[64, 32, 112, 112]", "[401408, 1, 3584, 32]")),    // channels_last
        beside(normed("[2048, 1, 112, 112]", "[12544, 12544, 112, 1]")),  // one channel lies alike in both
        beside(normed("[802816, 32]", "[32, 1]"))}) {
    EXPECT_DOUBLE_EQ(stays.bound_us, 0);
    EXPECT_DOUBLE_EQ(stays.expected_us, 0);
  }
}

// Pools of images are faster in that order, which is expected of them; a convolution may be, at most down to its roof.
TEST(LayoutTransforms, PoolsFollowAndConvolutionsMay) {
  const std::string sizes = "[64, 64, 112, 112]", strides = "[802816, 12544, 112, 1]";
  const test::ClaimedWork pool = beside({.op = "aten::max_pool2d_with_indices",
                                         .kernel = "void at::native::max_pool_forward_nchw<c10::Half, long>()",
                                         .us = 900,
                                         .args = args_of({{sizes, strides, "c10::Half"},
                                                          {.type = "ScalarList", .value = "[3, 3]"},
                                                          {.type = "ScalarList", .value = "[2, 2]"},
                                                          {.type = "ScalarList", .value = "[1, 1]"},
                                                          {.type = "ScalarList", .value = "[1, 1]"},
                                                          {.value = "False"}})});
  EXPECT_GT(pool.expected_us, 50);
  EXPECT_LT(pool.bound_us, 900);
  const test::ClaimedWork convolution = beside({.op = "aten::cudnn_convolution",
                                                .kernel = "sm90_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc",
                                                .us = 900,
                                                .args = args_of({{sizes, strides, "c10::Half"},
                                                                 {"[64, 64, 3, 3]", "[576, 9, 3, 1]", "c10::Half"},
                                                                 {.type = "ScalarList", .value = "[1, 1]"},
                                                                 {.type = "ScalarList", .value = "[1, 1]"},
                                                                 {.type = "ScalarList", .value = "[1, 1]"},
                                                                 {.value = "1"},
                                                                 {.value = "False"},
                                                                 {.value = "False"},
                                                                 {.value = "True"}})});
  EXPECT_DOUBLE_EQ(convolution.expected_us, 0);
  EXPECT_GT(convolution.bound_us, 0);
  EXPECT_LT(convolution.bound_us, 900);
}

// Where sizes are not told, batch norms of images are known by their kernels' names: those for the other order take less.
TEST(LayoutTransforms, WithoutSizesBatchNormsFollowByName) {
  const auto of = [](std::string_view kernel) { return beside({.op = "aten::batch_norm", .kernel = kernel}); };
  const test::ClaimedWork backward = of("void at::native::batch_norm_backward_kernel<c10::Half, float>()");
  EXPECT_NEAR(backward.expected_us, 60, 1);
  EXPECT_GE(backward.bound_us, backward.expected_us);
  EXPECT_NEAR(of("void at::native::batch_norm_transform_input_kernel<c10::Half, float>()").expected_us, 20, 1);
  EXPECT_DOUBLE_EQ(of("void at::native::batch_norm_transform_input_channels_last_kernel<c10::Half>()").expected_us, 0);
}

// Each channel is one block of the device: of few, which leave most of it idle, much goes; of many little.
TEST(LayoutTransforms, WithoutSizesBatchNormsFollowByTheirChannels) {
  const auto gone_us = [](int channels) {
    constexpr std::string_view kBackward = "void at::native::batch_norm_backward_kernel<c10::Half, float>()";
    const std::string grid = fmt::format(R"("grid": [{}, 1, 1], "block": [512, 1, 1])", channels);
    return beside({.op = "aten::batch_norm", .kernel = kBackward, .launch = grid}).expected_us;
  };
  EXPECT_NEAR(gone_us(64), 86, 1);
  EXPECT_NEAR(gone_us(256), 44, 1);
  EXPECT_NEAR(gone_us(1'024), 0, 1);
}

// Else all of what goes by channels or positions may be gained, and nothing is expected. Element by element, and of a copy as
// it lies, any order is as fast as another.
TEST(LayoutTransforms, WithoutSizesBoundWhatAnOrderMattersTo) {
  for (const Call& by_order :
       {Call{.op = "aten::convolution", .kernel = "sm90_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc"},
        Call{.op = "aten::adaptive_avg_pool2d", .kernel = "void at::native::adaptive_average_pool<c10::Half, float>()"},
        Call{.op = "aten::upsample_nearest2d", .kernel = "void at::native::upsample_nearest2d_out_frame<c10::Half>()"},
        Call{.op = "aten::mean", .kernel = "void at::native::reduce_kernel<512, 1, at::native::MeanOps<c10::Half> >()"}}) {
    EXPECT_DOUBLE_EQ(beside(by_order).bound_us, 100) << by_order.op;
    EXPECT_DOUBLE_EQ(beside(by_order).expected_us, 0) << by_order.op;
  }
  for (const Call& any :
       {Call{.op = "aten::mul", .kernel = "void at::native::vectorized_elementwise_kernel<4, at::native::MulFunctor<float>>()"},
        Call{.op = "aten::mm", .kernel = "sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize128x128x64"},
        Call{.op = "aten::conv2d", .kernel = "Memcpy DtoD (Device -> Device)"}})
    EXPECT_DOUBLE_EQ(beside(any).bound_us, 0) << any.op;
}

}  // namespace
}  // namespace ridge
