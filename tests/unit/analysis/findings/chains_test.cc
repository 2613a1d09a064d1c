// What is one kernel, one batched op or nothing at all in the mended program: norms written out, loops with copies in them,
// constants that are made again.
#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include <fmt/format.h>

#include "support/says.h"
#include "unit/analysis/findings/calls.h"
#include "unit/analysis/findings/found.h"
#include "unit/analysis/findings/program.h"

namespace ridge {
namespace {

using test::Found;
using test::kUs;
using test::OpsInARow;

constexpr std::string_view kMul = "void at::native::vectorized_elementwise_kernel<4, at::native::MulFunctor<float>>()";
constexpr std::string_view kAdd = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>()";
constexpr std::string_view kRows = "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>()";
constexpr std::string_view kGemm = "sm80_xmma_gemm_f32f32";

std::int64_t gone_ns(const Found& found, std::string_view id) {
  std::int64_t sum = 0;
  for (const Removal::Work& gone : found.find(id)->remedy.removal.work) sum += gone.ns;
  return sum;
}

constexpr std::string_view kWhole = "[[64, 1024], [64, 1024], []]", kNumbers = "[[64, 1], [], []]";

// pow, mean, add, rsqrt, mul between two products: one kernel, of a norm. With shapes and without.
TEST(Chains, ANormWrittenOutIsOneKernel) {
  const auto program = [](bool shapes) {
    const auto of = [&](std::string_view dims) { return shapes ? dims : std::string_view(); };
    OpsInARow row;
    row.op("aten::mm", kGemm, 50).op("aten::pow", kMul, 40, of(kWhole)).op("aten::mean", kRows, 30, of(kWhole));
    row.op("aten::add", kAdd, 2, of(kNumbers)).op("aten::rsqrt", kMul, 2, of(kNumbers));
    row.op("aten::mul", kMul, 50, of(kWhole)).op("aten::add", kAdd, 40, of(kWhole)).op("aten::mm", kGemm, 50);
    return row.found();
  };
  for (const bool shapes : {true, false}) {
    const Found found = program(shapes);
    ASSERT_TRUE(found.has("unfused_pointwise")) << found.ids();
    // One kernel is left, of the longest's time or less.
    EXPECT_GT(gone_ns(found, "unfused_pointwise"), (164 - 50) * kUs);
  }
  EXPECT_TRUE(test::says(program(true).find("unfused_pointwise")->finding.finding, {"chains of 6"}));
}

// What DistributedDataParallel copies from a bucket to a gradient is no part of what the model computes.
TEST(Chains, CopiesOfDistributedDataParallelAreNoneOfThem) {
  const auto evidence = [](std::string_view between) {
    OpsInARow row;
    row.op("aten::mm", kGemm, 50).op("aten::pow", kMul, 40, kWhole).op(between, kAdd, 90, kWhole);
    row.op("aten::mul", kMul, 40, kWhole).op("aten::add", kAdd, 30, kWhole).op("aten::mm", kGemm, 50);
    const Found found = row.found();
    return found.has("unfused_pointwise") ? found.find("unfused_pointwise")->finding.evidence : "none of " + found.ids();
  };
  EXPECT_TRUE(test::says(evidence("aten::sub"), {"aten::sub", "aten::mul"}));
  const std::string with_copy = evidence("torch.distributed.ddp.reducer::copy_bucket_to_grad");
  EXPECT_TRUE(test::says(with_copy, {"aten::mul"}));
  EXPECT_EQ(with_copy.find("copy_bucket_to_grad"), std::string::npos) << with_copy;
}

// The backward pass runs on a thread of its own, and nothing fuses across.
TEST(Chains, EndWhereAnotherThreadGoesOn) {
  const auto program = [](int second) {
    OpsInARow row;
    row.op("aten::mm", kGemm, 50).op("aten::pow", kMul, 40, kWhole).op("aten::mul", kAdd, 40, kWhole, second);
    return row.op("aten::mm", kGemm, 50).found();
  };
  EXPECT_TRUE(program(1).has("unfused_pointwise"));
  EXPECT_FALSE(program(2).has("unfused_pointwise"));
}

// Joining results of products puts them side by side: no chain by itself. What is computed is written where it belongs.
TEST(Chains, JoiningAloneIsNone) {
  constexpr std::string_view kJoin = "void at::native::(anonymous namespace)::CatArrayBatchedCopy<float>()";
  OpsInARow alone, computed;
  alone.op("aten::mm", kGemm, 50).op("aten::cat", kJoin, 40).op("aten::cat", kJoin, 30).op("aten::mm", kGemm, 50);
  computed.op("aten::mm", kGemm, 50).op("aten::add", kAdd, 40).op("aten::cat", kJoin, 40).op("aten::mm", kGemm, 50);
  EXPECT_FALSE(alone.found().has("unfused_pointwise"));
  EXPECT_TRUE(computed.found().has("unfused_pointwise"));
}

// A loop over rows: 14 kernels a round, a copy on the device and one of 6 us among them. All of it is the loop; where every
// third kernel is long it is none.
TEST(Chains, ALoopHasCopiesAndALongerKernelInEachRound) {
  const auto program = [](int longer_every) {
    OpsInARow row;
    for (int i = 0; i < 280; ++i) {
      const int at = i % 14;
      const bool copies = at == 4;
      row.op(copies ? "aten::copy_" : "aten::add", copies ? "Memcpy DtoD (Device -> Device)" : fmt::format("kernel {}", at),
             at % longer_every == longer_every - 1 ? 6 : 2);
    }
    return row.found();
  };
  const Found loop = program(14);
  ASSERT_TRUE(loop.has("tiny_kernels")) << loop.ids();
  EXPECT_FALSE(program(3).has("tiny_kernels"));
}

// A mask by position, made in each of three layers; and the same ops on a tensor whose sizes come from elsewhere.
TEST(Chains, AMaskThatIsMadeInEveryLayerIsAConstant) {
  const auto program = [](std::string_view second) {
    OpsInARow row;
    for (int i = 0; i < 3; ++i) {
      row.op("aten::mm", kGemm, 50, "[[32, 128], [128, 32], []]").op("aten::arange", "arange_kernel", 2, "[[], [], []]");
      row.op("aten::sub", kMul, 30, second).op("aten::exp", kAdd, 30, "[[512, 512], [], []]");
      row.op("aten::softmax", "void at::native::softmax_warp_forward<float>()", 50, "[[32, 512, 512], [], []]");
    }
    return row.found();
  };
  const Found masks = program("[[1, 512], [512, 1], []]");
  ASSERT_TRUE(masks.has("remade_constants")) << masks.ids();
  EXPECT_EQ(gone_ns(masks, "remade_constants"), 3 * 62 * kUs);
  EXPECT_FALSE(program("[[1, 512], [32, 1], []]").has("remade_constants"));
}

// The same without shapes: grids tell that sums go over the square of what was begun, as many times as there are heads.
TEST(Chains, AMaskIsAConstantByItsGridsToo) {
  constexpr std::string_view kBegins = "void (anonymous namespace)::elementwise_kernel_with_index<int, at::native::arange>()";
  constexpr std::string_view kSub = "void at::native::elementwise_kernel<128, 2, at::native::CUDAFunctor_add<float> >()";
  const auto grid = [](int blocks, int threads) {
    return fmt::format(R"("grid": [{}, 1, 1], "block": [{}, 1, 1])", blocks, threads);
  };
  const auto program = [&](int of_sub) {
    std::vector<test::Call> calls;
    for (int i = 0; i < 3; ++i) {
      calls.push_back({.op = "aten::mm", .kernel = kGemm, .us = 50});
      calls.push_back({.op = "aten::arange", .kernel = kBegins, .us = 2, .launch = grid(16, 64)});  // 1024 places
      calls.push_back({.op = "aten::arange", .kernel = kBegins, .us = 2, .launch = grid(1, 64)});   // heads
      calls.push_back({.op = "aten::sub", .kernel = kSub, .us = 30, .launch = grid(of_sub, 128)});
      calls.push_back({.op = "aten::mul", .kernel = kSub, .us = 90, .launch = grid(16 * 1'024 * 1'024 / 256, 128)});
    }
    calls.push_back({.op = "aten::mm", .kernel = kGemm, .us = 50});
    return test::claimed_work(test::found_in_calls(calls), "remade_constants").expected_us;
  };
  EXPECT_NEAR(program(1'024 * 1'024 / 256), 3 * 124, 1);
  EXPECT_EQ(program(1'024 * 1'536 / 256), 0) << "half as much again comes from elsewhere";
}

// Scores over four batches of 24 heads are data, whatever was begun before: two lines across are 1024 by 1024, and a number of
// its own (a scalar) is no size. Nor is there a size for the 24 with shapes.
TEST(Chains, WhatIsManyTimesAMaskIsData) {
  constexpr std::string_view kBegins = "void (anonymous namespace)::elementwise_kernel_with_index<int, at::native::arange>()";
  constexpr std::string_view kFill =
      "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, std::array<char*, 1ul> >()";
  constexpr std::string_view kSub = "void at::native::elementwise_kernel<128, 2, at::native::CUDAFunctor_add<float> >()";
  constexpr std::int64_t kScores = 4 * 24 * 1'024 * 1'024;
  const auto grid = [](std::int64_t blocks, int threads) {
    return fmt::format(R"("grid": [{}, 1, 1], "block": [{}, 1, 1])", blocks, threads);
  };
  const auto data_us = [&](std::string_view begins, std::string_view op, std::string begun, bool shapes) {
    std::vector<test::Call> calls;
    for (int i = 0; i < 3; ++i) {
      calls.push_back({.op = "aten::bmm", .kernel = kGemm, .us = 50});
      for (int k = 0; k < 2; ++k)
        calls.push_back(
            {.op = op, .kernel = begins, .us = 1, .args = shapes ? R"("Input Dims": [[], []])" : "", .launch = begun});
      calls.push_back({.op = "aten::mul",
                       .kernel = kSub,
                       .us = 500,
                       .args = shapes ? R"("Input Dims": [[24, 1024, 1024], []], "Input type": ["float", "Scalar"])" : "",
                       .launch = grid(kScores / 256, 128)});
    }
    calls.push_back({.op = "aten::bmm", .kernel = kGemm, .us = 50});
    return test::claimed_work(test::found_in_calls(calls), "remade_constants").expected_us;
  };
  for (const bool shapes : {false, true}) {
    EXPECT_EQ(data_us(kBegins, "aten::arange", grid(16, 64), shapes), 0) << shapes;
    EXPECT_EQ(data_us(kFill, "aten::full", grid(1, 128), shapes), 0) << shapes;
  }
}

// Four thousand beginnings in a row are looked at once each.
TEST(Chains, OfManyBeginningsTakeNoLonger) {
  constexpr std::string_view kFill =
      "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, std::array<char*, 1ul> >()";
  std::vector<test::Call> calls;
  for (int i = 0; i < 4'000; ++i) {
    calls.push_back({.op = "aten::ones",
                     .kernel = kFill,
                     .us = 2,
                     .launch = fmt::format(R"("grid": [{}, 1, 1], "block": [128, 1, 1])", i + 2)});
    calls.push_back({.op = "aten::add",
                     .kernel = kMul,
                     .us = 2,
                     .launch = fmt::format(R"("grid": [{}, 1, 1], "block": [128, 1, 1])", i + 2)});
  }
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_GE(test::claimed_work(test::found_in_calls(calls), "remade_constants").bound_us, 0);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60)) << "cubic: four minutes";
}

// A compiler fuses a softmax with what is around it, and goes on behind a gather: chances of tokens, their entropy.
TEST(Chains, GoThroughSoftmaxesAndGathers) {
  constexpr std::string_view kSoftmax = "void at::native::(anonymous namespace)::cunn_SoftMaxForward<4, float>()";
  constexpr std::string_view kGather = "void at::native::_scatter_gather_elementwise_kernel<128, 8, at::native::Gather>()";
  constexpr std::string_view kOne = "[[64, 1024], [], []]";
  OpsInARow row;
  row.op("aten::mm", kGemm, 50).op("aten::div", kMul, 50, kOne).op("aten::_log_softmax", kSoftmax, 60, kOne);
  row.op("aten::gather", kGather, 4, "[[64, 1024], [], [64, 1], []]").op("aten::exp", kAdd, 50, kOne);
  const Found found = row.op("aten::mul", kMul, 60, kWhole).op("aten::mm", kGemm, 50).found();
  ASSERT_TRUE(found.has("unfused_pointwise")) << found.ids();
  // One kernel is left, of the longest's time or less.
  EXPECT_GT(gone_ns(found, "unfused_pointwise"), (50 + 60 + 50 + 60 - 60) * kUs);
  EXPECT_TRUE(test::says(found.find("unfused_pointwise")->finding.finding, {"5 kernels"}));
}

// Copies into another order and softmaxes: nothing is computed element by element.
TEST(Chains, SoftmaxesOfCopiesAreNone) {
  constexpr std::string_view kCopy = "void at::native::elementwise_kernel<128, 4, at::native::direct_copy_kernel_cuda>()";
  OpsInARow row;
  for (int i = 0; i < 4; ++i) {
    row.op("aten::copy_", kCopy, 200, kWhole);
    row.op("aten::softmax", "void at::native::(anonymous namespace)::cunn_SoftMaxForward<4, float>()", 100, kWhole);
  }
  EXPECT_FALSE(row.found().has("unfused_pointwise"));
}

}  // namespace
}  // namespace ridge
