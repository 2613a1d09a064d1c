// What the device's work could be instead: communication, small kernels, optimizers, casts, attention, products. On traces made
// by hand, with the savings computed by hand; and on the same trace without the fault.
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

// A compiler has fused what it could: what compiled code launches in small pieces is launch-bound.
TEST(DeviceFindings, TinyKernelsOfCompiledCodeAreLaunchBound) {
  const auto program = [](std::string_view kernel, bool region) {
    Program p;
    p.text.annotation("ProfilerStep#1", 1 * kUs, 6'000 * kUs);
    if (region) p.text.op("Torch-Compiled Region: 0/0", 1 * kUs, 6'000 * kUs);
    for (int i = 0; i < 200; ++i) p.kernel(10 + i * 20, kernel, 2);
    return found_in(p.text);
  };
  const std::string add = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>()";
  EXPECT_TRUE(program(add, false).has("tiny_kernels"));
  for (const Found& compiled : {program("triton_poi_fused_add_0", false), program(add, true)}) {
    EXPECT_FALSE(compiled.has("tiny_kernels")) << compiled.ids();
    EXPECT_TRUE(compiled.has("launch_bound")) << compiled.ids();
  }
}

// A recurrent layer of cuDNN launches hundreds of small kernels: the program calls one op already.
TEST(DeviceFindings, TinyKernelsOfOneOpAreNoLoop) {
  const auto program = [](bool one_op) {
    Program p;
    p.text.annotation("ProfilerStep#1", 1 * kUs, 6'000 * kUs);
    if (one_op) p.text.op("aten::_cudnn_rnn", 2 * kUs, 5'000 * kUs);
    for (int i = 0; i < 200; ++i) p.kernel(10 + i * 20, i % 2 == 0 ? "a" : "b", 2);
    return found_in(p.text);
  };
  EXPECT_TRUE(program(false).has("tiny_kernels"));
  EXPECT_FALSE(program(true).has("tiny_kernels")) << program(true).ids();
}

// Runs of small kernels are a finding from 100 an iteration, in runs of 32.
TEST(DeviceFindings, TinyKernelsByTheHundred) {
  const auto program = [](int kernels, int longer_every) {
    Program p;
    p.text.annotation("ProfilerStep#1", 1 * kUs, (20 + kernels * 20) * kUs);
    for (int i = 0; i < kernels; ++i)
      p.kernel(10 + i * 20, i % 3 == 0 ? "a" : i % 3 == 1 ? "b" : "c", i % longer_every == longer_every - 1 ? 9 : 2);
    return found_in(p.text);
  };
  EXPECT_TRUE(program(150, 1'000).has("tiny_kernels"));
  EXPECT_FALSE(program(90, 1'000).has("tiny_kernels"));
  EXPECT_FALSE(program(300, 16).has("tiny_kernels"));
}

// Three steps of 150 kernels of 2 us, 18 us apart, and 98 us between steps. One kernel a step stays, and so do the pauses
// between steps.
TEST(DeviceFindings, TinyKernelsLeaveOneAnIteration) {
  Program p;
  for (int step = 0; step < 3; ++step) {
    const int at = 10 + step * (150 * 20 + 80);
    p.text.annotation(fmt::format("ProfilerStep#{}", step), (at - 8) * kUs, (at + 150 * 20) * kUs);
    for (int i = 0; i < 150; ++i) p.kernel(at + i * 20, i % 2 == 0 ? "a" : "b", 2);
  }
  const Found found = found_in(p.text);
  ASSERT_TRUE(found.has("tiny_kernels")) << found.ids();
  EXPECT_EQ(found.find("tiny_kernels")->finding.at_most_ns, 3 * 149 * (2 + 18) * kUs);
}

// A loop over small tensors with nothing around it: the device's period takes each turn for an iteration. The run tells what it
// is, the first turn's late launch nothing.
TEST(DeviceFindings, TinyKernelsOfALoopThatPassesForIterations) {
  const auto program = [](int turns, int body) {
    Program p;
    p.kernel(10, "kernel 0", 2);
    for (int i = 1; i < turns * body; ++i) p.kernel(400 + i * 20, fmt::format("kernel {}", i % body), 2);
    return found_in(p.text);
  };
  for (const int body : {1, 3}) {
    const Found found = program(600 / body, body);
    ASSERT_EQ(found.findings.time.count, 600 / body);
    ASSERT_TRUE(found.has("tiny_kernels")) << found.ids();
    const std::string& finding = found.find("tiny_kernels")->finding.finding;
    EXPECT_TRUE(test::says(finding, {" 600 kernels"}));
    EXPECT_EQ(found.find("tiny_kernels")->finding.at_most_ns,
              found.findings.time.total_ns() - (2 + 6) * kUs);  // one kernel stays, and the first launch
    EXPECT_TRUE(found.has("launch_bound")) << found.ids();      // who keeps the loop can launch it at once
    EXPECT_FALSE(found.has("first_iteration_outlier")) << found.ids();
  }
  EXPECT_FALSE(program(90, 1).has("tiny_kernels"));
  EXPECT_TRUE(program(50, 12).has("first_iteration_outlier"));  // a dozen kernels are no loop's body
}

// Iterations that the device's period finds, of 40 small kernels and a long one each, are no run of small ones.
TEST(DeviceFindings, TinyKernelsBetweenLongOnesAreNoLoop) {
  Program p;
  for (int i = 0; i < 10 * 41; ++i) p.kernel(10 + i * 20, fmt::format("kernel {}", i % 41), i % 41 == 40 ? 12 : 2);
  const Found found = found_in(p.text);
  ASSERT_EQ(found.findings.time.count, 10);
  EXPECT_FALSE(found.has("tiny_kernels")) << found.ids();
}

// Seven operations of one kernel each, as Adam by foreach has: each 100 us, 50 us apart. One pass of 100 us is left, and what
// the host does before.
TEST(DeviceFindings, OptimizerByForeach) {
  const auto program = [](int operations, std::string_view name) {
    Program p;
    p.kernel(10).kernel(400, "void at::native::softmax_warp_forward<float>()", 1'000);
    for (int i = 0; i < operations; ++i) p.kernel(1'500 + 150 * i, fmt::format(fmt::runtime(name), i));
    p.text.annotation("Optimizer.step#Adam.step", 1'420 * kUs, 4'000 * kUs);
    return found_in(p.text);
  };
  constexpr std::string_view kForeach =
      "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
      "namespace)::TensorListMetadata<{}>, "
      "at::native::(anonymous namespace)::BinaryOpScalarFunctor<float, 1, 1, 0>, std::multiplies<float>, float>()";
  const Found foreach = program(7, kForeach);
  ASSERT_TRUE(foreach.has("optimizer_not_fused")) << foreach.ids();
  // Of the pass that stays nothing is known, neither; and the host, which is earlier then, may be so for what waits elsewhere.
  EXPECT_EQ(foreach.find("optimizer_not_fused")->finding.at_most_ns, (7 * 100 + 6 * 50 + 290 + 100) * kUs);
  constexpr std::string_view kFused =
      "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous namespace)::"
      "FusedOptimizerTensorListMetadata<{}>, at::native::(anonymous namespace)::FusedAdamMathFunctor<float, 4>>()";
  EXPECT_FALSE(program(7, kFused).has("optimizer_not_fused"));  // a few hundred parameters each
  EXPECT_FALSE(program(3, kForeach).has("optimizer_not_fused"));
}

// Of the host's time in a step by foreach its lists stay: of SGD, which calls half as many ops on them, more.
TEST(DeviceFindings, OptimizerByForeachKeepsItsLists) {
  const auto goes = [](const std::string& optimizer, double share) {
    Program p;
    p.kernel(10).kernel(400, "void at::native::softmax_warp_forward<float>()", 1'000);
    for (int i = 0; i < 7; ++i) {
      p.kernel(
          1'500 + 150 * i,
          fmt::format("void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
                      "namespace)::TensorListMetadata<{}>, at::native::(anonymous namespace)::BinaryOpScalarFunctor<float, 1, "
                      "1, 0>, std::multiplies<float>, float>()",
                      i));
    }
    p.text.annotation("Optimizer.step#" + optimizer + ".step", 1'420 * kUs, 4'000 * kUs);
    const Found found = found_in(p.text);
    const std::vector<Removal::Host>& host = found.find("optimizer_not_fused")->remedy.removal.host;
    return std::ranges::any_of(host, [&](const Removal::Host& part) { return part.share == share; });
  };
  EXPECT_TRUE(goes("Adam", 0.68));
  EXPECT_TRUE(goes("SGD", 0.55));
}

// What to do depends on which optimizer it is: most have no fused form.
TEST(DeviceFindings, AFusedFormIsAdvisedWhereThereIsOne) {
  const auto action = [](std::string_view optimizer) {
    Program p;
    p.kernel(10);
    for (int i = 0; i < 20; ++i) p.kernel(500 + 150 * i, "void at::native::vectorized_elementwise_kernel<4>()");
    if (!optimizer.empty()) p.text.annotation(fmt::format("Optimizer.step#{0}.step", optimizer), 400 * kUs, 4'000 * kUs);
    const Found found = found_in(p.text);
    return found.has("optimizer_not_fused") ? found.find("optimizer_not_fused")->finding.action : std::string();
  };
  EXPECT_EQ(action(""), "");
  EXPECT_NE(action("AdamW").find("fused=True"), std::string::npos) << action("AdamW");
  EXPECT_EQ(action("RMSprop").find("fused=True"), std::string::npos) << action("RMSprop");
  EXPECT_TRUE(test::says(action("RMSprop"), {"RMSprop"}));
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

// Two products of 50 us with scale (20 us), softmax (30 us) and dropout (10 us) between them.
TEST(DeviceFindings, AttentionByHand) {
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
TEST(DeviceFindings, AttentionByHandBackward) {
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
TEST(DeviceFindings, AttentionByHandWithAMask) {
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
TEST(DeviceFindings, AttentionByHandOnTurnedFactors) {
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
