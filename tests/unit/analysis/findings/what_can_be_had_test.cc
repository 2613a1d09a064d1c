// Claims against what a program can have: how its own tensors lie, not those of autograd or slices of others; not what a
// compiler's kernel would take if it computed less; no order of images for sequences.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "unit/analysis/findings/found.h"

namespace ridge {
namespace {

using test::Found;

// Ten launches of one kernel by one op, inside of another where `around` names one.
struct Work {
  std::string_view op, args, kernel;
  int us = 0;
  std::string_view around = "";
  std::string_view grid = "[4096, 1, 1]";
};

Found program_of(const Work& work, std::string_view besides = "") {
  std::string events;
  for (int i = 0; i < 10; ++i) {
    const int at = 100 + 30 * i;
    if (!work.around.empty()) events += test::event({.name = work.around, .ts = at - 1, .dur = 25}) + ", ";
    events += test::event({.name = work.op, .ts = at, .dur = 20, .args = work.args}) + ", ";
    const std::string id = fmt::format("\"correlation\": {}", i + 1);
    events += test::event({.name = "cudaLaunchKernel", .ts = at + 5, .dur = 4, .cat = "cuda_runtime", .args = id}) + ", ";
    events += test::event({.name = work.kernel,
                           .ts = 500 + i * work.us,
                           .dur = work.us,
                           .cat = "kernel",
                           .args = fmt::format(R"({}, "device": 0, "stream": 7, "grid": {}, "block": [128, 1, 1], )"
                                               R"("registers per thread": 32, "shared memory": 0)",
                                               id, work.grid),
                           .tid = 7}) +
              ", ";
  }
  events += besides.empty() ? test::event({.name = "aten::view", .ts = 450, .dur = 1}) : std::string(besides);
  return test::found_on_h200(events);
}

// 268 MB read and written: 70 us where both lie alike, 400 where one lies across.
constexpr std::string_view kAcross =
    R"("Input Dims": [[8192, 8192], [8192, 8192], []], "Input Strides": [[8192, 1], [1, 8192], []], )"
    R"("Input type": ["c10::BFloat16", "c10::BFloat16", "Scalar"])";
constexpr std::string_view kSlice =
    R"("Input Dims": [[8192, 8192], [8192, 8192], []], "Input Strides": [[8192, 1], [9000, 1], []], )"
    R"("Input type": ["c10::BFloat16", "c10::BFloat16", "Scalar"])";
constexpr std::string_view kStridedAdd =
    "void at::native::elementwise_kernel<128, 4, at::native::CUDAFunctor_add<c10::BFloat16> >()";

TEST(WhatCanBeHad, OrderWhereTheProgramChoosesIt) {
  const Found chosen = program_of({.op = "aten::add", .args = kAcross, .kernel = kStridedAdd, .us = 400});
  EXPECT_TRUE(chosen.has("memory_bound_inefficient")) << chosen.ids();
  const Found gradients = program_of({.op = "aten::add",
                                      .args = kAcross,
                                      .kernel = kStridedAdd,
                                      .us = 400,
                                      .around = "autograd::engine::evaluate_function: CatBackward0"});
  EXPECT_FALSE(gradients.has("memory_bound_inefficient")) << gradients.ids();
  const Found slice = program_of({.op = "aten::add", .args = kSlice, .kernel = kStridedAdd, .us = 400});
  EXPECT_FALSE(slice.has("memory_bound_inefficient")) << slice.ids();
}

// In channels_last, as the convolutions around it want it: in the other order it would be faster, and they slower.
TEST(WhatCanBeHad, ImagesStayInTheOrderOfTheirConvolutions) {
  const Found norm = program_of(
      {.op = "aten::native_batch_norm",
       .args = R"("Input Dims": [[64, 32, 112, 112], [32], [32], [32], [32], [], [], []], )"
               R"("Input Strides": [[401408, 1, 3584, 32], [1], [1], [1], [1], [], [], []], )"
               R"("Input type": ["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "c10::BFloat16", )"
               R"("Scalar", "Scalar", "Scalar"], "Concrete Inputs": ["", "", "", "", "", "False", "0.1", "1e-05"])",
       .kernel = "void at::native::batch_norm_transform_input_channels_last_kernel<c10::BFloat16, float, c10::BFloat16, 4>()",
       .us = 104,
       .grid = "[1, 128, 1]"});
  EXPECT_FALSE(norm.has("memory_bound_inefficient")) << norm.ids();
}

// 419 MB at 30 % of the bandwidth: twice what pointwise kernels take. Only a launch that leaves the device idle is wrong.
constexpr std::string_view kGenerated = "triton_poi_fused_convolution_gelu_native_group_norm_2";
constexpr std::string_view kGeneratedArgs =
    R"("Input Dims": [[16, 512, 12800], [512], [16, 512, 12800], []], )"
    R"("Input Strides": [[6553600, 12800, 1], [1], [6553600, 12800, 1], []], )"
    R"("Input type": ["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "Scalar"], )"
    R"("Concrete Inputs": ["", "", "", "104857600"], "kernel_backend": "triton", "kernel_kwargs": "XBLOCK=1024")";

TEST(WhatCanBeHad, AGeneratedKernelIsTiledAlready) {
  const Found usual =
      program_of({.op = kGenerated, .args = kGeneratedArgs, .kernel = kGenerated, .us = 287, .grid = "[102400, 1, 1]"});
  EXPECT_FALSE(usual.has("memory_bound_inefficient")) << usual.ids();
  EXPECT_FALSE(usual.has("slow_kernel")) << usual.ids();
  const Found few =
      program_of({.op = kGenerated, .args = kGeneratedArgs, .kernel = kGenerated, .us = 287, .grid = "[64, 1, 1]"});
  EXPECT_TRUE(few.has("memory_bound_inefficient")) << few.ids();
  const Found slow =
      program_of({.op = kGenerated, .args = kGeneratedArgs, .kernel = kGenerated, .us = 2'870, .grid = "[102400, 1, 1]"});
  EXPECT_TRUE(slow.has("slow_kernel")) << slow.ids();
}

// In double precision such a kernel computes for longer than it moves: its bytes tell nothing.
TEST(WhatCanBeHad, OfGeneratedKernelsInDoublePrecisionNoTimeIsExpected) {
  std::string args(kGeneratedArgs);
  for (std::size_t at; (at = args.find("c10::BFloat16")) != args.npos;) args.replace(at, 13, "double");
  const auto program = [&](std::string_view given) {
    return program_of({.op = kGenerated, .args = given, .kernel = kGenerated, .us = 11'000, .grid = "[102400, 1, 1]"});
  };
  EXPECT_TRUE(program(kGeneratedArgs).has("slow_kernel"));
  EXPECT_FALSE(program(args).has("slow_kernel"));
}

// Of a kernel that adds into rows by index, how often they repeat decides how long it takes.
TEST(WhatCanBeHad, OfRowsAddedByIndexNoTimeIsExpected) {
  constexpr std::string_view kAdds = "triton_poi_fused__to_copy__unsafe_index_put_new_zeros_2";
  const Found found = program_of({.op = kAdds, .args = kGeneratedArgs, .kernel = kAdds, .us = 2'870, .grid = "[102400, 1, 1]"});
  EXPECT_FALSE(found.has("slow_kernel")) << found.ids();
}

// Nor of one that goes over a window for each element.
TEST(WhatCanBeHad, OfWindowsNoTimeIsExpected) {
  constexpr std::string_view kWindows = "triton_poi_fused_add_clamp_grid_sampler_2d_max_pool2d_with_indices_4";
  const Found found =
      program_of({.op = kWindows, .args = kGeneratedArgs, .kernel = kWindows, .us = 2'870, .grid = "[102400, 1, 1]"});
  EXPECT_FALSE(found.has("slow_kernel")) << found.ids();
}

// Compiled code and the backward pass call all convolutions alike: of sequences there is nothing to gain, and where nothing
// tells, nothing is expected.
TEST(WhatCanBeHad, SequencesHaveNoChannelsLast) {
  const Work transform{.op = "aten::cudnn_convolution",
                       .args = "",
                       .kernel = "void cudnn::engines_precompiled::nchwToNhwcKernel<__nv_bfloat16, __nv_bfloat16, float>()",
                       .us = 100,
                       .around = "aten::convolution"};
  const auto beside = [&](std::string_view op) {
    return program_of(transform, test::event({.name = op, .ts = 450, .dur = 1}));
  };
  EXPECT_FALSE(beside("aten::conv1d").has("layout_transforms"));
  EXPECT_FALSE(beside("aten::conv_transpose1d").has("layout_transforms"));
  const Found images = beside("aten::conv2d");
  ASSERT_TRUE(images.has("layout_transforms")) << images.ids();
  EXPECT_GT(images.find("layout_transforms")->savings.saves_ns.value_or(0), 0);
  const Found untold = beside("aten::view");
  const RankedFinding* row = untold.find("layout_transforms");
  EXPECT_EQ(row == nullptr ? 0 : row->savings.saves_ns.value_or(0), 0);
}

// Ten transforms of 100 us, and a volume that is made four times as long, wide and deep: that has one kernel for both orders.
TEST(WhatCanBeHad, VolumesAreResizedInOneOrder) {
  const Work transform{.op = "aten::cudnn_convolution",
                       .args = "",
                       .kernel = "void cudnn::engines_precompiled::nchwToNhwcKernel<__half, __half, float>()",
                       .us = 100,
                       .around = "aten::conv3d"};
  const std::string resized =
      test::event({.name = "aten::upsample_nearest3d",
                   .ts = 450,
                   .dur = 20,
                   .args = R"("Input Dims": [[1, 32, 24, 32, 32], [], []], "Input Strides": )"
                           R"([[786432, 24576, 1024, 32, 1], [], []], "Concrete Inputs": ["", "", "[4., 4., 4.]"], )"
                           R"("Input type": ["c10::Half", "", "ScalarList"])"}) +
      ", " +
      test::event({.name = "cudaLaunchKernel", .ts = 455, .dur = 4, .cat = "cuda_runtime", .args = "\"correlation\": 77"}) +
      ", " +
      test::event({.name = "void at::native::upsample_nearest3d_out_frame<c10::Half>()",
                   .ts = 1500,
                   .dur = 874,
                   .cat = "kernel",
                   .args = R"("correlation": 77, "device": 0, "stream": 7, "grid": [1536, 1, 1], "block": [1024, 1, 1])",
                   .tid = 7});
  const Found found = program_of(transform, resized);
  ASSERT_TRUE(found.has("layout_transforms")) << found.ids();
  const std::int64_t saves = found.find("layout_transforms")->savings.saves_ns.value_or(0);
  EXPECT_GT(saves, 900 * test::kUs);
  EXPECT_LE(saves, 1'005 * test::kUs);
}

}  // namespace
}  // namespace ridge
