// Kernels that memory traffic bounds, against what such work takes with its tensors in order: which count, whose order is the
// program's to choose, and what is said of a launch.
#include <gtest/gtest.h>

#include "support/says.h"
#include "unit/analysis/findings/calls.h"

namespace ridge {
namespace {

using test::args_of;
using test::Call;
using test::claimed_work;
using test::ClaimedWork;
using test::Found;
using test::found_in_calls;
using test::Tensor;

constexpr std::string_view kMemoryId = "memory_bound_inefficient";
constexpr std::string_view kStridedKernel =
    "void at::native::elementwise_kernel<128, 4, at::native::CUDAFunctor_add<c10::BFloat16> >()";

bool is_slow(const Call& call) { return found_in_calls({call}).has(kMemoryId); }

// A matrix of 8192 x 8192 in bfloat16, of 134 MB: 28 us at 4.8 TB/s.
Tensor matrix(const std::string& strides = "[8192, 1]", const std::string& type = "c10::BFloat16") {
  return {"[8192, 8192]", strides, type};
}
// Two of them added: read and written in 84 us at best, in some 100 where both lie alike.
Call added(const Tensor& second, int us = 400) {
  return {.op = "aten::add", .kernel = kStridedKernel, .us = us, .args = args_of({matrix(), second, {.value = "1"}})};
}

TEST(MemoryBound, AreKernelsFarBelowTheBandwidth) {
  EXPECT_TRUE(is_slow(added(matrix("[1, 8192]"), 400)));
  EXPECT_FALSE(is_slow(added(matrix("[1, 8192]"), 190))) << "at 44 % of the bandwidth";
}

// 0.5 MB in 8 us is far below the bandwidth too, as all short kernels are.
TEST(MemoryBound, AreNotShort) {
  const auto small = [](int us) {
    return Call{
        .op = "aten::add",
        .kernel = kStridedKernel,
        .us = us,
        .args = args_of(
            {{"[256, 512]", "[512, 1]", "c10::BFloat16"}, {"[256, 512]", "[1, 256]", "c10::BFloat16"}, {.value = "1"}})};
  };
  EXPECT_TRUE(is_slow(small(80)));
  EXPECT_FALSE(is_slow(small(9)));
}

// Three matrices of 134 MB take 84 us in any order; three of 8.4 MB take 5.2, and a quarter of that from the L2.
TEST(MemoryBound, AreBoundedByTheBandwidth) {
  const ClaimedWork large = claimed_work(found_in_calls({added(matrix("[1, 8192]"))}), kMemoryId);
  EXPECT_NEAR(large.bound_us, 400 - 83.9, 0.5);
  EXPECT_LT(large.expected_us, large.bound_us);
  const Call cached{
      .op = "aten::add",
      .kernel = kStridedKernel,
      .us = 80,
      .args = args_of(
          {{"[2048, 2048]", "[2048, 1]", "c10::BFloat16"}, {"[2048, 2048]", "[1, 2048]", "c10::BFloat16"}, {.value = "1"}})};
  EXPECT_NEAR(claimed_work(found_in_calls({cached}), kMemoryId).bound_us, 80 - 5.24 / 4, 0.1);
}

// Of these a program chooses how they lie. Strides of a dimension of size one say nothing of where elements lie.
TEST(MemoryBound, CountWhereTensorsCanBePutInOrder) {
  const auto sum = [](const Tensor& one, const Tensor& other) {
    return is_slow({.op = "aten::add", .kernel = kStridedKernel, .us = 400, .args = args_of({one, other, {.value = "1"}})});
  };
  const auto images = [](const char* strides) { return Tensor{"[64, 64, 128, 128]", strides, "c10::BFloat16"}; };
  const Tensor nchw = images("[1048576, 16384, 128, 1]"), nhwc = images("[1048576, 1, 8192, 64]");
  EXPECT_TRUE(sum(matrix("[1, 8192]"), matrix("[1, 8192]"))) << "two matrices, both turned";
  EXPECT_TRUE(
      sum({"[8192, 1, 8192]", "[8192, 8192, 1]", "c10::BFloat16"}, {"[8192, 1, 8192]", "[8192, 7, 1]", "c10::BFloat16"}));
  EXPECT_TRUE(sum(nchw, nhwc)) << "images of two orders";
  EXPECT_FALSE(sum(nhwc, nhwc)) << "images in the order of their convolutions";
  EXPECT_FALSE(sum(matrix(), matrix("[9000, 1]"))) << "a slice";
  EXPECT_FALSE(sum(matrix(), matrix("[0, 1]"))) << "one row, repeated";
}

TEST(MemoryBound, OfAListLookAtAllOfIt) {
  const auto joined = [](std::string_view strides) {
    return is_slow(
        {.op = "aten::cat",
         .kernel = "void at::native::(anonymous namespace)::CatArrayBatchedCopy<float>()",
         .us = 900,
         .args = fmt::format(R"("Input Dims": [[[8192, 4096], [8192, 4096]], []], "Input Strides": [[{0}, {0}], []], )"
                             R"("Input type": ["TensorList", "Scalar"], "Concrete Inputs": ["", "1"])",
                             strides)});
  };
  EXPECT_TRUE(joined("[1, 8192]"));
  EXPECT_FALSE(joined("[8192, 1]")) << "halves of a wider tensor";
}

// The copy that an op makes of an argument which lies across goes altogether. One that the program asks for, one into another
// type and one of a tensor in order only become faster; of gradients nothing is the program's choice.
TEST(MemoryBound, CopiesThatAnOpMakesForItselfGo) {
  const auto left_us = [](std::vector<std::string> around, const Tensor& to, const Tensor& from) {
    const Found found =
        found_in_calls({{.op = "aten::copy_",
                         .kernel = "void at::native::elementwise_kernel<128, 4, at::native::direct_copy_kernel_cuda>()",
                         .us = 400,
                         .args = args_of({to, from, {.value = "False"}}),
                         .around = std::move(around)}});
    return 400 - claimed_work(found, kMemoryId).expected_us;
  };
  const Tensor across = matrix("[1, 8192]");
  EXPECT_DOUBLE_EQ(left_us({"aten::native_layer_norm"}, matrix(), across), 0);
  EXPECT_DOUBLE_EQ(left_us({"aten::native_layer_norm", "aten::contiguous", "aten::clone"}, matrix(), across), 0);
  // 268 MB are read and written in 56 us at best.
  for (const double left : {left_us({"aten::contiguous", "aten::clone"}, matrix(), across),
                            left_us({"aten::native_layer_norm"}, matrix("[8192, 1]", "float"), across),
                            left_us({"aten::native_layer_norm"}, matrix(), matrix())}) {
    EXPECT_GT(left, 50);
    EXPECT_LT(left, 200);
  }
  EXPECT_DOUBLE_EQ(left_us({"autograd::engine::evaluate_function: MulBackward0", "MulBackward0"}, matrix(), across), 400);
}

// Products have findings of their own.
TEST(MemoryBound, AreNoProducts) {
  const std::string tall =
      args_of({{"[4000000, 16]", "[1, 4000000]", "c10::BFloat16"}, {"[16, 16]", "[16, 1]", "c10::BFloat16"}});
  EXPECT_FALSE(is_slow({.op = "aten::mm", .kernel = "nvjet_hsh_128x64_64x8_1x2_h_bz_TNN", .us = 900, .args = tall}));
}

// 419 MB in 287 us by a kernel of Inductor, of which only the launch can be wrong. Each block has 1024 threads.
Call generated(std::string_view kernel, int blocks, int registers = 32) {
  const Tensor x{"[16, 512, 12800]", "[6553600, 12800, 1]", "c10::BFloat16"}, weight{"[512]", "[1]", "c10::BFloat16"};
  return {.op = kernel,
          .kernel = kernel,
          .us = 287,
          .args = args_of({x, weight, x, {.value = "104857600"}}) +
                  R"(, "kernel_backend": "triton", "kernel_kwargs": "XBLOCK=1024")",
          .launch = fmt::format(R"("grid": [{}, 1, 1], "block": [{}, 1, 1], "registers per thread": {}, "shared memory": 0)",
                                blocks, registers > 200 ? 128 : 1024, registers)};
}

TEST(MemoryBound, OfInductorAreThoseWhoseLaunchLeavesTheDeviceIdle) {
  constexpr std::string_view kGroupNorm = "triton_poi_fused_convolution_gelu_native_group_norm_2";
  EXPECT_FALSE(is_slow(generated(kGroupNorm, 102'400)));
  EXPECT_TRUE(is_slow(generated(kGroupNorm, 120))) << "fewer blocks than multiprocessors, which are half occupied";
  EXPECT_TRUE(is_slow(generated(kGroupNorm, 102'400, 255))) << "blocks enough, of too many registers";
  CostOptions other;
  other.device = **find_device("A100-SXM4-80GB");
  EXPECT_FALSE(found_in_calls({generated(kGroupNorm, 120)}, other).has(kMemoryId)) << "nothing was measured there";
}

// A number takes longer to draw than to write; a mask that was drawn before is only read.
TEST(MemoryBound, AreNotKernelsThatDrawNumbers) {
  EXPECT_FALSE(is_slow(generated("triton_poi_fused_add_native_dropout_2", 120)));
  EXPECT_FALSE(is_slow(generated("triton_poi_fused_bernoulli_mul_2", 120)));
  EXPECT_TRUE(is_slow(generated("triton_poi_fused_add_native_dropout_backward_2", 120)));
}

// A tensor that lies in order does so for all that read it: what is no finding by itself bounds it, products do not.
TEST(MemoryBound, BoundWhatElseReadsSuchTensors) {
  const auto bound_us = [](const Call& other) {
    return claimed_work(found_in_calls({added(matrix("[1, 8192]")), other}), kMemoryId).bound_us;
  };
  const double alone = bound_us({.op = "aten::mm", .kernel = "nvjet_hsh_128x64_64x8_1x2_h_bz_TNN", .us = 150});
  EXPECT_GT(bound_us(added(matrix("[1, 8192]"), 150)), alone + 10);
  EXPECT_DOUBLE_EQ(bound_us(added(matrix(), 150)), alone);
  EXPECT_DOUBLE_EQ(bound_us({.op = "aten::mm",
                             .kernel = "nvjet_hsh_128x64_64x8_1x2_h_bz_TNN",
                             .us = 2'000,
                             .args = args_of({matrix(), matrix("[1, 8192]")})}),
                   alone);
}

TEST(MemoryBound, SayHowTheyWereLaunched) {
  const auto evidence = [](int blocks, int threads, int registers) {
    Call call = added(matrix("[1, 8192]"));
    call.launch = fmt::format(R"("grid": [{}, 1, 1], "block": [{}, 1, 1], "registers per thread": {}, "shared memory": 0)",
                              blocks, threads, registers);
    const Found found = found_in_calls({call});
    return found.has(kMemoryId) ? found.find(kMemoryId)->finding.evidence : found.ids();
  };
  // 403 MB in 400 us: 1.01 of 4.8 TB/s. 132 multiprocessors hold 16 blocks of 128 threads each: 2112.
  EXPECT_TRUE(
      test::says(evidence(64, 128, 32), {"21 % of peak", "64 blocks for 132 multiprocessors (some are idle)", "(low)"}));
  const std::string few = evidence(3'000, 128, 32), many = evidence(300'000, 128, 32);
  EXPECT_TRUE(test::says(few, {"occupancy 100 %", "1.4 waves"}));
  EXPECT_EQ(few.find("(low)"), few.npos) << few;
  EXPECT_EQ(few.find("idle"), few.npos) << few;
  EXPECT_EQ(many.find("waves"), many.npos) << many;
}

}  // namespace
}  // namespace ridge
