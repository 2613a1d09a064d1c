// What a kernel goes over where no shapes are recorded: by its name, its grid, and the PyTorch that launched it.
#include "cost/grid_size.h"

#include <gtest/gtest.h>

#include <array>

namespace ridge {
namespace {

constexpr Dim3 kGrid{1'000, 1, 1}, kBlock{128, 1, 1};
constexpr std::string_view kVectorized =
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> >(int)";
constexpr std::string_view kStrided =
    "void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl_nocast<float> >()";

double elements(std::string_view kernel, Width width, const Dim3& grid = kGrid) {
  const auto size = size_by_grid(kernel, grid, kBlock, width);
  return size ? size->elements : 0;
}

// As traces of CUDA 12.4 (four a thread) and 13.0 (eight) have them beside recorded shapes.
TEST(GridSizes, AreThreadsTimesWhatEachTakes) {
  EXPECT_EQ(elements(kVectorized, Width::four), 4 * 128'000);
  EXPECT_EQ(elements(kVectorized, Width::eight), 8 * 128'000);
  EXPECT_EQ(elements(kStrided, Width::eight), 2 * 128'000);
  EXPECT_EQ(elements("void at::native::unrolled_elementwise_kernel<at::native::AUnaryFunctor<float> >()", Width::eight),
            4 * 128'000);
  EXPECT_EQ(elements("void at::native::roll_cuda_kernel<float>(float const*)", Width::eight), 128'000);
  EXPECT_EQ(
      elements("void (anonymous namespace)::elementwise_kernel_with_index<int, at::native::arange_cuda_out>()", Width::eight),
      128'000);
}

TEST(GridSizes, AreNotToldOfOtherKernels) {
  EXPECT_EQ(elements("void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float> >()", Width::eight), 0);
  EXPECT_EQ(elements("triton_poi_fused_add_0", Width::eight), 0);
  EXPECT_EQ(elements("void at::native::elementwise_kernel<128", Width::eight), 0) << "cut off";
  EXPECT_EQ(elements("void at::native::elementwise_kernel<128, 99999, float>()", Width::eight), 0);
  EXPECT_EQ(elements(kVectorized, Width::eight, {1'000, 2, 1}), 0);
  EXPECT_EQ(elements(kVectorized, Width::eight, {0, 1, 1}), 0);
  EXPECT_EQ(elements("void at::native::vectorized_elementwise_kernel<0, at::native::AddFunctor<float> >()", Width::named), 0);
}

TEST(GridSizes, HaveOperandsOfTheirTypes) {
  const auto bytes = [](std::string_view kernel) {
    const GridSize size = *size_by_grid(kernel, kGrid, kBlock, Width::four);
    return std::array{size.bytes_read / size.elements, size.bytes_written / size.elements};
  };
  EXPECT_EQ(bytes(kVectorized), (std::array{8.0, 4.0}));  // two tensors of four bytes into one
  EXPECT_EQ(bytes("void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<c10::BFloat16, float> >()"),
            (std::array{4.0, 2.0}));
  EXPECT_EQ(bytes("void at::native::vectorized_elementwise_kernel<4, at::native::bfloat16_copy_kernel_cuda>()"),
            (std::array{4.0, 2.0}));
  EXPECT_EQ(
      bytes("void at::native::vectorized_elementwise_kernel<2, at::native::FillFunctor<double>, std::array<char*, 1ul> >()"),
      (std::array{0.0, 8.0}));
}

// Single bytes go by sixteen; AMD's names say how many, also where they are unrolled by hand.
TEST(GridSizes, AreOfBytesAndOfOtherDevices) {
  constexpr std::string_view kBytes =
      "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<unsigned char> >()";
  EXPECT_EQ(elements(kBytes, Width::eight), 16 * 128'000);
  EXPECT_EQ(
      elements(
          "void at::native::vectorized_elementwise_kernel<4, at::native::compare_scalar_kernel<float>()::lambda(float)#1>()",
          Width::eight),
      8 * 128'000);
  EXPECT_EQ(elements(kVectorized, Width::named), 4 * 128'000);
  EXPECT_EQ(elements("void at::native::elementwise_kernel_manual_unroll<128, 8, at::native::gpu_kernel_impl_nocast<float> >()",
                     Width::named),
            8 * 128'000);
}

// A condition of one byte, and two tensors to choose from.
TEST(GridSizes, KnowWhatChoosesHasThreeOperands) {
  const GridSize size = *size_by_grid(
      "void at::native::vectorized_elementwise_kernel<4, at::native::where_kernel_impl()::lambda(bool, float, float)#1>()",
      kGrid, kBlock, Width::eight);
  EXPECT_EQ(size.bytes_read, 9 * size.elements);
  EXPECT_EQ(size.bytes_written, 4 * size.elements);
}

// A kernel that takes eight tells of all others; so does CUDA 12.8, on which no PyTorch is built that takes four.
TEST(GridSizes, AreWideSinceKernelsTakeEight) {
  EXPECT_TRUE(takes_eight("void at::native::vectorized_elementwise_kernel<8, at::native::MulFunctor<c10::BFloat16> >()"));
  EXPECT_FALSE(takes_eight(kVectorized));
  EXPECT_FALSE(takes_eight("gemm<8"));
  EXPECT_EQ(width_since({{"cuda_driver_version", "12020"}, {"cuda_runtime_version", "13000"}}), Width::eight);
  EXPECT_EQ(width_since({{"cuda_driver_version", "13000"}, {"cuda_runtime_version", "12040"}}), Width::four);
  EXPECT_EQ(width_since({{"hip_runtime_version", "60443483"}}), Width::named);
  EXPECT_EQ(width_since({}), Width::four);
}

}  // namespace
}  // namespace ridge
