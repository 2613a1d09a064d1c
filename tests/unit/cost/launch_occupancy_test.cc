// Occupancy of launches against the profiler's own, which holds for blocks of up to 48 KiB of shared memory.
#include "cost/roof/launch_occupancy.h"

#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "support/files.h"
#include "support/loaded_trace.h"

namespace ridge {
namespace {

constexpr std::int64_t kDefaultShared = 48 * 1024;

TEST(LaunchOccupancy, IsTheProfilersWhereItHasOne) {
  std::size_t compared = 0, computed = 0;
  for (const std::string& path : test::all_traces()) {
    const auto loaded = test::load_file(path);
    const CostModel costs(*loaded.model, {});
    const DeviceWorkTable work = device_work(*loaded.trace);
    for (const EventId event : work.events) {
      const auto said = work.occupancy_pct.number(event);
      if (!said || loaded.trace->kind(event).work != DeviceWork::kernel) continue;
      const LaunchOccupancy own = occupancy_of(costs, work, event, work.device.integer(event).value_or(-1));
      if (!own.resident_blocks) {
        EXPECT_EQ(own.pct.has_value(), *said > 0) << path;  // the device is not described: its 0 is unknown
        continue;
      }
      if (work.shared_memory.integer(event).value_or(0) > kDefaultShared) {
        EXPECT_EQ(*said, 0) << path;
        EXPECT_GT(own.pct.value_or(0), 0) << path;
        ++computed;
        continue;
      }
      ASSERT_NEAR(own.pct.value_or(-1), *said, 0.51) << path << " " << loaded.trace->text(loaded.trace->events.name(event));
      ++compared;
    }
  }
  EXPECT_GT(compared, 5000U);
  EXPECT_GT(computed, 500U);
}

TEST(LaunchOccupancy, AProductOfLargeTilesIsNotAtZero) {
  const auto loaded = test::load_file(*test::path_of("clean_busy_gemm"));
  const CostModel costs(*loaded.model, {});
  const DeviceWorkTable work = device_work(*loaded.trace);
  std::size_t products = 0;
  for (const EventId event : work.events) {
    if (!loaded.trace->text(loaded.trace->events.name(event)).starts_with("nvjet")) continue;
    ASSERT_EQ(work.occupancy_pct.number(event), 0.0);
    // 384 threads of 168 registers: one block on each multiprocessor, which holds 2,048 threads.
    EXPECT_NEAR(occupancy_of(costs, work, event, 0).pct.value(), 18.75, 1e-9);
    ++products;
  }
  EXPECT_EQ(products, 30U);
}

TEST(LaunchOccupancy, AGivenDeviceTellsWhereTheTraceDoesNot) {
  const std::string kernel = test::event({.name = "k",
                                          .ts = 1,
                                          .dur = 5,
                                          .cat = "kernel",
                                          .args = R"("device": 0, "stream": 7, "grid": [5000, 1, 1], "block": [256, 1, 1],
        "registers per thread": 32, "shared memory": 65536, "est. achieved occupancy %": 0)"});
  const auto loaded = test::load_events(kernel);
  const DeviceWorkTable work = device_work(*loaded.trace);
  EXPECT_EQ(occupancy_of(CostModel(*loaded.model, {}), work, work.events[0], 0).pct, std::nullopt);
  CostOptions options;
  options.device = *find_device("a100 sxm 80gb").value();
  const CostModel costs(*loaded.model, options);
  EXPECT_NEAR(occupancy_of(costs, work, work.events[0], 0).pct.value(), 100 * 2 * 256 / 2048.0, 1e-9);  // 65 of 164 KiB each
}

}  // namespace
}  // namespace ridge
