// Bytes of collectives: kernels and collectives tell the same, what a rank gives as read, what it gets as written, and the
// larger of the two as the size of the message.
#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "analysis/categories/categories.h"
#include "analysis/collectives/collectives.h"
#include "analysis/kernels/kernels.h"
#include "support/files.h"
#include "support/loaded_trace.h"

namespace ridge {
namespace {

using test::event;
using test::join;
using test::launch;
using test::load_events;

std::string comms(int at, int correlation, std::string_view name, int in, int out, std::string_view kernel) {
  return join(
      {event({.name = "record_param_comms",
              .ts = at,
              .dur = 8,
              .args = "\"Collective name\": \"" + std::string(name) + "\", \"dtype\": \"BFloat16\", \"In msg nelems\": " +
                      std::to_string(in) + ", \"Out msg nelems\": " + std::to_string(out) + ", \"Group size\": 4"}),
       launch(correlation, at + 2, 2, kernel, at + 1000, 5)});
}

TEST(CollectiveBytes, AreTheSameInKernelsAndCollectives) {
  const auto loaded = load_events(join({
      comms(100, 1, "allreduce", 1000, 1000, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(int)"),
      comms(120, 2, "_allgather_base", 250, 1000, "ncclDevKernel_AllGather_RING_LL(int)"),
      comms(140, 3, "_reduce_scatter_base", 1000, 250, "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(int)"),
      comms(160, 4, "broadcast", 300, 300, "ncclDevKernel_Broadcast_RING_LL(int)"),
      comms(180, 5, "send", 70, 70, "ncclDevKernel_SendRecv(int)"),
      event({.name = "symm_mem::multimem_all_reduce_",
             .ts = 200,
             .dur = 9,
             .args = R"("Input Dims": [[500],[],[]], "Input type": ["c10::BFloat16","",""])"}),
      launch(6, 203, 2, "void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(int)", 1300, 40),
  }));
  const Scope scope(*loaded.model);
  struct Moved {
    double read, written;
  };
  // Of a broadcast, as of one sent, one way counts.
  constexpr Moved kMoved[] = {{2000, 2000}, {500, 2000}, {2000, 500}, {0, 600}, {140, 0}, {1000, 1000}};
  double larger = 0;
  for (std::size_t row = 0; row < std::size(kMoved); ++row) {
    const LaunchCost& cost = scope.costs()[row];
    EXPECT_EQ(cost.flops, 0) << row;
    EXPECT_EQ(cost.bytes_read, kMoved[row].read) << row;
    EXPECT_EQ(cost.bytes_written, kMoved[row].written) << row;
    EXPECT_FALSE(scope.costs().roof(row).roof_ns) << row;
    larger += std::max(kMoved[row].read, kMoved[row].written);
  }
  const Collectives found = compute_collectives(scope);
  std::int64_t bytes = 0;
  for (const CollectiveRow& row : found.rows) {
    ASSERT_TRUE(row.bytes) << row.name;
    EXPECT_EQ(row.sized_ns, row.time_ns) << row.name;
    bytes += *row.bytes;
  }
  EXPECT_EQ(static_cast<double>(bytes), larger);
  EXPECT_EQ(compute_kernels(scope).cost.bytes_read.sum, 2000.0 + 500 + 2000 + 0 + 140 + 1000);
}

// Two kernels of one call: the first has its bytes.
TEST(CollectiveBytes, OfACallAreCountedOnce) {
  const auto loaded = load_events(join({comms(100, 1, "allreduce", 1000, 1000, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(int)"),
                                        launch(2, 105, 1, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(int)", 1200, 5)}));
  const Scope scope(*loaded.model);
  EXPECT_EQ(scope.costs()[0].bytes_read, 2000);
  EXPECT_EQ(scope.costs()[1].bytes_read, 0);
  EXPECT_EQ(compute_collectives(scope).rows.at(0).bytes, 2000);
}

TEST(CollectiveBytes, AreUnknownWhereNothingTellsThem) {
  const auto loaded = load_events(launch(1, 100, 2, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(int)", 200, 5));
  const Scope scope(*loaded.model);
  EXPECT_EQ(scope.costs()[0].flops, 0);
  EXPECT_FALSE(scope.costs()[0].bytes_read);
  EXPECT_FALSE(compute_collectives(scope).rows.at(0).bytes);
}

}  // namespace
}  // namespace ridge
