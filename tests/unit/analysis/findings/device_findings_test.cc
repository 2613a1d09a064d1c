// What the device's work could be instead: communication, casts, products, slow kernels. On traces made by hand, with the
// savings computed by hand; and on the same trace without the fault.
#include <algorithm>

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "support/says.h"
#include "unit/analysis/findings/found.h"
#include "unit/analysis/findings/program.h"

namespace ridge {
namespace {

using test::Found;
using test::found_in;
using test::kUs;
using test::Program;

// An all-reduce of 300 us, 100 of which run beside a kernel.
TEST(DeviceFindings, ExposedCommunication) {
  Program program;
  program.kernel(10)
      .kernel(110, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", 300, 20)
      .kernel(310, "k", 200);
  const Found found = found_in(program.text);
  ASSERT_TRUE(found.has("exposed_communication")) << found.ids();
  EXPECT_EQ(found.find("exposed_communication")->finding.at_most_ns, 200 * kUs);
  Program covered;
  covered.kernel(10, "k", 500)
      .kernel(110, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", 300, 20);
  EXPECT_FALSE(found_in(covered.text).has("exposed_communication"));
}

std::string cast(int correlation, int at, std::string_view kernel, std::string_view to, std::string_view from) {
  return test::join(
      {test::event({.name = "aten::_to_copy", .ts = at - 9, .dur = 8}),
       test::event({.name = "aten::copy_",
                    .ts = at - 8,
                    .dur = 6,
                    .args = fmt::format(
                        R"("Input Dims": [[1024, 1024], [1024, 1024], []], "Input type": ["{}", "{}", "Scalar"])", to, from)}),
       test::launch(correlation, at - 7, 4, kernel, at, 50)});
}

std::string cast_down(int correlation, int at) {
  return cast(correlation, at,
              "void at::native::vectorized_elementwise_kernel<4, "
              "at::native::bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda(float)#1}>()",
              "c10::BFloat16", "float");
}
std::string cast_up(int correlation, int at) {
  return cast(correlation, at,
              "void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::"
              "{lambda(float)#1}>()",
              "float", "c10::BFloat16");
}

TEST(DeviceFindings, CastsForthAndBack) {
  const Found trip = test::found_in_events(test::join({cast_down(1, 100), cast_up(2, 160)}));
  ASSERT_TRUE(trip.has("duplicate_casts")) << trip.ids();
  EXPECT_EQ(trip.find("duplicate_casts")->finding.at_most_ns, (2 * 50 + 10) * kUs);  // and the pause before the second
  // Down for a product, as autocast does.
  const Found needed = test::found_in_events(
      test::join({cast_down(1, 100), test::launch(2, 155, 4, "nvjet_sm90_tst_128x64", 160, 50), cast_up(3, 220)}));
  EXPECT_FALSE(needed.has("duplicate_casts")) << needed.ids();
}

// A scale is wanted in the wider type; of one element the casts are no cost of their own.
TEST(DeviceFindings, CastsOfOneElementAreNoRoundTrip) {
  std::string events = test::join({cast_down(1, 100), cast_up(2, 160)});
  for (std::size_t at; (at = events.find("[1024, 1024]")) != std::string::npos;) events.replace(at, 12, "[1]");
  EXPECT_FALSE(test::found_in_events(events).has("duplicate_casts"));
}

std::string marked_step(int number, int at, int dur) {
  return test::event({.name = fmt::format("ProfilerStep#{}", number), .ts = at, .dur = dur, .cat = "user_annotation"});
}

// A cast that ends a round trip begins no other: three times forth and back in each of two steps are six round trips.
TEST(DeviceFindings, RoundTripsOfCastsAreCountedOnce) {
  std::string events = test::join({marked_step(0, 50, 350), marked_step(1, 400, 400)});
  for (int i = 0; i < 12; ++i) events += ", " + (i % 2 == 0 ? cast_down(i + 1, 100 + 60 * i) : cast_up(i + 1, 100 + 60 * i));
  const Found found = test::found_in_events(events);
  ASSERT_TRUE(found.has("duplicate_casts")) << found.ids();
  const Finding& finding = found.find("duplicate_casts")->finding;
  EXPECT_TRUE(test::says(finding.finding, {" 3 round trips"}));
  EXPECT_EQ(finding.at_most_ns, (12 * 50 + 11 * 10) * kUs);  // with the pauses between them
}

// A step that casts its input down and its result up: what stands side by side is of two steps.
TEST(DeviceFindings, CastsOfTwoIterationsAreNoRoundTrip) {
  const auto step = [](int number, int at) {
    return test::join({marked_step(number, at, 200), cast_down(3 * number + 1, at + 20),
                       test::launch(3 * number + 2, at + 75, 4, "nvjet_sm90_tst_128x64", at + 80, 50),
                       cast_up(3 * number + 3, at + 140)});
  };
  const Found found = test::found_in_events(test::join({step(0, 100), step(1, 300), step(2, 500)}));
  EXPECT_FALSE(found.has("duplicate_casts")) << found.ids();
}

std::string product(int correlation, int at, int size, std::string_view kernel = "nvjet_sm90_tst_128x64_64x8_1x2_h_bz_NNT",
                    std::string_view type = "c10::BFloat16") {
  return test::join({test::event({.name = "aten::mm",
                                  .ts = at - 9,
                                  .dur = 8,
                                  .args = fmt::format(R"("Input Dims": [[{0}, {0}], [{0}, {0}]], "Input type": ["{1}", "{1}"])",
                                                      size, type)}),
                     test::launch(correlation, at - 7, 4, kernel, at, 900)});
}

TEST(DeviceFindings, ProductsOffTheGrid) {
  EXPECT_TRUE(test::found_on_h200(product(1, 100, 4095)).has("gemm_alignment"));
  EXPECT_FALSE(test::found_on_h200(product(1, 100, 4096)).has("gemm_alignment"));
  // 260 = 2 tiles of 128 and 4: most of the third is empty. Hostile sizes neither crash nor count.
  EXPECT_TRUE(test::found_on_h200(product(1, 100, 264)).has("gemm_alignment"));
  EXPECT_FALSE(test::found_on_h200(product(1, 100, 0)).has("gemm_alignment"));
  EXPECT_FALSE(test::found_on_h200(product(1, 100, -8)).has("gemm_alignment"));
}

// Without shapes a kernel's name tells how it loads; of float32 that is no fault, and short ones have nothing to gain.
TEST(DeviceFindings, ProductsOffTheGridByTheirNames) {
  const auto has = [](std::string_view kernel, int us) {
    return test::found_on_h200(
               test::join({test::event({.name = "aten::mm", .ts = 90, .dur = 8}), test::launch(1, 92, 4, kernel, 100, us)}))
        .has("gemm_alignment");
  };
  EXPECT_TRUE(has("void cutlass::Kernel2<cutlass_75_tensorop_bf16_s1688gemm_bf16_256x128_tn_align1>()", 400));
  EXPECT_FALSE(has("void cutlass::Kernel2<cutlass_75_tensorop_bf16_s1688gemm_bf16_256x128_tn_align1>()", 20));
  EXPECT_FALSE(has("void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_bf16_256x128_32x3_nt_align8>()", 400));
  EXPECT_FALSE(has("void cutlass::Kernel2<cutlass_80_simt_sgemm_256x128_8x4_nt_align1>()", 400));
}

TEST(DeviceFindings, FloatProductsWithoutTf32) {
  const std::string plain = "ampere_sgemm_128x64_nn", fast = "ampere_s1688gemm_128x128_tn_tf32f32";
  EXPECT_TRUE(test::found_on_h200(product(1, 100, 4096, plain, "float")).has("tf32_off"));
  EXPECT_FALSE(test::found_on_h200(product(1, 100, 4096, fast, "float")).has("tf32_off"));
  EXPECT_FALSE(test::found_in_events(product(1, 100, 4096, plain, "float")).has("tf32_off"));  // which device is not known
  EXPECT_FALSE(test::found_on_h200(product(1, 100, 4096, plain, "c10::BFloat16")).has("tf32_off"));  // TF32 is for float32
  // The user says that it was on, of products that an op tells and of those that only their name does.
  const CostOptions on{.device = {}, .tf32 = true};
  EXPECT_FALSE(test::found_on_h200(product(1, 100, 4096, plain, "float"), on).has("tf32_off"));
  const std::string nameless = test::launch(1, 93, 4, plain, 100, 900);
  EXPECT_TRUE(test::found_on_h200(nameless).has("tf32_off"));
  EXPECT_FALSE(test::found_on_h200(nameless, on).has("tf32_off"));
}

// A convolution or product of 900 us by that kernel.
std::string float_work(int correlation, int at, std::string_view op, std::string_view kernel) {
  return test::join({test::event({.name = op, .ts = at - 9, .dur = 8}), test::launch(correlation, at - 7, 4, kernel, at, 900)});
}

// cuDNN has one switch and products another; a kernel on TF32 shows that its switch is on, and plain ones beside it are the
// library's choice.
TEST(DeviceFindings, PlainKernelsThatNoSwitchChanges) {
  constexpr std::string_view kPlainConv =
      "sm80_xmma_fprop_implicit_gemm_f32f32_f32f32_f32_nchwkcrs_nchw_tilesize32x32x8_g1_ffma_execute_kernel";
  constexpr std::string_view kFastConv =
      "sm90_xmma_fprop_implicit_gemm_f32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize64x32x32_execute_kernel";
  constexpr std::string_view kDepthwise =
      "sm90_xmma_depthwise_convolution_wgrad_tiling_f32f32_f32f32_f32_nhwckrsc_nhwc_tilesize1x6x6_execute_kernel";
  constexpr std::string_view kPlainProduct = "ampere_sgemm_128x64_nn";
  const std::string conv = float_work(1, 100, "aten::convolution", kPlainConv);
  const Found alone = test::found_on_h200(conv);
  ASSERT_TRUE(alone.has("tf32_off")) << alone.ids();
  EXPECT_EQ(alone.find("tf32_off")->finding.action.find("matmul_precision"), std::string::npos);
  EXPECT_NE(alone.find("tf32_off")->finding.action.find("cudnn.allow_tf32"), std::string::npos);
  const std::string fast = float_work(2, 1'100, "aten::convolution", kFastConv);
  EXPECT_FALSE(test::found_on_h200(test::join({conv, fast})).has("tf32_off"));
  EXPECT_FALSE(test::found_on_h200(float_work(1, 100, "aten::convolution_backward", kDepthwise)).has("tf32_off"));
  EXPECT_FALSE(test::found_on_h200(float_work(1, 100, "aten::linalg_qr", kPlainProduct)).has("tf32_off"));  // the solver's own
  // Convolutions on TF32 say nothing of products.
  const Found product = test::found_on_h200(test::join({fast, float_work(3, 2'100, "aten::mm", kPlainProduct)}));
  ASSERT_TRUE(product.has("tf32_off")) << product.ids();
  EXPECT_NE(product.find("tf32_off")->finding.action.find("matmul_precision"), std::string::npos);
  EXPECT_EQ(product.find("tf32_off")->finding.action.find("cudnn"), std::string::npos);
  // A recurrent layer's products are cuDNN's.
  const std::string rnn =
      float_work(4, 3'100, "aten::_cudnn_rnn", "sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize64x64x32_execute_kernel");
  EXPECT_TRUE(test::found_on_h200(test::join({rnn, float_work(5, 4'100, "aten::mm", kPlainProduct)})).has("tf32_off"));
}

// 64 MiB read and written in 900 us, a small part of the bandwidth: a copy could be faster, what draws numbers could not.
TEST(DeviceFindings, DrawingNumbersIsNotBoundByMemory) {
  const auto program = [](std::string_view op, std::string_view kernel) {
    return test::found_on_h200(test::join(
        {test::event(
             {.name = op,
              .ts = 91,
              .dur = 8,
              .args =
                  R"("Input Dims": [[4096, 4096], [4096, 4096]], "Input type": ["float", "float"], "Input Strides": [[4096, 1], [4096, 1]])"}),
         test::launch(1, 93, 4, kernel, 100, 900)}));
  };
  const Found copy =
      program("aten::copy_", "void at::native::elementwise_kernel<128, 4, at::native::direct_copy_kernel_cuda>()");
  EXPECT_TRUE(copy.has("memory_bound_inefficient")) << copy.ids();
  EXPECT_FALSE(program("aten::copy_", "void at::native::distribution_elementwise_grid_stride_kernel<float, 4>()")
                   .has("memory_bound_inefficient"));
}

// A product of 137 GFLOP takes 0.2 ms here. What takes 2 ms is slow, what takes 0.22 ms is not, and of a device that was not
// measured nothing is said.
TEST(DeviceFindings, AKernelFarSlowerThanExpected) {
  const auto events = [](int us) {
    return test::join(
        {test::event(
             {.name = "aten::mm",
              .ts = 91,
              .dur = 8,
              .args =
                  R"("Input Dims": [[4096, 4096], [4096, 4096]], "Input type": ["c10::BFloat16", "c10::BFloat16"], "Input Strides": [[4096, 1], [4096, 1]])"}),
         test::launch(1, 93, 4, "nvjet_tst_128x256_64x4_2x1_v_bz_coopA_NNT", 100, us)});
  };
  const Found slow = test::found_on_h200(events(2'000));
  ASSERT_TRUE(slow.has("slow_kernel")) << slow.ids();
  EXPECT_NE(slow.find("slow_kernel")->finding.evidence.find("times what such a call takes"), std::string::npos);
  EXPECT_FALSE(test::found_on_h200(events(220)).has("slow_kernel"));
  CostOptions other;
  other.device = **find_device("A100-SXM4-80GB");
  EXPECT_FALSE(test::found_on_h200(events(9'000), other).has("slow_kernel"));
}

TEST(DeviceFindings, WithoutDeviceWorkThereIsNothingToFind) {
  const Found found = test::found_in_events(test::event({.name = "aten::mm", .ts = 1, .dur = 2}));
  EXPECT_TRUE(found.findings.no_device_events);
  EXPECT_EQ(report_findings(found.findings).diagnostics.front().code, "no_device_events");
}

}  // namespace
}  // namespace ridge
