// Whether a program trains, and how many kernels a graph of it would hold.
#include "facts/program_kind.h"

#include <gtest/gtest.h>

#include "facts/capture_sizes.h"
#include "facts/weight_casts.h"
#include "support/loaded_trace.h"

namespace ridge::test {
namespace {

ProgramKind kind_of(const std::string& events) { return program_kind(*load_events(events).model); }

TEST(ProgramKinds, AreToldByOpsAndKernels) {
  const std::string product = event({.name = "aten::mm", .ts = 1, .dur = 5});
  EXPECT_EQ(kind_of(product), ProgramKind::infers);
  EXPECT_EQ(kind_of(join({product, event({.name = "MmBackward0", .ts = 10, .dur = 5})})), ProgramKind::trains);
  EXPECT_EQ(kind_of(join({product, event({.name = "Optimizer.step#SGD.step", .ts = 10, .dur = 5, .cat = "user_annotation"})})),
            ProgramKind::trains);
  // A step that one graph replays has no ops but those around it.
  const std::string replay = launch(1, 10, 5, "triton_poi_fused_gelu_gelu_backward_0", 20, 5, "cudaGraphLaunch");
  EXPECT_EQ(kind_of(join({product, replay})), ProgramKind::trains);
  EXPECT_EQ(kind_of(launch(1, 10, 5, "k", 20, 5)), ProgramKind::unknown);
}

// A transposed convolution is computed forward by the kernel of another one's gradient.
TEST(ProgramKinds, ATransposedConvolutionIsNoTraining) {
  constexpr std::string_view kGradient = "sm90_xmma_dgrad_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc";
  const std::string forward =
      join({event({.name = "aten::conv_transpose2d", .ts = 1, .dur = 20}), launch(1, 5, 5, kGradient, 30, 5)});
  EXPECT_EQ(kind_of(forward), ProgramKind::infers);
  EXPECT_EQ(kind_of(join({forward, launch(2, 40, 5, "sm90_xmma_wgrad_implicit_gemm_f16", 50, 5)})), ProgramKind::trains);
}

TEST(CaptureSizesOf, GraphsAndIterations) {
  const LoadedTrace t = load_events(join({
      event({.name = "Torch-Compiled Region: 0/0", .ts = 0, .dur = 50}),
      event({.name = "## Call CompiledFxGraph a ##", .ts = 5, .dur = 40}),
      launch(1, 10, 2, "k", 100, 5),
      launch(2, 20, 2, "k", 110, 5),
      launch(3, 60, 2, "k", 120, 5),
  }));
  const Scope scope(*t.model);
  const CaptureSizes sizes(scope);
  EXPECT_EQ(sizes.kernels_with(0), 2);
  EXPECT_EQ(sizes.kernels_with(1), 2);
  EXPECT_EQ(sizes.kernels_with(2), 1);
  EXPECT_FALSE(sizes.worthwhile(0));
}

// x [8, 64] by w [64, 32], which is cast before each product.
std::string step_with_cast(int number, int at, std::string_view rows = "8") {
  const std::string to = R"("Input Dims": [[64, 32], [64, 32], []], "Input type": ["c10::BFloat16", "float", "Scalar"])";
  const std::string product =
      "\"Input Dims\": [[" + std::string(rows) + R"(, 64], [64, 32]], "Input type": ["c10::BFloat16", "c10::BFloat16"])";
  return join({event({.name = "ProfilerStep#" + std::to_string(number), .ts = at, .dur = 100, .cat = "user_annotation"}),
               event({.name = "aten::copy_", .ts = at + 10, .dur = 10, .args = to}),
               launch(2 * number + 1, at + 12, 2, "copy", at + 20, 5),
               event({.name = "aten::mm", .ts = at + 30, .dur = 10, .args = product}),
               launch(2 * number + 2, at + 32, 2, "gemm", at + 40, 5)});
}

TEST(WeightCastsOf, InferenceRepeatOverIterations) {
  const auto casts = [](const std::string& events, ProgramKind program = ProgramKind::infers) {
    const LoadedTrace t = load_events(events);
    return repeated_weight_casts(Scope(*t.model), program);
  };
  EXPECT_EQ(casts(join({step_with_cast(0, 0), step_with_cast(1, 100)})), (std::vector<std::uint32_t>{0, 2}));
  EXPECT_TRUE(casts(step_with_cast(0, 0)).empty()) << "once is not again and again";
  // As many rows as the weight: which factor is the weight cannot be told.
  EXPECT_TRUE(casts(join({step_with_cast(0, 0, "64"), step_with_cast(1, 100, "64")})).empty());
  // Training changes the weight between steps; without a gradient's shape nothing tells how many weights there are.
  EXPECT_TRUE(casts(join({step_with_cast(0, 0), step_with_cast(1, 100)}), ProgramKind::trains).empty());
}

constexpr std::string_view kCastKernel =
    "void at::native::vectorized_elementwise_kernel<8, at::native::bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)"
    "::{lambda(float)#1}, std::array<char*, 2ul> >(int, at::native::bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)"
    "::{lambda(float)#1}, std::array<char*, 2ul>)";

// A layer under autocast, without shapes: `casts` of its arguments, then its product; and an op in float32 behind it.
// Where the program casts by hand the casts stand before the layer.
std::string autocast_step(int number, int at, int casts, std::string_view product, bool by_hand = false) {
  const auto number_of = [&](int i) { return 10 * number + i + 1; };
  std::string events =
      join({event({.name = "ProfilerStep#" + std::to_string(number), .ts = at, .dur = 190, .cat = "user_annotation"}),
            event({.name = "aten::linear", .ts = at + (by_hand ? 85 : 5), .dur = by_hand ? 40 : 120})});
  for (int i = 0; i < casts; ++i) {
    const int from = at + 10 + 20 * i;
    events = join({events, event({.name = "aten::to", .ts = from, .dur = 12}),
                   event({.name = "aten::copy_", .ts = from + 2, .dur = 8}),
                   launch(number_of(i), from + 4, 2, kCastKernel, from + 8, 5)});
  }
  return join(
      {events, event({.name = product, .ts = at + 90, .dur = 20}),
       launch(number_of(7), at + 95, 2, "nvjet_sm90_tst_128x64_64x8_1x2_h_bz_bias_TNT", at + 100, 5),
       event({.name = "aten::gelu", .ts = at + 140, .dur = 20}),
       launch(number_of(8), at + 145, 2, "void at::native::vectorized_elementwise_kernel<4, gelu<float>>()", at + 150, 5)});
}

TEST(WeightCastsOf, AutocastStandInTheOrderOfALayersArguments) {
  const auto casts = [](int count, std::string_view product, bool by_hand = false) {
    const LoadedTrace t =
        load_events(join({autocast_step(0, 0, count, product, by_hand), autocast_step(1, 200, count, product, by_hand)}));
    return repeated_weight_casts(Scope(*t.model), ProgramKind::infers).size();
  };
  // Input, weight, bias; weight, bias; the input alone: its weights were cast before.
  EXPECT_EQ(casts(3, "aten::addmm"), 4U);
  EXPECT_EQ(casts(2, "aten::addmm"), 4U);
  EXPECT_EQ(casts(1, "aten::addmm"), 0U);
  // Without a bias one cast may be either's.
  EXPECT_EQ(casts(2, "aten::mm"), 2U);
  EXPECT_EQ(casts(1, "aten::mm"), 0U);
  // linear(x, weight.to(...), bias.to(...)).
  EXPECT_EQ(casts(3, "aten::addmm", true), 4U);
  EXPECT_EQ(casts(2, "aten::addmm", true), 4U);
  EXPECT_EQ(casts(1, "aten::mm", true), 0U);
}

// Two casts with nothing behind them on their thread: the layer that another thread begins with is not theirs.
TEST(WeightCastsOf, AnotherThreadsLayerAreNone) {
  const auto casts = [](bool layer) {
    std::string steps = join({autocast_step(0, 0, 3, "aten::addmm"), autocast_step(1, 200, 3, "aten::addmm"),
                              event({.name = "aten::to", .ts = 360, .dur = 8}), launch(98, 362, 2, kCastKernel, 365, 2),
                              event({.name = "aten::to", .ts = 370, .dur = 8}), launch(99, 372, 2, kCastKernel, 375, 2)});
    if (layer) steps = join({steps, event({.name = "aten::linear", .ts = 380, .dur = 4, .tid = 2})});
    const LoadedTrace t = load_events(steps);
    return repeated_weight_casts(Scope(*t.model), ProgramKind::infers).size();
  };
  EXPECT_EQ(casts(false), 4U);
  EXPECT_EQ(casts(true), 4U);
}

}  // namespace
}  // namespace ridge::test
