// Attention as separate products and softmax: forward, backward, with masks, on turned factors. On traces made by hand.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "unit/analysis/findings/found.h"

namespace ridge {
namespace {

using test::Found;
using test::kUs;

// Two products of 50 us with scale (20 us), softmax (30 us) and dropout (10 us) between them.
TEST(UnfusedAttention, IsProductsAndAllBetweenThem) {
  const auto kernel = [](int correlation, int at, std::string_view op, std::string_view name, int us) {
    return test::join({test::event({.name = op, .ts = at - 9, .dur = 8}), test::launch(correlation, at - 7, 4, name, at, us)});
  };
  const auto program = [&](std::string_view second, std::string_view between) {
    return test::found_in_events(
        test::join({kernel(1, 100, "aten::bmm", "sm80_xmma_gemm_f32f32", 50),
                    kernel(2, 160, "aten::div", "void at::native::vectorized_elementwise_kernel<4>()", 20),
                    kernel(3, 190, between, "void at::native::softmax_warp_forward<float>()", 30),
                    kernel(4, 230, "aten::native_dropout", "void at::native::fused_dropout_kernel_vec<float>()", 10),
                    kernel(5, 250, second, "sm80_xmma_gemm_f32f32", 50)}));
  };
  const Found by_hand = program("aten::bmm", "aten::_softmax");
  ASSERT_TRUE(by_hand.has("unfused_attention")) << by_hand.ids();
  // A fused kernel does the products too, and may do them faster: the bound holds them, and the pauses before what goes; what
  // is expected does not.
  EXPECT_EQ(by_hand.find("unfused_attention")->finding.at_most_ns, (60 + 2 * 50 + 3 * 10) * kUs);
  std::int64_t expected_ns = 0;
  for (const Removal::Work& gone : by_hand.find("unfused_attention")->remedy.removal.work) expected_ns += gone.ns;
  EXPECT_EQ(expected_ns,
            (60 + 2 * 50 / 4) * kUs);  // sizes that are not told: a fused call takes three quarters of the products
  EXPECT_EQ(by_hand.find("unfused_attention")->finding.action.find("math backend"), std::string::npos);
  const Found math =
      program("aten::bmm", "aten::_safe_softmax");  // what scaled_dot_product_attention does where no fused kernel fits
  EXPECT_NE(math.find("unfused_attention")->finding.action.find("math backend"), std::string::npos);
  EXPECT_FALSE(program("aten::mm", "aten::_softmax").has("unfused_attention"));       // a classifier in front of something
  EXPECT_FALSE(program("aten::bmm", "aten::_log_softmax").has("unfused_attention"));  // a loss
}

// Backward a fused call makes the scores once more: it takes 1.7 times what the two products take.
TEST(UnfusedAttention, Backward) {
  const auto kernel = [](int correlation, int at, std::string_view op, std::string_view name, int us) {
    return test::join({test::event({.name = "autograd::engine::evaluate_function: MulBackward0", .ts = at - 10, .dur = 10}),
                       test::event({.name = op, .ts = at - 9, .dur = 8}), test::launch(correlation, at - 7, 4, name, at, us)});
  };
  const Found found = test::found_in_events(
      test::join({kernel(1, 100, "aten::bmm", "sm80_xmma_gemm_f32f32", 50),
                  kernel(2, 160, "aten::_softmax_backward_data", "void at::native::softmax_warp_backward<float>()", 100),
                  kernel(3, 270, "aten::bmm", "sm80_xmma_gemm_f32f32", 50)}));
  ASSERT_TRUE(found.has("unfused_attention")) << found.ids();
  std::int64_t expected_ns = 0;
  for (const Removal::Work& gone : found.find("unfused_attention")->remedy.removal.work) expected_ns += gone.ns;
  EXPECT_EQ(expected_ns, (200 - 170) * kUs);
}

// masked_fill clones the scores by a copy on the device, which is no kernel: still one call of attention.
TEST(UnfusedAttention, WithAMask) {
  const auto kernel = [](int correlation, int at, std::string_view op, std::string_view name, int us) {
    return test::join({test::event({.name = op, .ts = at - 9, .dur = 8}), test::launch(correlation, at - 7, 4, name, at, us)});
  };
  const auto copy = [](std::string_view direction) {
    return test::join(
        {test::event({.name = "cudaMemcpyAsync", .ts = 153, .dur = 4, .cat = "cuda_runtime", .args = R"("correlation": 2)"}),
         test::event({.name = fmt::format("Memcpy {}", direction),
                      .ts = 160,
                      .dur = 20,
                      .cat = "gpu_memcpy",
                      .args = R"("correlation": 2, "device": 0, "stream": 7, "bytes": 4096)",
                      .tid = 7})});
  };
  const auto program = [&](std::string_view direction) {
    return test::found_in_events(
        test::join({kernel(1, 100, "aten::bmm", "sm80_xmma_gemm_f32f32", 50), copy(direction),
                    kernel(3, 190, "aten::masked_fill_", "void at::native::vectorized_elementwise_kernel<4>()", 30),
                    kernel(4, 230, "aten::_softmax", "void at::native::softmax_warp_forward<float>()", 30),
                    kernel(5, 270, "aten::bmm", "sm80_xmma_gemm_f32f32", 50)}));
  };
  EXPECT_TRUE(program("DtoD (Device -> Device)").has("unfused_attention"));
  EXPECT_FALSE(program("DtoH (Device -> Pinned)").has("unfused_attention"));  // the host looks at the scores
}

// Heads that are put side by side for the products, one factor scaled, and the result put back: a fused call does without. A
// cast, or a copy before other work, is somebody else's.
TEST(UnfusedAttention, OnTurnedFactors) {
  constexpr std::string_view kTurn =
      "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<at::native::direct_copy_kernel_cuda("
      "at::TensorIteratorBase&)::{lambda()#3}::operator()() const::{lambda()#7}::operator()() const::{lambda(float)#1}>()";
  constexpr std::string_view kScale =
      "void at::native::vectorized_elementwise_kernel<4, at::native::BUnaryFunctor<float, float, float, "
      "at::native::binary_internal::MulFunctor<float> >, std::array<char*, 2ul> >()";
  const auto kernel = [](int correlation, int at, std::string_view op, std::string_view name, int us) {
    return test::join({test::event({.name = op, .ts = at - 9, .dur = 8}), test::launch(correlation, at - 7, 4, name, at, us)});
  };
  const auto claimed_us = [&](std::string_view first, std::string_view last) {
    const Found found = test::found_in_events(
        test::join({kernel(1, 100, "aten::mul", kScale, 20), kernel(2, 130, "aten::copy_", first, 20),
                    kernel(3, 160, "aten::bmm", "sm80_xmma_gemm_f32f32", 50),
                    kernel(4, 220, "aten::_softmax", "void at::native::softmax_warp_forward<float>()", 30),
                    kernel(5, 260, "aten::bmm", "sm80_xmma_gemm_f32f32", 50), kernel(6, 320, "aten::copy_", last, 20)}));
    std::int64_t work = 0;
    for (const ClaimPart& part : test::claim_of(found, "unfused_attention")) work += part.idle ? 0 : part.ns;
    return work / kUs;
  };
  constexpr std::string_view kCast =
      "void at::native::vectorized_elementwise_kernel<8, at::native::bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)"
      "::{lambda(float)#1}, std::array<char*, 2ul> >()";
  EXPECT_EQ(claimed_us(kTurn, kTurn), 20 + 20 + 130 + 20);
  EXPECT_EQ(claimed_us(kCast, kCast), 130);
}

}  // namespace
}  // namespace ridge
