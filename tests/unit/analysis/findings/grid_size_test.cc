// What a kernel goes over where no shapes are recorded: by its name, its grid, and the PyTorch that launched it.
#include "analysis/findings/grid_size.h"

#include <gtest/gtest.h>

#include <array>

namespace ridge {
namespace {

constexpr Dim3 kGrid{1'000, 1, 1}, kBlock{128, 1, 1};
constexpr std::string_view kVectorized =
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> >(int)";
constexpr std::string_view kStrided =
    "void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl_nocast<float> >()";

double elements(std::string_view kernel, bool wide, const Dim3& grid = kGrid) {
  const auto size = size_by_grid(kernel, grid, kBlock, wide);
  return size ? size->elements : 0;
}

// As the traces of PyTorch 2.4 (four a thread) and 2.11 (eight) have them beside recorded shapes.
TEST(GridSizes, AreThreadsTimesWhatEachTakes) {
  EXPECT_EQ(elements(kVectorized, false), 4 * 128'000);
  EXPECT_EQ(elements(kVectorized, true), 8 * 128'000);
  EXPECT_EQ(elements(kStrided, true), 2 * 128'000);
  EXPECT_EQ(elements("void at::native::unrolled_elementwise_kernel<at::native::AUnaryFunctor<float> >()", true), 4 * 128'000);
  EXPECT_EQ(elements("void at::native::roll_cuda_kernel<float>(float const*)", true), 128'000);
  EXPECT_EQ(elements("void (anonymous namespace)::elementwise_kernel_with_index<int, at::native::arange_cuda_out>()", true),
            128'000);
}

TEST(GridSizes, AreNotToldOfOtherKernels) {
  EXPECT_EQ(elements("void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float> >()", true), 0);
  EXPECT_EQ(elements("triton_poi_fused_add_0", true), 0);
  EXPECT_EQ(elements("void at::native::elementwise_kernel<128", true), 0) << "cut off";
  EXPECT_EQ(elements("void at::native::elementwise_kernel<128, 99999, float>()", true), 0);
  EXPECT_EQ(elements(kVectorized, true, {1'000, 2, 1}), 0);
  EXPECT_EQ(elements(kVectorized, true, {0, 1, 1}), 0);
}

TEST(GridSizes, HaveOperandsOfTheirTypes) {
  const auto bytes = [](std::string_view kernel) {
    const GridSize size = *size_by_grid(kernel, kGrid, kBlock, false);
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

// A kernel that takes eight tells of all others; so does CUDA 12.8, on which no PyTorch is built that takes four.
TEST(GridSizes, AreWideSinceKernelsTakeEight) {
  EXPECT_TRUE(takes_eight("void at::native::vectorized_elementwise_kernel<8, at::native::MulFunctor<c10::BFloat16> >()"));
  EXPECT_FALSE(takes_eight(kVectorized));
  EXPECT_FALSE(takes_eight("gemm<8"));
  EXPECT_TRUE(is_since_wide({{"cuda_driver_version", "12020"}, {"cuda_runtime_version", "13000"}}));
  EXPECT_FALSE(is_since_wide({{"cuda_driver_version", "13000"}, {"cuda_runtime_version", "12040"}}));
  EXPECT_FALSE(is_since_wide({}));
}

}  // namespace
}  // namespace ridge
