// Which tensors the fused ops of a generated kernel take: counters (dram__bytes_read.sum of an H200) beside each.
#include <gtest/gtest.h>

#include "unit/cost/hand_made_triton.h"

namespace ridge {
namespace {

using test::kMi;
using Launch = test::TritonCall;

// Rows divided by their own largest value, as 8-bit floats, and the scales: the division has no second tensor. Counted
// 8,396,800.
TEST(TritonInputs, ADivisionByTheKernelsOwnReductionTakesNoTensor) {
  const LaunchCost cost = Launch{.op = "triton_red_fused__fused_rms_norm__scaled_mm__to_copy_abs_amax_clamp_div_t_0",
                                 .dims = "[[2048,2048],[2048,2048],[2048,1],[],[]]",
                                 .types = R"(["c10::BFloat16","c10::Float8_e4m3fn","float","Scalar","Scalar"])",
                                 .concrete = R"(["","","","2048","2048"])"}
                              .cost();
  EXPECT_EQ(cost.bytes_read, 2 * 4 * kMi);
  EXPECT_EQ(cost.bytes_written, 4 * kMi + 2048 * 4);
}

// A gate between both halves of its input, then the same. Counted 46,153,984.
TEST(TritonInputs, AGateTakesBothItsFactorsFromOneTensor) {
  const LaunchCost cost = Launch{.op = "triton_red_fused__scaled_mm__to_copy_abs_amax_clamp_div_mul_silu_split_t_3",
                                 .dims = "[[2048,11264],[2048,5632],[2048,1],[],[]]",
                                 .types = R"(["c10::BFloat16","c10::Float8_e4m3fn","float","Scalar","Scalar"])",
                                 .concrete = R"(["","","","2048","5632"])"}
                              .cost();
  EXPECT_EQ(cost.bytes_read, 2.0 * 2048 * 11264);
}

// The gradient of a gate has half the size of what it is the gradient of. Counted 50,703,104.
TEST(TritonInputs, TheGradientOfAGateIsSmaller) {
  const LaunchCost cost = Launch{.op = "triton_poi_fused_glu_backward_17",
                                 .dims = "[[64,256,512],[64,128,512],[64,256,512],[]]",
                                 .types = R"(["float","float","float","Scalar"])",
                                 .concrete = R"(["","","","8388608"])"}
                              .cost();
  EXPECT_EQ(cost.bytes_read, 4.0 * 64 * 512 * (256 + 128));
  EXPECT_EQ(cost.bytes_written, 4.0 * 64 * 512 * 256);
}

// Both the gradient and what the forward pass took. Counted 8,394,752.
TEST(TritonInputs, TheGradientOfPreluTakesTwoTensors) {
  const LaunchCost cost = Launch{.op = "triton_red_fused__prelu_kernel__prelu_kernel_backward_sum_16",
                                 .dims = "[[8,64,64,64],[8,64,64,64],[1,64,1,1,256],[],[]]",
                                 .types = R"(["c10::BFloat16","c10::BFloat16","float","Scalar","Scalar"])",
                                 .concrete = R"(["","","","16384","128"])"}
                              .cost();
  EXPECT_EQ(cost.bytes_read, 2 * 4 * kMi);
}

// Gelu by tanh, undone in place: the forward pass would need a third tensor to save anything. Counted 50,341,632.
TEST(TritonInputs, OfTwoTensorsAGradientTakesBoth) {
  const LaunchCost cost = Launch{.op = "triton_poi_fused__to_copy_add_mul_pow_tanh_tanh_backward_view_3",
                                 .dims = "[[8,512,3072],[4096,3072],[]]",
                                 .types = R"(["c10::BFloat16","c10::BFloat16","Scalar"])",
                                 .concrete = R"(["","","12582912"])"}
                              .cost();
  EXPECT_EQ(cost.bytes_read, 2 * 24 * kMi);
  EXPECT_EQ(cost.bytes_written, 24 * kMi);
}

// One element of each row of two targets is written: a sector each, read to be completed. Counted 163,963,136.
TEST(TritonInputs, LoneElementsCompleteTheirSectors) {
  const LaunchCost cost =
      Launch{.op = "triton_poi_fused_scatter_slice_unsqueeze_zeros_8",
             .dims = "[[16,128,1024,1],[16,192,1024],[16,192,1024],[16,128,1024,20],[16,128,1024,20],[],[]]",
             .types = R"(["long int","float","float","float","float","Scalar","Scalar"])",
             .concrete = R"(["","","","","","2048","1024"])",
             .kwargs = "XBLOCK=128,YBLOCK=8"}
          .cost();
  EXPECT_NEAR(cost.bytes_read.value_or(0), 163963136, 0.1 * 163963136);
  // A target of 131 KB stays in the cache until the kernel ends; counted 118,784.
  const LaunchCost small = Launch{.op = "triton_poi_fused__to_copy_add_div_expand_mul_neg_scatter_sum_view_zeros_7",
                                  .dims = "[[4096,2],[8192],[4096,2],[4096,8],[]]",
                                  .types = R"(["long int","c10::BFloat16","float","float","Scalar"])",
                                  .concrete = R"(["","","","","8192"])"}
                               .cost();
  EXPECT_EQ(small.bytes_read, 8192.0 * (8 + 2 + 4));
}

}  // namespace
}  // namespace ridge
