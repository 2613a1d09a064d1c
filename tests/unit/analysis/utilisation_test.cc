// Which work counts for an iteration's use of the device, on traces made by hand.
#include "facts/utilisation.h"

#include <gtest/gtest.h>

#include "analysis/info/info.h"
#include "support/host_device_trace.h"
#include "support/loaded_trace.h"

namespace ridge {
namespace {

using test::LoadedTrace;
using test::TraceText;

// Two steps of 1 ms with a copy kernel of 100 us each. In the first one runs, besides, 400 us of what was queued before the
// recording.
TEST(Utilisation, WorkQueuedBeforeTheRecordingIsNoIterations) {
  TraceText text;
  for (int i = 0; i < 2; ++i) {
    const std::int64_t at = i * 1'000'000;
    text.annotation("ProfilerStep#" + std::to_string(i + 5), at, at + 999'000);
    text.call("cudaLaunchKernel", at + 600'000, at + 605'000, i + 1).kernel("k", at + 610'000, at + 710'000, i + 1);
  }
  for (int i = 0; i < 4; ++i) text.kernel("old", 100'000 + i * 100'000, 200'000 + i * 100'000, 100 + i);
  const LoadedTrace loaded(text.read());
  const Scope scope(*loaded.model);
  const Utilisation use = compute_utilisation(scope);
  ASSERT_EQ(use.iterations.size(), 2U);
  EXPECT_EQ(use.iterations[0].cost.time_ns, 100'000);
  EXPECT_EQ(use.iterations[1].cost.time_ns, 100'000);
  EXPECT_EQ(use.all.cost.time_ns, 200'000);
  EXPECT_EQ(compute_info(scope).launched, (std::vector<std::int64_t>{1, 1}));
}

// A collective has no FLOPs, which is known; of its bytes nothing is.
TEST(Utilisation, CollectivesDoNotHideWhatTheRestComputes) {
  TraceText text;
  text.call("cudaLaunchKernel", 5'000, 8'000, 1)
      .kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", 10'000, 90'000, 1);
  text.call("cudaMemcpyAsync", 80'000, 85'000, 2).copy("Memcpy DtoD (Device -> Device)", 90'000, 100'000, 2);
  const LoadedTrace loaded(text.read());
  const Scope scope(*loaded.model);
  EXPECT_EQ(scope.costs()[0].flops, 0.0);
  EXPECT_EQ(scope.costs()[0].bytes_read, std::nullopt);
  EXPECT_EQ(compute_utilisation(scope).all.cost.flops_known_pct(), 100.0);
}

}  // namespace
}  // namespace ridge
