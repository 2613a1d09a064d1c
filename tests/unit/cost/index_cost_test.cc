// What an index names, or a search finds: elements, rows, sectors; and the kernels that sort and count on the way. The counters
// in comments are dram__bytes_read.sum of an H200.
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "cost/cost_model.h"
#include "unit/cost/hand_made_launch.h"

namespace ridge {
namespace {

using test::launch;

struct Call {
  std::string_view op, args;
  std::string launches;

  std::vector<LaunchCost> costs() const {
    const auto loaded = test::load_events(test::join({test::event({.name = op, .ts = 5, .dur = 500, .args = args}), launches}));
    const CostModel model(*loaded.model, {});
    std::vector<LaunchCost> out;
    for (std::size_t i = 0; i < loaded.model->links().op.size(); ++i) out.push_back(model[i]);
    return out;
  }
};
void expect_near(const LaunchCost& cost, double counted) { EXPECT_NEAR(cost.bytes_read.value_or(0), counted, 0.1 * counted); }

TEST(IndexCost, TwoIndicesAreReadForEachPick) {
  // x[i, j] of [16, 1024, 64]: 327,680 rows of 64, two int64 for each.
  const auto costs =
      Call{"aten::index", R"("Input Dims": [[16, 1024, 64], []], "Input type": ["float", ""])",
           launch(1, "void at::native::index_elementwise_kernel<128, 4, at::native::gpu_index_kernel<x>>(y)", "[40960, 1, 1]")}
          .costs();
  expect_near(costs[0], 9491200);
  EXPECT_EQ(costs[0].estimate, Estimate::ambiguous);
}

TEST(IndexCost, AMaskNamesEachRowOnce) {
  // x[mask] of [49104, 91]: nearly all rows, which are no multiple of 16 bytes; counted 9,309,440.
  const auto mask =
      Call{"aten::index", R"("Input Dims": [[49104, 91], []], "Input type": ["c10::BFloat16", ""])",
           launch(1, "void at::native::index_elementwise_kernel<128, 4, at::native::gpu_index_kernel<x>>(y)", "[8643, 1, 1]")}
          .costs();
  expect_near(mask[0], 9309440);
  // Tokens that are sent to two experts each; counted 8,458,000.
  const auto routed = Call{"aten::index", R"("Input Dims": [[4096, 1024], []], "Input type": ["c10::BFloat16", ""])",
                           launch(1, "void at::native::vectorized_gather_kernel<16, long>(x)", "[8192, 1, 1]")}
                          .costs();
  expect_near(routed[0], 8458000);
}

TEST(IndexCost, OneDimensionHasOneIndex) {
  const auto costs =
      Call{"aten::index", R"("Input Dims": [[1048576], []], "Input type": ["float", ""])",
           launch(1, "void at::native::index_elementwise_kernel<128, 4, at::native::gpu_index_kernel<x>>(y)", "[512, 1, 1]")}
          .costs();
  EXPECT_GE(costs[0].bytes_read.value_or(0), 262144.0 * 8);
  EXPECT_LE(costs[0].bytes_read.value_or(0), 262144.0 * 8 + 1048576.0 * 4);
}

constexpr std::string_view kSort = "void at_cuda_detail::cub::detail::radix_sort::DeviceRadixSortOnesweepKernel<x>(y)";

TEST(IndexCost, ValuesTellHowManyIndicesAreSorted) {
  const auto costs =
      Call{"aten::_index_put_impl_",
           R"("Input Dims": [[16, 1024, 64], [], [16, 1024, 20, 64], [], []], )"
           R"("Input type": ["float", "", "float", "Scalar", "Scalar"], "Concrete Inputs": ["", "", "", "True", "True"])",
           launch(1, kSort, "[72, 1, 1]")}
          .costs();
  EXPECT_EQ(costs[0].bytes_read, 2.0 * 327680 * 8);  // counted 5,281,024
}

TEST(IndexCost, DimensionsBeforeTheIndicesAreNotSorted) {
  // x[:, i, j]: 36 pairs of indices for all 8192 layers.
  const auto costs =
      Call{"aten::_index_put_impl_",
           R"("Input Dims": [[8192, 9, 9], [], [8192, 36], [], []], "Input type": ["float", "", "float", "Scalar", "Scalar"], )"
           R"("Concrete Inputs": ["", "", "", "True", "True"])",
           test::join({launch(1, kSort, "[1, 1, 1]"),
                       launch(2, "void (anonymous namespace)::indexing_backward_kernel_stride_1<float>(x)", "[9, 1, 8192]")})}
          .costs();
  EXPECT_EQ(costs[0].bytes_read, 2.0 * 36 * 8);
}

TEST(IndexCost, ElementsWrittenAloneCompleteTheirSectors) {
  // One of each 20 floats: 67 MB of sectors beside 17 MB of indices and 8 MB of values.
  const auto written = [](std::string_view dims) {
    return Call{"aten::scatter_", dims,
                launch(1, "void at::native::_scatter_gather_elementwise_kernel<128, 8, x>(y)", "[2048, 1, 1]")}
        .costs()[0];
  };
  expect_near(written(R"("Input Dims": [[16, 128, 1024, 20], [], [16, 128, 1024, 1], [16, 128, 1024, 1]], )"
                      R"("Input type": ["float", "Scalar", "long int", "float"], "Concrete Inputs": ["", "-1", "", ""])"),
              88840448);
  // As many as there are: they fill their sectors.
  EXPECT_EQ(written(R"("Input Dims": [[4096, 4096], [], [4096, 4096], [4096, 4096]], )"
                    R"("Input type": ["float", "Scalar", "long int", "float"], "Concrete Inputs": ["", "1", "", ""])")
                .bytes_read,
            4096.0 * 4096 * (8 + 4));
}

TEST(IndexCost, ASelectionCountsDigits) {
  const auto costs =
      Call{
          "aten::topk",
          R"("Input Dims": [[16, 1024, 1024], [], [], [], []], "Input type": ["float", "Scalar", "Scalar", "Scalar", "Scalar"], )"
          R"("Concrete Inputs": ["", "20", "-1", "False", "True"])",
          test::join(
              {launch(1, "void at::native::mbtopk::fill<unsigned int, unsigned int>(x)", "[32, 1, 1]"),
               launch(2, "void at::native::mbtopk::radixFindKthValues<float, unsigned int, 2>(x)", "[16384, 1, 1]"),
               launch(3, "at::native::mbtopk::computeDigitCumSum(short*, unsigned int*, unsigned int)", "[16384, 1, 1]"),
               launch(4, "void at::native::mbtopk::computeBlockwiseWithinKCounts<unsigned int, float>(x)", "[16384, 1, 1]"),
               launch(5, "void at_cuda_detail::cub::detail::scan_by_key::DeviceScanByKeyInitKernel<x>(y)", "[1, 1, 1]"),
               launch(6, "void at_cuda_detail::cub::detail::scan_by_key::DeviceScanByKeyKernel<x>(y)", "[5, 1, 1]")})}
          .costs();
  EXPECT_EQ(costs[0].bytes_read, 0.0);  // counted 2,816
  EXPECT_EQ(costs[1].bytes_read, 4.0 * 16 * 1024 * 1024);
  EXPECT_EQ(costs[2].bytes_read, 16384.0 * 256 * 2);  // counted 8,397,056
  expect_near(costs[3], 21659136);                    // 20.8 to 23.3 MB in its four passes
  EXPECT_EQ(costs[3].estimate, Estimate::ambiguous);
  EXPECT_EQ(costs[4].bytes_read, 0.0);          // counted 3,328
  EXPECT_EQ(costs[5].bytes_read, 16384.0 * 4);  // counted 114,176
}

TEST(IndexCost, BoxesAreComparedInWordsOf64) {
  const auto costs =
      Call{"torchvision::nms", R"("Input Dims": [[4000, 4], [4000], []], "Input type": ["float", "float", "Scalar"])",
           test::join({launch(1, "void vision::ops::(anonymous namespace)::nms_kernel_impl<float>(x)", "[63, 63, 1]"),
                       launch(2, "void vision::ops::(anonymous namespace)::gather_keep_from_mask(x)", "[1, 1, 1]")})}
          .costs();
  EXPECT_EQ(costs[0].bytes_read, 4000.0 * 4 * 4);
  EXPECT_EQ(costs[0].bytes_written, 4000.0 * 63 / 2 * 8);  // above the diagonal
  EXPECT_EQ(costs[1].bytes_read, 4000.0 * 63 / 2 * 8);
  EXPECT_EQ(costs[1].estimate, Estimate::ambiguous);
}

TEST(IndexCost, WindowsOfBoxesTakeNoMoreThanTheMap) {
  const auto cost = [](std::string_view boxes) {
    return Call{
        "torchvision::roi_align",
        "\"Input Dims\": [[2, 256, 50, 50], [" + std::string(boxes) +
            R"(, 5], [], [], [], [], []], "Input type": ["float", "float", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar"], )"
            R"("Concrete Inputs": ["", "", "0.0625", "7", "7", "2", "False"])",
        launch(1, "void vision::ops::(anonymous namespace)::roi_align_forward_kernel_impl<float>(x)", "[4096, 1, 1]")}
        .costs()[0];
  };
  EXPECT_EQ(cost("1000").bytes_read, 2.0 * 256 * 50 * 50 * 4 + 1000 * 5 * 4);
  EXPECT_EQ(cost("1000").bytes_written, 1000.0 * 256 * 49 * 4);
  // One box of 49 cells, four points each between four elements, in a sector of 32 bytes: 6.4 MB would be more than the map.
  EXPECT_LE(cost("1").bytes_read.value_or(0), 2.0 * 256 * 50 * 50 * 4 + 20);
}

}  // namespace
}  // namespace ridge
