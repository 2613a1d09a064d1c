// The roof on a device of round numbers: 100 TFLOP/s and 1 TB/s.
#include <gtest/gtest.h>

#include "cost/cost_model.h"

namespace ridge {
namespace {

// 100 TFLOP/s in bf16, 1 TB/s.
DeviceSpec device() {
  DeviceSpec d;
  d.bf16 = {100e12, 100e12};
  d.bandwidth = {1e12, 1e12};
  return d;
}
LaunchCost cost(std::optional<double> flops, std::optional<double> read, std::optional<double> written) {
  LaunchCost c;
  c.flops = flops;
  c.bytes_read = read;
  c.bytes_written = written;
  c.dtype = DType::bf16;
  return c;
}

TEST(Roof, IsTheLongerOfTheTwoTimes) {
  const DeviceSpec d = device();
  // 1e10 FLOP: 100 us; 1e7 bytes: 10 us.
  const Roof compute = roof_of(cost(1e10, 5e6, 5e6), true, 200e3, 1, &d);
  EXPECT_DOUBLE_EQ(*compute.roof_ns, 100e3);
  EXPECT_DOUBLE_EQ(*compute.headroom_ns, 100e3);
  EXPECT_DOUBLE_EQ(*compute.pct_peak_flops, 50);
  EXPECT_DOUBLE_EQ(*compute.pct_peak_bandwidth, 5);
  EXPECT_EQ(compute.bound, Bound::compute);
  const Roof memory = roof_of(cost(0, 1e8, 0), false, 125e3, 1, &d);
  EXPECT_DOUBLE_EQ(*memory.roof_ns, 100e3);
  EXPECT_EQ(memory.bound, Bound::memory);
}

TEST(Roof, LatencyWhereNeitherExplainsTheTime) {
  const DeviceSpec d = device();
  LaunchCost written = cost(0, 0, 1e5);
  written.bytes_read = std::nullopt;  // what is written alone is no bandwidth
  EXPECT_EQ(roof_of(written, false, 125e3, 1, &d).pct_peak_bandwidth, std::nullopt);
  EXPECT_EQ(roof_of(cost(0, 1e5, 0), false, 2e3, 1, &d).bound, Bound::latency);   // 0.1 us of memory in a launch of 2 us
  EXPECT_EQ(roof_of(cost(0, 1e6, 0), false, 1e6, 1, &d).bound, Bound::latency);   // 1 us of memory in 1 ms
  EXPECT_EQ(roof_of(cost({}, 1e6, 0), false, 1e6, 1, &d).bound, Bound::unknown);  // its arithmetic may explain it
}

TEST(Roof, MoreThanAllIsNotClippedAndUnknownIsNull) {
  const DeviceSpec d = device();
  const Roof above = roof_of(cost(0, 2e8, 0), false, 100e3, 1, &d);
  EXPECT_DOUBLE_EQ(*above.pct_peak_bandwidth, 200);
  EXPECT_EQ(above.headroom_ns, 0);
  const Roof none = roof_of(cost({}, {}, {}), false, 100e3, 1, &d);
  EXPECT_EQ(none.roof_ns, std::nullopt);
  EXPECT_EQ(none.pct_peak_bandwidth, std::nullopt);
  EXPECT_EQ(none.bound, Bound::unknown);
  EXPECT_EQ(roof_of(cost(1e10, 1, 1), true, 1e3, 1, nullptr).roof_ns, std::nullopt);
}

TEST(Roof, IsNotKnownWhereTheDeviceHasNoPeakForTheType) {
  const DeviceSpec d = device();
  LaunchCost in_f8 = cost(1e10, 1e7, 1e7);
  in_f8.dtype = DType::f8;
  const Roof roof = roof_of(in_f8, true, 200e3, 1, &d);
  EXPECT_EQ(roof.roof_ns, std::nullopt);
  EXPECT_EQ(roof.headroom_ns, std::nullopt);
  EXPECT_EQ(roof.bound, Bound::unknown);
  EXPECT_DOUBLE_EQ(*roof.pct_peak_bandwidth, 10);  // what its bytes take is known even so
}

}  // namespace
}  // namespace ridge
