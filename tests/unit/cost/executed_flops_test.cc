// Convolutions that multiply in a transformed space, attention under a causal mask: launches as an H200 recorded them, and what
// they execute, counted by hand.
#include <array>

#include <gtest/gtest.h>

#include "analysis/kernels/kernels.h"
#include "cost/cost_model.h"
#include "cost/library/convolution_spaces.h"
#include "unit/cost/hand_made_launch.h"

namespace ridge {
namespace {

using test::launch;

constexpr std::string_view kGemm = "sm80_xmma_gemm_f32f32_f32f32_f32_nt_n_tilesize64x64x8_stage3_warpsize1x4x1_ffma_aligna4";
constexpr std::string_view kComplex =
    "sm80_xmma_gemm_cf32cf32_f32f32_cf32_nt_n_tilesize64x64x8_stage3_warpsize2x2x1_ffma_aligna8";
constexpr double kPeak = 66.9e12, kLaunchSeconds = 5e-6;  // float32 of an H200; the launches of these tests take 5 us

std::string backward(std::string_view dims, std::string_view stride = "[1, 1]") {
  return R"("Input Dims": )" + std::string(dims) +
         R"(, "Input type": ["float", "float", "float", "ScalarList", "ScalarList", "ScalarList", "ScalarList", "Scalar", )"
         R"("ScalarList", "Scalar", "ScalarList"], "Concrete Inputs": ["", "", "", "[0]", ")" +
         std::string(stride) + R"(", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1", "[True, True, False]"])";
}
std::string forward(std::string_view dims) {
  return R"("Input Dims": )" + std::string(dims) +
         R"(, "Input type": ["float", "float", "ScalarList", "ScalarList", "ScalarList", "Scalar", "Scalar", "Scalar", "Scalar"], )"
         R"("Concrete Inputs": ["", "", "[1, 1]", "[1, 1]", "[1, 1]", "1", "False", "False", "False"])";
}

// FLOPs that the percent of peak of each launch stands for; nothing where it has none.
std::vector<std::optional<double>> executed(std::string_view op, const std::string& args,
                                            const std::vector<std::string>& launches) {
  std::string events = test::event({.name = op, .ts = 5, .dur = 900, .args = args});
  for (const std::string& each : launches) events += "," + each;
  const auto trace =
      test::read_ok(R"({"deviceProperties": [{"id": 0, "name": "NVIDIA H200"}], "traceEvents": [)" + events + "]}");
  const Model model(*trace);
  const CostModel costs(model, {});
  std::vector<std::optional<double>> out;
  for (std::size_t row = 0; row < launches.size(); ++row) {
    const auto percent = costs.roof(row).pct_peak_flops;
    out.push_back(percent ? std::optional(*percent / 100 * kPeak * kLaunchSeconds) : std::nullopt);
  }
  return out;
}

TEST(ExecutedFlops, WinogradsProductMultipliesSixBySixPointsForEachFourByFour) {
  const std::string args = backward("[[5, 256, 14, 14], [5, 256, 14, 14], [256, 256, 3, 3], [], [], [], [], [], [], [], []]");
  const std::vector<std::string> launches = {
      launch(1, "sm80_xmma_dgrad_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize64x32x64", "[8, 16, 1]"),
      launch(2, "void cudnn::winograd_nonfused::winogradWgradData4x4<float, float>(x)", "[16, 5, 1]"),
      launch(3, "void cudnn::winograd_nonfused::winogradWgradDelta4x4<float, float>(x)", "[16, 5, 1]"),
      launch(4, kGemm, "[4, 4, 36]"),
      launch(5, "void cudnn::winograd_nonfused::winogradWgradOutput4x4<float, float>(x)", "[8, 32, 1]")};
  const auto found = executed("aten::convolution_backward", args, launches);
  EXPECT_NEAR(*found[3], 2.0 * 36 * 256 * 256 * 80, 1e5);  // 80 tiles; the definition: 1.156e9
  EXPECT_EQ(found[1], 0);
}

// Half of the tiles are left out: by the definition's count a fast kernel would stand above the peak.
TEST(ExecutedFlops, ACausalMaskLeavesHalf) {
  const auto percent = [](std::string_view causal) {
    const std::string args =
        R"("Input Dims": [[2, 512, 16, 64], [2, 512, 16, 64], [2, 512, 16, 64], [], [], [], [], [], []], )"
        R"("Input type": ["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "", "", "Scalar", "Scalar", "Scalar", "Scalar"], )"
        R"("Concrete Inputs": ["", "", "", "", "", "512", "512", "0.", ")" +
        std::string(causal) + R"("])";
    const auto found = executed(
        "aten::_flash_attention_forward", args,
        {launch(1, "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4>>(x)", "[4, 2, 16]")});
    return found.empty() ? 0 : found[0].value_or(0);
  };
  ASSERT_GT(percent("False"), 0);
  EXPECT_NEAR(percent("True") / percent("False"), 513.0 / 1024, 1e-9);
}

TEST(ExecutedFlops, FourierProductsAreComplexAndEachIsOfOneTile) {
  // 32 x 32 results of 3 x 3: tiles of 32 points give 30 a side, so that there are four, each with a product of its own.
  const std::string args = backward("[[192, 64, 32, 32], [192, 128, 32, 32], [64, 128, 3, 3], [], [], [], [], [], [], [], []]");
  std::vector<std::string> launches = {launch(1, "void fft2d_r2c_32x32<float, false, 1u, false>(x)", "[512, 1, 1]")};
  for (int tile = 0; tile < 4; ++tile) {
    launches.push_back(launch(3 * tile + 2, "void fft2d_r2c_32x32<float, false, 0u, false>(x)", "[768, 1, 1]"));
    launches.push_back(launch(3 * tile + 3, kComplex, "[3, 2, 544]"));
    launches.push_back(launch(3 * tile + 4, "void fft2d_c2r_32x32<float, false, false, 0u>(x)", "[1536, 1, 1]"));
  }
  launches.push_back(launch(20, "void flip_filter<float, float>(x)", "[192, 64, 1]"));
  launches.push_back(launch(21, "void fft2d_r2c_64x64<float>(x)", "[192, 64, 1]"));
  launches.push_back(launch(22, "void fft2d_r2c_64x64<float>(x)", "[192, 128, 1]"));
  launches.push_back(launch(23, "void internal::region_transform_ABC_val<int, 32, 32, false>(x)", "[768, 66, 1]"));
  launches.push_back(launch(24, "sm80_xmma_gemm_cf32cf32_f32f32_cf32_tn_n_tilesize64x64x8_stage3", "[2, 1, 2112]"));
  launches.push_back(launch(25, "void fft2d_c2r_64x64<float, false>(x)", "[8192, 1, 1]"));
  const auto found = executed("aten::convolution_backward", args, launches);
  for (const std::size_t product : std::array<std::size_t, 4>{2, 5, 8, 11})
    EXPECT_NEAR(*found[product], 8.0 * 544 * 64 * 128 * 192, 1e6) << product;
  EXPECT_NEAR(*found[17], 8.0 * 64 * 33 * 64 * 128 * 192, 1e6);
  EXPECT_EQ(found[16], 0);  // between two layouts of the points
}

TEST(ExecutedFlops, OfTheForwardPassByItsResultsSize) {
  const std::string args = forward("[[192, 256, 8, 8], [256, 256, 3, 3], [], [], [], [], [], [], []]");
  const auto found = executed(
      "aten::cudnn_convolution", args,
      {launch(1, "void fft2d_r2c_16x16<float>(x)", "[16, 256, 1]"), launch(2, "void fft2d_r2c_16x16<float>(x)", "[16, 192, 1]"),
       launch(3, kComplex, "[3, 4, 144]"), launch(4, "void fft2d_c2r_16x16<float, false>(x)", "[3072, 1, 1]")});
  EXPECT_NEAR(*found[2], 8.0 * 144 * 256 * 256 * 192, 1e6);
  const auto forward4 =
      executed("aten::cudnn_convolution", args,
               {launch(1, "void cudnn::winograd_nonfused::winogradForwardData4x4<float, float>(x)", "[8, 192, 1]"),
                launch(2, kGemm, "[4, 4, 36]")});
  EXPECT_NEAR(*forward4[1], 2.0 * 36 * 256 * 256 * 192 * 4, 1e6);
}

TEST(ExecutedFlops, WhatNoNameTellsIsUnknownAndSaid) {
  const std::string args = forward("[[192, 256, 8, 8], [256, 256, 3, 3], [], [], [], [], [], [], []]");
  const std::string fused = launch(1, "volta_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1", "[64, 4, 1]");
  EXPECT_EQ(executed("aten::cudnn_convolution", args, {fused})[0], std::nullopt);
  const auto trace = test::read_ok(
      R"({"deviceProperties": [{"id": 0, "name": "NVIDIA H200"}], "traceEvents": [)" +
      test::join({test::event({.name = "aten::cudnn_convolution", .ts = 5, .dur = 90, .args = args}), fused}) + "]}");
  const Model model(*trace);
  const Kernels kernels = compute_kernels(Scope(model));
  ASSERT_EQ(kernels.rows.size(), 1U);
  EXPECT_EQ(kernels.rows[0].cost.flops.value(), 2.0 * 192 * 64 * 9 * 256 * 256);  // by the definition, as ever
  EXPECT_EQ(kernels.rows[0].cost.peak_flops_ns.value(), std::nullopt);
  EXPECT_EQ(kernels.rows[0].cost.roof_ns.value(), std::nullopt);
  const auto said = [](const Diagnostic& d) {
    return d.code == "untold_algorithm" && d.message.find("1 kernel does not tell") != std::string::npos;
  };
  EXPECT_TRUE(std::ranges::any_of(kernels.diagnostics, said));
}

TEST(ExecutedFlops, ArgumentsThatDoNotFitAreNoSizes) {
  for (const char* dims :
       {"[[], [5, 256, 14, 14], [256, 256, 3, 3]]", "[[5, 256, 14, 14], [], [256, 256, 3, 3]]", "[[], [], []]", "[]",
        "[[5, 256, 14, 14], [5, 256, 14, 14], []]", "[[-5, 1, 1, 1], [5, 1, -9, 1], [1, 1, 99999999999, 3]]"}) {
    const std::vector<std::string> launches = {launch(1, "winogradForwardData4x4<float>(x)", "[16, 5, 1]"),
                                               launch(2, kGemm, "[4, 4, 36]")};
    EXPECT_EQ(executed("aten::convolution_backward", backward(dims), launches).size(), 2U) << dims;
    EXPECT_EQ(executed("aten::cudnn_convolution", forward(dims), launches).size(), 2U) << dims;
  }
}

TEST(ExecutedFlops, NamesOfTransforms) {
  const auto flops_of = [](std::string_view name, std::string_view dims) {
    const auto found =
        executed("aten::cudnn_convolution", forward(dims), {launch(1, name, "[1, 1, 1]"), launch(2, kGemm, "[1, 1, 1]")});
    return found[1];
  };
  constexpr std::string_view kFive = "[[1, 8, 10, 10], [8, 8, 5, 5], [], [], [], [], [], [], []]";  // 8 x 8 results
  EXPECT_NEAR(flops_of("winogradForwardData9x9_5x5<float>(x)", kFive).value_or(0), 2.0 * 81 * 64 * 4, 1);
  EXPECT_EQ(flops_of("winogradForwardData2x2<float>(x)", kFive), std::nullopt);  // no tile of 4 points holds a filter of 5
  for (const std::string_view name :
       {"winogradForwardData", "winogradForwardData99999999999x9(x)", "fft2d_r2c_0x0(x)", "fft2d_r2c_32"})
    EXPECT_EQ(flops_of(name, kFive), std::nullopt) << name;
  EXPECT_TRUE(names_transform("miopenSp3AsmConv_v30_3_1_gfx94x_fp16_f2x3_stride1"));
  EXPECT_FALSE(names_transform("ampere_sgemm_128x64_nn"));
}

}  // namespace
}  // namespace ridge
