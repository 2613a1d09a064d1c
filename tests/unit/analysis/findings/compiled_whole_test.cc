// What is left of eager kernels when a compiler writes them anew: by the traffic that stays, whatever stands between them.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <fmt/format.h>

#include "support/says.h"
#include "unit/analysis/findings/calls.h"
#include "unit/analysis/findings/program.h"

namespace ridge {
namespace {

using test::args_of;
using test::Call;
using test::claimed_work;
using test::Found;
using test::found_in_calls;
using test::OpsInARow;
using test::Tensor;

constexpr std::string_view kFusedId = "unfused_pointwise";
constexpr std::string_view kProduct = "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_TNT";
constexpr std::string_view kRoundTrip =
    "void at::native::vectorized_elementwise_kernel<4, at::native::direct_copy_kernel_cuda>()";

// ATen's kernels over bfloat16, eight elements a thread; over float they take as many.
std::string vectorized(std::string_view functor) {
  return fmt::format("void at::native::vectorized_elementwise_kernel<8, at::native::{} >()", functor);
}
const std::string kMultiply =
    vectorized("BinaryFunctor<c10::BFloat16, c10::BFloat16, c10::BFloat16, at::native::MulFunctor<float> >");
const std::string kExp = vectorized("exp_kernel_cuda<c10::BFloat16>");
const std::string kNeg = vectorized("neg_kernel_cuda<c10::BFloat16>");
const std::string kSilu = vectorized("silu_kernel<c10::BFloat16>");

Tensor half(const std::string& sizes) { return {.sizes = sizes, .type = "c10::BFloat16"}; }
std::string blocks(std::int64_t elements, int each) {
  return fmt::format(R"("grid": [{}, 1, 1], "block": [128, 1, 1])", elements / (128 * each));
}
double gone_us(const std::vector<Call>& calls) { return claimed_work(found_in_calls(calls), kFusedId).expected_us; }

Call product(const std::string& rows, const std::string& columns) {
  return {.op = "aten::mm", .kernel = kProduct, .us = 50, .args = args_of({half(rows), half(columns)})};
}

// Four kernels over 134 MB each, some of two tensors: with shapes and by their grids alone about the same goes of them. One
// kernel reads two tensors and writes one, 84 us at the full bandwidth.
TEST(CompiledWhole, IsToldByGridsAsByShapes) {
  constexpr std::int64_t kElements = 8'192 * 8'192;
  const auto program = [](bool shapes) {
    const Tensor whole = half("[8192, 8192]");
    const std::string by_grid = blocks(kElements, 8);
    const auto call = [&](std::string_view op, const std::string& kernel, int us, int tensors) {
      std::vector<Tensor> given(static_cast<std::size_t>(tensors), whole);
      return Call{.op = op, .kernel = kernel, .us = us, .args = shapes ? args_of(given) : "", .launch = by_grid};
    };
    return gone_us({call("aten::mul", kMultiply, 95, 2), call("aten::neg", kNeg, 65, 1), call("aten::exp", kExp, 65, 1),
                    call("aten::mul", kMultiply, 95, 2)});
  };
  EXPECT_NEAR(320 - program(true), 84, 25);
  EXPECT_NEAR(program(false), program(true), 0.15 * program(true));
}

// Bells over each number of a matrix: a difference that spreads it by eight, four kernels more, and between them a gate over
// the matrix with a product of its own. One kernel reads the matrix and writes the bells: 150 MB of 1.2 GB. Where the product
// between reads bells itself, they are written once more, and read.
TEST(CompiledWhole, GoesOnBehindWhatIsOfAnotherSize) {
  constexpr std::int64_t kWide = 16'384 * 512 * 8;
  const Tensor bells = half("[16384, 512, 8]"), matrix = half("[16384, 512]");
  const std::string by_grid = blocks(kWide, 8);
  const std::string spread = "void at::native::elementwise_kernel<128, 4, at::native::CUDAFunctor_add<c10::BFloat16> >()";
  const Call products[] = {product("[16384, 512]", "[512, 512]"), product("[16384, 4096]", "[4096, 512]")};
  const auto program = [&](const Call& between) {
    return gone_us(
        {{.op = "aten::sub",
          .kernel = spread,
          .us = 146,
          .args = args_of({half("[16384, 512, 1]"), half("[8]")}),
          .launch = blocks(kWide, 4)},
         {.op = "aten::mul", .kernel = kMultiply, .us = 65, .args = args_of({bells, {.type = "double"}}), .launch = by_grid},
         {.op = "aten::silu", .kernel = kSilu, .us = 11, .args = args_of({matrix}), .launch = blocks(kWide / 8, 8)},
         between,
         {.op = "aten::neg", .kernel = kNeg, .us = 65, .args = args_of({bells}), .launch = by_grid},
         {.op = "aten::mul", .kernel = kMultiply, .us = 95, .args = args_of({bells, bells}), .launch = by_grid},
         {.op = "aten::exp", .kernel = kExp, .us = 62, .args = args_of({bells}), .launch = by_grid},
         products[1]});
  };
  const double passed = program(products[0]);
  EXPECT_GT(passed, 330) << "of 433";
  EXPECT_LT(program(product("[131072, 512]", "[512, 512]")), passed - 15) << "that product reads what was made";
}

// The gate of a unit is computed beside what it opens: a compiler takes both behind the second product.
TEST(CompiledWhole, PassesAProductThatReadsNothingOfTheChain) {
  const Tensor wide = half("[8192, 8192]");
  const auto program = [&](const Call& second) {
    return found_in_calls({product("[8192, 1024]", "[1024, 8192]"),
                           {.op = "aten::silu", .kernel = kSilu, .us = 65, .args = args_of({wide})},
                           second,
                           {.op = "aten::mul", .kernel = kMultiply, .us = 95, .args = args_of({wide, wide})},
                           product("[8192, 8192]", "[8192, 1024]")});
  };
  EXPECT_TRUE(program(product("[8192, 1024]", "[1024, 8192]")).has(kFusedId));
  EXPECT_FALSE(program(product("[8192, 8192]", "[8192, 8192]")).has(kFusedId));
}

// All pairs of 8192 points: the matrices between are never written, arithmetic is what is left: four operations of each of 67
// million numbers, 30 us, 6 for the kernel itself, and an eighth of what the kernels took beyond their traffic.
TEST(CompiledWhole, OfWhatIsMadeAndSummedWithinIsArithmetic) {
  const Tensor pairs = {.sizes = "[8192, 8192]", .type = "float"};
  const std::string add = "void at::native::elementwise_kernel<128, 2, at::native::CUDAFunctor_add<float> >()";
  const std::string exp = "void at::native::vectorized_elementwise_kernel<4, at::native::exp_kernel_cuda<float> >()";
  const std::string rows =
      "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::func_wrapper_t<float> > >()";
  const std::string by_grid = blocks(8'192 * 8'192, 2);
  const double gone =
      gone_us({{.op = "aten::sub",
                .kernel = add,
                .us = 120,
                .args = args_of({{.sizes = "[8192, 1]", .type = "float"}, {.sizes = "[1, 8192]", .type = "float"}}),
                .launch = by_grid},
               {.op = "aten::neg", .kernel = exp, .us = 130, .args = args_of({pairs})},
               {.op = "aten::exp", .kernel = exp, .us = 130, .args = args_of({pairs})},
               {.op = "aten::sum",
                .kernel = rows,
                .us = 70,
                .args = args_of({pairs, {.type = "ScalarList", .value = "[1]"}, {.value = "False"}, {}})}});
  EXPECT_NEAR(450 - gone, 30 + 6 + 0.12 * 53, 3);
}

// Sixty sines of four million doubles: no traffic, and yet a third of what they take now, 315 us at 800 operations a
// nanosecond; of floats a tenth.
TEST(CompiledWhole, OfDoublesIsAtLeastTheirArithmetic) {
  const auto program = [](std::string_view type) {
    const Tensor x = {.sizes = "[4194304]", .type = std::string(type)};
    std::vector<std::string> kernels;
    for (int i = 0; i < 60; ++i)
      kernels.push_back(fmt::format("void at::native::vectorized_elementwise_kernel<4, at::native::sin_{}<{}> >()", i, type));
    std::vector<Call> calls = {product("[4096, 512]", "[512, 512]")};
    for (const std::string& kernel : kernels)
      calls.push_back({.op = "aten::sin", .kernel = kernel, .us = 18, .args = args_of({x})});
    return gone_us(calls);
  };
  EXPECT_NEAR(60 * 18 - program("double"), 60 * 4'194'304 / 800e3, 60);
  EXPECT_LT(60 * 18 - program("float"), 120);
}

// What is computed and then put beside something else is written where it belongs.
TEST(CompiledWhole, WritesWhatIsJoinedWhereItBelongs) {
  const auto program = [](bool joined) {
    const Tensor x = half("[8192, 4096]");
    std::vector<Call> calls = {{.op = "aten::mul", .kernel = kMultiply, .us = 50, .args = args_of({x, x})},
                               {.op = "aten::neg", .kernel = kNeg, .us = 33, .args = args_of({x})},
                               {.op = "aten::exp", .kernel = kExp, .us = 33, .args = args_of({x})}};
    if (joined)
      calls.push_back({.op = "aten::cat",
                       .kernel = "void at::native::(anonymous namespace)::CatArrayBatchedCopy<float>()",
                       .us = 150,
                       .args = R"("Input Dims": [[[8192, 4096], [8192, 1024]], []], "Input type": ["TensorList", "Scalar"])"});
    return gone_us(calls);
  };
  EXPECT_GT(program(true), program(false) + 80);
}

// Rows picked by indices of eight bytes have their own type; put side by side, tensors of two bytes have two; a norm's numbers
// of each row, and a dropout's mask, are no part of its result. So what is computed of these reads what was just made.
TEST(CompiledWhole, ResultsAreOfTheirOwnTypeAndSize) {
  const auto left_us = [](const Call& first, int us) {
    const Tensor x = half("[8192, 4096]");
    return us + 150 -
           gone_us({product("[8192, 512]", "[512, 4096]"),
                    first,
                    {.op = "aten::mul", .kernel = kMultiply, .us = 50, .args = args_of({x, {.type = "double"}})},
                    {.op = "aten::neg", .kernel = kNeg, .us = 50, .args = args_of({x})},
                    {.op = "aten::exp", .kernel = kExp, .us = 50, .args = args_of({x})}});
  };
  const auto picked = [&](const std::string& type) {
    const std::string kernel = "void at::native::vectorized_gather_kernel<16, long>(char*, char*)";
    return left_us({.op = "aten::embedding",
                    .kernel = kernel,
                    .us = 50,
                    .args = args_of({half("[50257, 4096]"), {.sizes = "[8192]", .type = type}})},
                   50);
  };
  EXPECT_NEAR(picked("long int"), picked("int"), 1);
  const auto joined = [&](const std::string& told) {
    const std::string kernel = "void at::native::(anonymous namespace)::CatArrayBatchedCopy<OpaqueType<2u> >()";
    const std::string dims = R"("Input Dims": [[[8192, 2048], [8192, 2048]], )" + told;
    return left_us({.op = "aten::cat", .kernel = kernel, .us = 50, .args = dims}, 50);
  };
  EXPECT_NEAR(joined(R"([]], "Input type": ["TensorList", "Scalar"])"),
              joined(R"([2]], "Input type": ["TensorList", "c10::BFloat16"])"), 1);
  const auto normed = [&](int columns) {
    const std::string kernel = "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float>()";
    const Tensor rows = half(fmt::format("[{}, {}]", 8'192 * 4'096 / columns, columns));
    const Tensor one = half(fmt::format("[{}]", columns));
    return left_us({.op = "aten::native_layer_norm",
                    .kernel = kernel,
                    .us = 50,
                    .args = args_of({rows, {.type = "ScalarList"}, one, one, {}})},
                   50);
  };
  EXPECT_NEAR(normed(32), normed(4'096), 1);
}

// Equal kernels that compiled code launched are none of the eager ones', whichever come first.
TEST(CompiledWhole, WhatIsCompiledIsNotWrittenAnew) {
  const auto program = [](bool before, bool behind) {
    const Tensor x = half("[8192, 4096]");
    const std::vector<std::string> region = {"Torch-Compiled Region: 0/0", "## Call CompiledFxGraph abc ##"};
    std::vector<Call> calls;
    const auto chain = [&](bool compiled) {
      for (const std::string* kernel : {&kNeg, &kExp, &kSilu})
        calls.push_back({.op = kernel == &kNeg   ? "aten::neg"
                               : kernel == &kExp ? "aten::exp"
                                                 : "aten::silu",
                         .kernel = *kernel,
                         .us = 50,
                         .args = args_of({x}),
                         .around = compiled ? region : std::vector<std::string>()});
    };
    if (before) chain(true);
    chain(false);
    if (behind) chain(true);
    return gone_us(calls);
  };
  EXPECT_GT(program(false, false), 90) << "of 150";
  EXPECT_NEAR(program(true, false), program(false, false), 1);
  EXPECT_NEAR(program(false, true), program(false, false), 1);
}

// Casts that another finding takes stand between arithmetic: the chain goes on behind them, and they are kernels of it.
TEST(CompiledWhole, ChainsGoOnBehindWhatAnotherFindingTakes) {
  OpsInARow row;
  row.op("aten::mm", "sm80_xmma_gemm_f32f32", 50);
  row.op("aten::mul", kMultiply, 40, "[[64, 1024], [64, 1024], []]");
  row.op("aten::copy_", kRoundTrip, 40, "[[64, 1024], [64, 1024], []]").op("aten::exp", kExp, 40, "[[64, 1024], [], []]");
  const Found found = row.op("aten::mm", "sm80_xmma_gemm_f32f32", 50).found();
  ASSERT_TRUE(found.has(kFusedId)) << found.ids();
  EXPECT_TRUE(test::says(found.find(kFusedId)->finding.finding, {"3 kernels"})) << found.find(kFusedId)->finding.finding;
}

// Training norms over channels are written anew, what sums for them and what applies them; without arithmetic beside them too,
// where that is known to be one op's.
TEST(CompiledWhole, OfBatchNormsIsArithmeticAndSums) {
  const std::string apply =
      "void at::native::batch_norm_transform_input_channels_last_kernel<c10::BFloat16, float, c10::BFloat16, 4>()";
  const std::string sums =
      "void at::native::batch_norm_collect_statistics_channels_last_kernel<at::native::Var, c10::BFloat16, float, 4>()";
  const std::string clamp = vectorized("launch_clamp_scalar<c10::BFloat16>");  // calls keep views of names
  const auto program = [&](bool applied) {
    std::vector<Call> calls = {
        {.op = "aten::cudnn_convolution", .kernel = "sm90_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc", .us = 90},
        {.op = "aten::native_batch_norm", .kernel = sums, .us = 100}};
    if (applied) calls.push_back({.op = "aten::native_batch_norm", .kernel = apply, .us = 60});
    calls.push_back({.op = "aten::clamp_min", .kernel = clamp, .us = 50});
    return gone_us(calls);
  };
  EXPECT_GT(program(true), 100) << "of 210";
  EXPECT_LT(program(true), 180);
}

// Inductor pads a product that is off the grid: a part of what padding saves goes with the rest, once with both.
TEST(CompiledWhole, PadsWhatIsOffTheGrid) {
  const auto beside_us = [](int columns) {
    const Tensor x = {.sizes = "[4096, 4096]", .strides = "[4096, 1]", .type = "c10::BFloat16"};
    const std::string given = fmt::format("[4096, {}]", columns), lies = fmt::format("[{}, 1]", columns);
    const Tensor w = {.sizes = given, .strides = lies, .type = "c10::BFloat16"};
    const Found found = found_in_calls(
        {{.op = "aten::mm", .kernel = "nvjet_sm90_tst_128x64_64x8_1x2_h_bz_NNT", .us = 900, .args = args_of({x, w})},
         {.op = "aten::mul", .kernel = kMultiply, .us = 95, .args = args_of({w, w})},
         {.op = "aten::neg", .kernel = kNeg, .us = 65, .args = args_of({w})},
         {.op = "aten::exp", .kernel = kExp, .us = 65, .args = args_of({w})}});
    double out = 0;
    for (const Removal::Work& part : found.find(kFusedId)->remedy.removal.work)
      out += part.beside ? static_cast<double>(part.ns) : 0;
    return out / 1e3;
  };
  EXPECT_DOUBLE_EQ(beside_us(4'096), 0);
  EXPECT_GT(beside_us(4'095), 200);
  EXPECT_LT(beside_us(4'095), 0.6 * 900);
}

// A host that is late for each of its kernels: compiled, the products that stay are called by generated code, for less. Where
// few of the calls are chains the program is not compiled for them.
TEST(CompiledWhole, ProductsThatStayAreCalledForLess) {
  const auto saves_pct = [](int products) {
    OpsInARow row;
    for (int i = 0; i < 40; ++i) {
      for (int p = 0; p < products; ++p) row.op("aten::mm", "sm80_xmma_gemm_f32f32", 8);
      row.op("aten::mul", kMultiply, 8, "[[64, 1024], [64, 1024], []]").op("aten::exp", kExp, 8, "[[64, 1024], [], []]");
      row.op("aten::neg", kNeg, 8, "[[64, 1024], [], []]");
    }
    const Found found = row.found();
    const RankedFinding* finding = found.find(kFusedId);
    return finding == nullptr ? 0.0 : finding->savings.saves_pct.value_or(0);
  };
  // Two of five calls go, and 0.3 of what the two products and the one that stays take; of twelve calls two go.
  EXPECT_NEAR(saves_pct(2), 40 + 0.3 * 60, 3);
  EXPECT_NEAR(saves_pct(9), 100 * 2.0 / 12, 2);
}

}  // namespace
}  // namespace ridge
