// What goes in the mended program besides the kernels that a finding names: scans in a chain, code between two launches that
// go, eager ops between graphs, constants that the host sends, what runs in a wider type; and bounds that hold for it.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "unit/analysis/findings/found.h"
#include "unit/analysis/findings/program.h"

namespace ridge {
namespace {

using test::event;
using test::Found;
using test::join;
using test::kUs;
using test::OpsInARow;

constexpr std::string_view kTimes = "void at::native::vectorized_elementwise_kernel<4, at::native::MulFunctor<float>>()";
constexpr std::string_view kPlus = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>()";
constexpr std::string_view kScan = "void at::native::tensor_kernel_scan_innermost_dim<float, std::plus<float> >()";
constexpr std::string_view kRoll = "void at::native::roll_cuda_kernel<float>(float const*, float*, long)";
constexpr std::string_view kMendedProduct = "sm80_xmma_gemm_f32f32";

double work_gone_us(const Found& found, std::string_view id) {
  std::int64_t sum = 0;
  for (const Removal::Work& gone : found.find(id)->remedy.removal.work) sum += gone.ns;
  return static_cast<double>(sum) / kUs;
}

// Whether some stretch of the host that goes holds this one; times in us from the first event.
bool goes(const Found& found, std::string_view id, std::int64_t from, std::int64_t to) {
  IntervalSet all;
  std::vector<Interval> parts;
  for (const Removal::Host& part : found.find(id)->remedy.removal.host) parts.push_back(part.time);
  all = IntervalSet(std::move(parts));
  return subtract(IntervalSet({{from * kUs, to * kUs}}), all).empty();
}

// ATen's scan takes many times its traffic: in a fused kernel it takes that.
TEST(MendedWork, AScanOrARollIsPartOfAChain) {
  OpsInARow row;
  row.op("aten::mm", kMendedProduct, 50).op("aten::mul", kTimes, 40).op("aten::cumsum", kScan, 300);
  row.op("aten::add", kPlus, 40).op("aten::roll", kRoll, 40).op("aten::mul", kTimes, 40).op("aten::mm", kMendedProduct, 50);
  const Found found = row.found();
  ASSERT_TRUE(found.has("unfused_pointwise")) << found.ids();
  EXPECT_GT(work_gone_us(found, "unfused_pointwise"), 460 - 2 * 40);
}

// Of twenty kernels one is left, which computes what all of them do.
TEST(MendedWork, OfALongChainOneKernelIsLeft) {
  OpsInARow row;
  row.op("aten::mm", kMendedProduct, 50);
  for (int i = 0; i < 20; ++i) row.op("aten::mul", i % 2 == 0 ? kTimes : kPlus, 40);
  const Found found = row.op("aten::mm", kMendedProduct, 50).found();
  ASSERT_TRUE(found.has("unfused_pointwise")) << found.ids();
  EXPECT_LT(work_gone_us(found, "unfused_pointwise"), 800 - 20);
  EXPECT_GT(work_gone_us(found, "unfused_pointwise"), 800 - 2 * 40);
}

// Who compiles may compile all: but for products, all of it may go.
TEST(MendedWork, WhatIsCompiledBoundsAllButProducts) {
  OpsInARow row;
  row.op("aten::mm", kMendedProduct, 100).op("aten::mul", kTimes, 40).op("aten::add", kPlus, 40);
  row.op("aten::softmax", "void at::native::softmax_warp_forward<float>()", 200).op("aten::mm", kMendedProduct, 100);
  const Found found = row.found();
  ASSERT_TRUE(found.has("unfused_pointwise")) << found.ids();
  const Finding& finding = found.find("unfused_pointwise")->finding;
  EXPECT_GE(*finding.at_most_ns, (40 + 40 + 200) * kUs);
  EXPECT_LE(*finding.at_most_ns, found.findings.time.total_ns() - 180 * kUs);
}

// A product whose size is not told may run far below its own peak: the ratio of the units bounds nothing.
TEST(MendedWork, ProductsOfUnknownSizeHaveNoOtherBoundThanTheirTime) {
  const Found found = test::found_on_h200(
      join({event({.name = "aten::mm", .ts = 91, .dur = 8}),
            test::launch(1, 93, 4, "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_stage3_ffma", 100, 900)}));
  ASSERT_TRUE(found.has("tf32_off")) << found.ids();
  EXPECT_EQ(*found.find("tf32_off")->finding.at_most_ns, 900 * kUs);
}

// Convolutions, norms and pools whose sizes are not told: nothing bounds what another order brings them. What goes element by
// element is as fast in any.
TEST(MendedWork, LayoutTransformsWithoutSizesBoundAllThatAnOrderMattersTo) {
  OpsInARow row;
  row.op("aten::conv2d", "void cudnn::engines_precompiled::nchwToNhwcKernel<__half, __half, float>()", 100);
  row.op("aten::conv2d", "sm90_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize128x128x64", 200);
  row.op("aten::batch_norm", "void at::native::batch_norm_transform_input_kernel<c10::Half, float>()", 80);
  row.op("aten::max_pool2d", "void at::native::max_pool_forward_nchw<c10::Half>()", 60).op("aten::mul", kTimes, 40);
  const Found found = row.found();
  ASSERT_TRUE(found.has("layout_transforms")) << found.ids();
  EXPECT_GE(*found.find("layout_transforms")->finding.at_most_ns, (100 + 200 + 80 + 60) * kUs);
  EXPECT_LE(*found.find("layout_transforms")->finding.at_most_ns, (100 + 200 + 80 + 60 + 4 * 20) * kUs);
}

// A convolution by Winograd's algorithm transforms its tensors; on tensor cores none of that is needed.
TEST(MendedWork, WhatAProductLaunchesBesideItMayGoWithTf32) {
  const std::string product = "sm80_xmma_fprop_implicit_gemm_f32f32_f32f32_f32_nhwckrsc_nhwc_tilesize128x128x8_stage3_ffma";
  const Found found = test::found_on_h200(
      join({event({.name = "aten::cudnn_convolution", .ts = 80, .dur = 30}),
            test::launch(1, 83, 4, "void cudnn::winograd_nonfused::winogradForwardData4x4<float, float>()", 100, 300),
            test::launch(2, 93, 4, product, 400, 900)}));
  ASSERT_TRUE(found.has("tf32_off")) << found.ids();
  EXPECT_GE(*found.find("tf32_off")->finding.at_most_ns, 1'200 * kUs);
}

// Between two launches that go, nothing stays.
TEST(MendedWork, CodeBetweenTwoLaunchesThatGoGoesToo) {
  OpsInARow row;
  // Ops from 105, 175, 255, 315, 375 and 435 us on; the first of the chain stays, and some of the second.
  row.op("aten::mm", kMendedProduct, 50).op("aten::mul", kTimes, 60).op("aten::add", kPlus, 40).op("aten::mul", kTimes, 40);
  const Found found = row.op("aten::add", kPlus, 40).op("aten::mm", kMendedProduct, 50).found();
  ASSERT_TRUE(found.has("unfused_pointwise")) << found.ids();
  EXPECT_TRUE(goes(found, "unfused_pointwise", 315, 385));
  EXPECT_FALSE(goes(found, "unfused_pointwise", 385, 445));
}

std::string to_float(int id, int at, int us, std::string_view size, std::string_view around) {
  const bool up = us > 0;
  const int time = up ? us : -us;
  const std::string_view to = up ? "float" : "c10::BFloat16", from = up ? "c10::BFloat16" : "float";
  std::string events;
  if (!around.empty()) events = event({.name = around, .ts = at - 11, .dur = 10}) + ", ";
  return events +
         join({event({.name = "aten::to", .ts = at - 10, .dur = 8}), event({.name = "aten::_to_copy", .ts = at - 9, .dur = 7}),
               event({.name = "aten::copy_",
                      .ts = at - 8,
                      .dur = 6,
                      .args = fmt::format(R"("Input Dims": [{0}, {0}, []], "Input type": ["{1}", "{2}", "Scalar"])", size, to,
                                          from)}),
               test::launch(id, at - 7, 4,
                            up ? "void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda("
                                 "at::TensorIteratorBase&)::{lambda(float)#1}>()"
                               : "void at::native::vectorized_elementwise_kernel<4, at::native::bfloat16_copy_kernel_cuda("
                                 "at::TensorIteratorBase&)::{lambda(float)#1}>()",
                            at, time)});
}

// A norm in float32 amid bfloat16: its casts go, those of its weights stand between, and it takes less itself.
TEST(MendedWork, ANormInAWiderTypeIsARoundTripOfTheProgram) {
  const auto program = [](std::string_view around) {
    const std::string norm =
        event({.name = "aten::native_layer_norm",
               .ts = 211,
               .dur = 8,
               .args = R"("Input Dims": [[1024, 1024], [], [1024]], "Input type": ["float", "", "float"])"});
    return test::found_in_events(join(
        {to_float(1, 100, 50, "[1024, 1024]", around), to_float(2, 160, 3, "[1024]", around), norm,
         test::launch(3, 213, 4, "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float, false>()",
                      220, 80),
         to_float(4, 310, -30, "[1024, 1024]", "")}));
  };
  const Found found = program("");
  ASSERT_TRUE(found.has("duplicate_casts")) << found.ids();
  EXPECT_NEAR(work_gone_us(found, "duplicate_casts"), 50 + 30 + 0.25 * 80, 0.5);
  EXPECT_GE(*found.find("duplicate_casts")->finding.at_most_ns, (50 + 30 + 40) * kUs);
  // By autocast's own rule, inside of an op, it is no choice of the program's.
  EXPECT_FALSE(program("aten::layer_norm").has("duplicate_casts"));
}

// A grid that the host makes and sends in every step: the host's time goes, and the copy.
TEST(MendedWork, ConstantsThatTheHostSendsAreRemade) {
  const auto program = [](std::string_view begin) {
    std::string events;
    for (int i = 0; i < 3; ++i) {
      const int at = 1'000 * i;
      events +=
          (i == 0 ? "" : ", ") +
          join({event({.name = fmt::format("ProfilerStep#{}", i), .ts = at, .dur = 990, .cat = "user_annotation"}),
                event({.name = begin, .ts = at + 10, .dur = 50}), event({.name = "aten::stack", .ts = at + 70, .dur = 100}),
                event({.name = "aten::to", .ts = at + 180, .dur = 100}),
                event({.name = "aten::copy_", .ts = at + 190, .dur = 80}),
                event({.name = "cudaMemcpyAsync",
                       .ts = at + 200,
                       .dur = 30,
                       .cat = "cuda_runtime",
                       .args = fmt::format(R"("correlation": {})", 2 * i + 1)}),
                event({.name = "Memcpy HtoD (Pageable -> Device)",
                       .ts = at + 210,
                       .dur = 5,
                       .cat = "gpu_memcpy",
                       .args = fmt::format(R"("correlation": {}, "device": 0, "stream": 7, "bytes": 4096)", 2 * i + 1),
                       .tid = 7}),
                event({.name = "aten::mm", .ts = at + 300, .dur = 20}),
                test::launch(2 * i + 2, at + 305, 5, kMendedProduct, at + 320, 600)});
    }
    return test::found_in_events(events);
  };
  const Found found = program("aten::arange");
  ASSERT_TRUE(found.has("remade_constants")) << found.ids();
  EXPECT_TRUE(goes(found, "remade_constants", 1'010, 1'280));
  EXPECT_FALSE(program("aten::index").has("remade_constants")) << "made of data";
}

// Eager ops between two graphs of a frame, a lookup, what leads into the second: all but one launch goes. A product stays.
TEST(MendedWork, BetweenTwoGraphsOfAFrameOnlyProductsStay) {
  const auto program = [](std::string_view kernel) {
    return test::found_in_events(
        join({event({.name = "Torch-Compiled Region: 1/0", .ts = 100, .dur = 900}),
              event({.name = "## Call CompiledFxGraph fabc ##", .ts = 120, .dur = 60}),
              event({.name = "triton_poi_fused_add_0", .ts = 130, .dur = 20}),
              test::launch(1, 135, 5, "triton_poi_fused_add_0", 142, 10), event({.name = "aten::mul", .ts = 220, .dur = 20}),
              test::launch(2, 225, 5, kernel, 232, 10), event({.name = "aten::add", .ts = 260, .dur = 20}),
              test::launch(3, 265, 5, kPlus, 272, 10), event({.name = "TorchDynamo Cache Lookup", .ts = 300, .dur = 10}),
              event({.name = "Torch-Compiled Region: 2/0", .ts = 320, .dur = 600}),
              event({.name = "## Call CompiledFxGraph fdef ##", .ts = 340, .dur = 560}),
              event({.name = "triton_poi_fused_mul_1", .ts = 400, .dur = 20}),
              test::launch(4, 405, 5, "triton_poi_fused_mul_1", 412, 500)}));
  };
  const Found found = program(kTimes);
  ASSERT_TRUE(found.has("graph_breaks")) << found.ids();
  EXPECT_TRUE(goes(found, "graph_breaks", 150, 380));
  EXPECT_FALSE(goes(found, "graph_breaks", 120, 150));
  const Found kept = program(kMendedProduct);
  ASSERT_TRUE(kept.has("graph_breaks")) << kept.ids();
  EXPECT_FALSE(goes(kept, "graph_breaks", 220, 240));
  EXPECT_TRUE(goes(kept, "graph_breaks", 240, 375));
}

// What stands between two graphs of a frame may be a compilation of the second: no cost of the break, and gone when warm.
TEST(MendedWork, ACompilationBetweenTwoGraphsIsNoCostOfTheBreak) {
  const Found found =
      test::found_in_events(join({event({.name = "Torch-Compiled Region: 1/0", .ts = 100, .dur = 90'900}),
                                  event({.name = "## Call CompiledFxGraph fabc ##", .ts = 120, .dur = 60}),
                                  event({.name = "triton_poi_fused_add_0", .ts = 130, .dur = 20}),
                                  test::launch(1, 135, 5, "triton_poi_fused_add_0", 142, 10),
                                  event({.name = "TorchDynamo Cache Lookup", .ts = 300, .dur = 10}),
                                  event({.name = "_compile.compile_inner (dynamo_timed)", .ts = 320, .dur = 80'000}),
                                  event({.name = "backend_compile (dynamo_timed)", .ts = 400, .dur = 70'000}),
                                  event({.name = "Torch-Compiled Region: 2/0", .ts = 80'400, .dur = 10'000}),
                                  event({.name = "## Call CompiledFxGraph fdef ##", .ts = 80'420, .dur = 9'000}),
                                  event({.name = "triton_poi_fused_mul_1", .ts = 80'480, .dur = 20}),
                                  test::launch(2, 80'485, 5, "triton_poi_fused_mul_1", 80'492, 8'000)}));
  ASSERT_TRUE(found.has("graph_breaks") && found.has("compile_in_window")) << found.ids();
  EXPECT_TRUE(goes(found, "graph_breaks", 150, 300));
  EXPECT_FALSE(goes(found, "graph_breaks", 40'000, 40'100));
  EXPECT_TRUE(goes(found, "graph_breaks", 80'330, 80'470));
  EXPECT_LT(found.find("graph_breaks")->savings.saves_ns.value_or(0), 1'000 * kUs);
}

// Columns of rows: each element is alone in its sector. As a plane it takes a third.
TEST(MendedWork, ColumnsOfRowsAreReadAcross) {
  const auto program = [](int stride) {
    return test::found_on_h200(
        join({event({.name = "aten::add",
                     .ts = 91,
                     .dur = 8,
                     .args = fmt::format(R"("Input Dims": [[6000000], [6000000], []], "Input Strides": [[{0}], [{0}], []], )"
                                         R"("Input type": ["float", "float", "Scalar"], "Concrete Inputs": ["", "", "1"])",
                                         stride)}),
              test::launch(1, 93, 4, "void at::native::elementwise_kernel<128, 4, at::native::CUDAFunctor_add<float>>()", 100,
                           90)}));
  };
  const Found found = program(8);
  ASSERT_TRUE(found.has("memory_bound_inefficient")) << found.ids();
  EXPECT_GT(work_gone_us(found, "memory_bound_inefficient"), 50);
}

// The first step allocates as the others do: it warms nothing up, and its calls go as theirs.
TEST(MendedWork, AllocationsOfAFirstStepLikeTheOthersGo) {
  test::Program p;
  for (int i = 0; i < 4; ++i) {
    const std::int64_t at = i * 1'000;
    p.text.annotation(fmt::format("ProfilerStep#{}", i), at * kUs, (at + 999) * kUs);
    p.kernel(at + 10).kernel(at + 500, kMendedProduct, 400);
    p.text.call("cudaMalloc", (at + 120) * kUs, (at + 480) * kUs);
    p.text.call("cudaFree", (at + 520) * kUs, (at + 700) * kUs);  // while the device is busy
  }
  const Found found = test::found_in(p.text);
  ASSERT_TRUE(found.has("allocator")) << found.ids();
  EXPECT_TRUE(goes(found, "allocator", 520, 700));
  EXPECT_TRUE(goes(found, "allocator", 1'520, 1'700));
}

}  // namespace
}  // namespace ridge
