// The least that work takes, as a bound: roofs of an H200 (4.8 TB/s, an L2 of 60 MiB, 989.4 TFLOP/s in bfloat16) computed by
// hand, and what is left of it in compiled code.
#include "analysis/findings/least_time.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "unit/analysis/findings/found.h"

namespace ridge {
namespace {

using test::event;
using test::join;
using test::kUs;

constexpr std::string_view kLeastTimeAdd =
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>()";

// One call and its work, from 100 us on.
struct OneCall {
  std::string_view op = "aten::add", kernel = kLeastTimeAdd;
  int us = 50;
  std::string_view args = "";
  std::string_view call = "cudaLaunchKernel", sort = "kernel", more = "";  // `more`: args of the work
};

struct LeastTime {
  double gain_us = -1, compiled_us = -1;

  explicit LeastTime(const OneCall& one) {
    const test::Found found = test::found_on_h200(
        join({event({.name = one.op, .ts = 80, .dur = 15, .args = one.args}),
              event({.name = one.call, .ts = 85, .dur = 5, .cat = "cuda_runtime", .args = R"("correlation": 1)"}),
              event({.name = one.kernel,
                     .ts = 100,
                     .dur = one.us,
                     .cat = one.sort,
                     .args = fmt::format(R"("correlation": 1, "device": 0, "stream": 7{})", one.more),
                     .tid = 7})}));
    const Scope scope(*found.loaded.model);
    Ledger ledger(scope);
    const Facts facts(scope, ledger, {});
    const DeviceLedger& device = ledger.devices().at(0);
    gain_us = static_cast<double>(most_gain_ns(facts, device.work.at(0), device.device)) / kUs;
    compiled_us = static_cast<double>(most_gain_compiled_ns(facts, device.work.at(0), device.device)) / kUs;
  }
};

std::string two_tensors(std::string_view size, std::string_view type) {
  return fmt::format(R"("Input Dims": [{0}, {0}, []], "Input type": ["{1}", "{1}", "Scalar"])", size, type);
}

// 3 tensors of 1 GiB: 671 us at 4.8 TB/s, whatever reads them.
TEST(LeastTime, IsTheRoof) {
  EXPECT_NEAR(LeastTime({.us = 1'000, .args = two_tensors("[16384, 16384]", "float")}).gain_us, 1'000 - 671.1, 0.2);
}

// 3 tensors of 4 MiB: 2.62 us from memory, a quarter of that from the L2.
TEST(LeastTime, IsAQuarterOfTheTrafficInTheL2) {
  EXPECT_NEAR(LeastTime({.us = 50, .args = two_tensors("[1024, 1024]", "float")}).gain_us, 50 - 2.62 / 4, 0.02);
}

// 2.15 GFLOP: 2.17 us at 989.4 TFLOP/s, whose 6 MiB in the L2 make it no shorter.
TEST(LeastTime, OfAProductIsItsArithmetic) {
  const LeastTime product({.op = "aten::mm",
                           .kernel = "nvjet_hsh_128x64_64x8_1x2_h_bz_TNN",
                           .us = 10,
                           .args = two_tensors("[1024, 1024]", "c10::BFloat16")});
  EXPECT_NEAR(product.gain_us, 10 - 2.17, 0.05);
}

TEST(LeastTime, IsNothingWhereSizesAreNotTold) { EXPECT_NEAR(LeastTime({.us = 50}).gain_us, 50, 1e-3); }

// Another kernel may be a tenth faster; what goes between host and device, between ranks, and what is compiled already stays.
TEST(LeastTime, CompiledLeavesProductsCopiesAndCollectives) {
  const OneCall stays[] = {
      {.op = "aten::mm", .kernel = "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_stage3_ffma"},
      {.op = "aten::_scaled_dot_product_flash_attention", .kernel = "void flash_fwd_kernel<Flash_fwd_kernel_traits<64> >()"},
      {.op = "triton_poi_fused_add_0", .kernel = "triton_poi_fused_add_0"},
      {.op = "c10d::allreduce_", .kernel = "ncclDevKernel_AllReduce_Sum_f32_RING_LL"},
      {.op = "aten::copy_", .kernel = "Memcpy HtoD (Pinned -> Device)", .call = "cudaMemcpyAsync", .sort = "gpu_memcpy"},
      {.op = "aten::add", .kernel = kLeastTimeAdd, .call = "cudaGraphLaunch", .more = R"(, "graph node id": 3)"},
  };
  for (const OneCall& one : stays) EXPECT_NEAR(LeastTime(one).compiled_us, 5, 1e-2) << one.kernel;
}

TEST(LeastTime, CompiledTakesAllElse) {
  EXPECT_NEAR(LeastTime({.us = 50}).compiled_us, 50, 1e-3);
  EXPECT_NEAR(LeastTime({.op = "aten::softmax", .kernel = "void at::native::softmax_warp_forward<float>()"}).compiled_us, 50,
              1e-3);
  const OneCall on_device{
      .op = "aten::copy_", .kernel = "Memcpy DtoD (Device -> Device)", .call = "cudaMemcpyAsync", .sort = "gpu_memcpy"};
  EXPECT_NEAR(LeastTime(on_device).compiled_us, 50, 1e-3);
}

// A convolution may be laid out otherwise: what is above its roof. 32 images of 64 channels and 56 x 56, by 64 windows of 3 x
// 3: 7.4 GFLOP in float16, 7.48 us.
TEST(LeastTime, CompiledLeavesOfAConvolutionItsRoof) {
  const LeastTime convolution(
      {.op = "aten::cudnn_convolution",
       .kernel = "sm90_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize128x128x64_warpgroupsize1x1x1",
       .us = 100,
       .args = R"("Input Dims": [[32, 64, 56, 56], [64, 64, 3, 3], [], [], [], [], [], [], []], )"
               R"("Input type": ["c10::Half", "c10::Half", "ScalarList", "ScalarList", "ScalarList", "Scalar", "Scalar", )"
               R"("Scalar", "Scalar"], "Concrete Inputs": ["", "", "[1, 1]", "[1, 1]", "[1, 1]", "1", "False", "False", )"
               R"("True"])"});
  EXPECT_NEAR(convolution.compiled_us, convolution.gain_us, 1e-3);
  EXPECT_NEAR(convolution.compiled_us, 100 - 7.48, 0.1);
}

}  // namespace
}  // namespace ridge
