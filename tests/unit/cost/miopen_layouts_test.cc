// MIOpen's transposes, casts and fills around a convolution: names, grids and blocks as a trace of an MI300X has them.
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "cost/cost_model.h"
#include "support/loaded_trace.h"
#include "trace/tables.h"
#include "unit/cost/hand_made_launch.h"

namespace ridge {
namespace {

struct MiopenKernel {
  std::string_view name, grid, block = "[256, 1, 1]";
};

std::vector<LaunchCost> costs_of(std::string_view op, std::string_view args, const std::vector<MiopenKernel>& kernels) {
  std::string events = test::event({.name = op, .ts = 5, .dur = 500, .args = args});
  int correlation = 0;
  for (const MiopenKernel& k : kernels) events = test::join({events, test::launch(++correlation, k.name, k.grid, k.block)});
  const auto loaded = test::load_events(events);
  const CostModel model(*loaded.model, {});
  std::vector<LaunchCost> out;
  for (std::size_t i = 0; i < kernels.size(); ++i) out.push_back(model[i]);
  return out;
}

void expect_moves(const LaunchCost& cost, double read, double written) {
  EXPECT_EQ(cost.bytes_read, read);
  EXPECT_EQ(cost.bytes_written, written);
  EXPECT_EQ(cost.estimate, Estimate::shapes);
}

constexpr double kX = 10.0 * 256 * 14 * 14, kW = 512.0 * 256 * 9, kY = 10.0 * 512 * 7 * 7;  // elements

TEST(MiopenLayouts, TheBlocksOfATransposeTellItsTensor) {
  constexpr std::string_view kArgs =
      R"("Input Dims": [[10, 256, 14, 14], [512, 256, 3, 3], [], [], [], [], [], [], []], )"
      R"("Input type": ["c10::BFloat16", "c10::BFloat16", "", "ScalarList", "ScalarList", "ScalarList", "Scalar", "Scalar", "Scalar"], )"
      R"("Concrete Inputs": ["", "", "", "[1, 1]", "[2, 2]", "[1, 1]", "1", "False", "False"])";
  const auto costs = costs_of("aten::miopen_convolution", kArgs,
                              {{"SubTensorOpWithScalar1d", "[65536, 1, 1]"},
                               {"batched_transpose_16x32_half", "[266240, 1, 1]"},
                               {"batched_transpose_16x32_half", "[1048576, 1, 1]"},
                               {"igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1_bt128x128x32_wt32x32x8_gkgs", "[32768, 1, 1]"},
                               {"SubTensorOpWithCastTensor1d", "[65536, 1, 1]"},
                               {"batched_transpose_32x32_half", "[81920, 1, 1]"}});
  expect_moves(costs[0], 0, 4 * kY);  // the sums in float32
  expect_moves(costs[1], 2 * kX, 2 * kX);
  expect_moves(costs[2], 2 * kW, 2 * kW);
  expect_moves(costs[4], 4 * kY, 2 * kY);
  expect_moves(costs[5], 2 * kY, 2 * kY);
}

TEST(MiopenLayouts, BackwardTheyServeTheKernelBesideThem) {
  constexpr std::string_view kArgs =
      R"("Input Dims": [[10, 512, 7, 7], [10, 256, 14, 14], [512, 256, 3, 3], [], [], [], [], [], [], [], []], )"
      R"("Input type": ["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "ScalarList", "ScalarList", "ScalarList", "ScalarList", "Scalar", "ScalarList", "Scalar", ""], )"
      R"("Concrete Inputs": ["", "", "", "[0]", "[2, 2]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1", "[True, True, False]"])";
  const auto costs = costs_of("aten::convolution_backward", kArgs,
                              {{"SubTensorOpWithScalar1d", "[65536, 1, 1]"},
                               {"batched_transpose_32x32_half", "[81920, 1, 1]"},
                               {"batched_transpose_16x32_half", "[1048576, 1, 1]"},
                               {"igemm_bwd_gtcx3_nhwc_bf16_bx0_ex1_bt128x128x32_gkgs", "[163840, 1, 1]"},
                               {"SubTensorOpWithCastTensor1d", "[65536, 1, 1]"},
                               {"batched_transpose_32x16_half", "[266240, 1, 1]"},
                               {"batched_transpose_16x32_half", "[266240, 1, 1]"},
                               {"batched_transpose_32x32_half", "[81920, 1, 1]"},
                               {"SubTensorOpWithScalar1d", "[65536, 1, 1]"},
                               {"igemm_wrw_gtcx3_nhwc_bf16_bx0_ex1_bt256x128x16_gkgs", "[1024, 1, 37]"},
                               {"SubTensorOpWithCastTensor1d", "[65536, 1, 1]"},
                               {"batched_transpose_32x16_half", "[1048576, 1, 1]"}});
  expect_moves(costs[0], 0, 4 * kX);
  expect_moves(costs[1], 2 * kY, 2 * kY);
  expect_moves(costs[2], 2 * kW, 2 * kW);
  expect_moves(costs[4], 4 * kX, 2 * kX);
  expect_moves(costs[5], 2 * kX, 2 * kX);
  expect_moves(costs[6], 2 * kX, 2 * kX);
  expect_moves(costs[7], 2 * kY, 2 * kY);
  expect_moves(costs[8], 0, 4 * kW);
  expect_moves(costs[10], 4 * kW, 2 * kW);
  expect_moves(costs[11], 2 * kW, 2 * kW);
}

TEST(MiopenLayouts, ATransposeOfNoneOfTheTensorsIsUnknown) {
  constexpr std::string_view kArgs =
      R"("Input Dims": [[10, 256, 14, 14], [512, 256, 3, 3]], "Input type": ["c10::BFloat16", "c10::BFloat16"])";
  const auto costs = costs_of("aten::miopen_convolution", kArgs, {{"batched_transpose_16x32_half", "[512, 1, 1]"}});
  EXPECT_EQ(costs[0].bytes_read, std::nullopt);
  EXPECT_EQ(costs[0].bytes_written, std::nullopt);
}

TEST(MiopenLayouts, NoneIsFasterThanTheMemoryOfAnMi300x) {
  const auto path = test::path_of("mi300x_resnet_ddp_checkpoint");
  if (!path) GTEST_SKIP() << "no ../shared/traces/public";
  const auto loaded = test::load_file(*path);
  const CostModel costs(*loaded.model, {});
  const auto& work = loaded.trace->of(EventClass::device_work);
  std::size_t known = 0;
  for (std::size_t row = 0; row < work.size(); ++row) {
    const std::string_view name = loaded.trace->text(loaded.trace->events.name(work[row]));
    const bool helper = name.starts_with("batched_transpose_") || name.starts_with("SubTensorOp");
    if (!helper || loaded.model->links().op[row] == kNoNode) continue;
    ASSERT_TRUE(costs[row].bytes_read.has_value()) << name;
    EXPECT_LE(costs.roof(row).pct_peak_bandwidth.value_or(0), 100) << name;
    ++known;
  }
  EXPECT_GT(known, 100U);
}

}  // namespace
}  // namespace ridge
