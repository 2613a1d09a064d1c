// The link between host and device, against the figures of the standards and sheets that the table cites.
#include "device/host_link.h"

#include <gtest/gtest.h>

namespace ridge {
namespace {

TEST(HostLink, IsThatOfTheDevice) {
  EXPECT_EQ(host_link_bytes_per_s("NVIDIA H200", 9), 64e9);
  EXPECT_EQ(host_link_bytes_per_s("NVIDIA A100-SXM4-80GB", 8), 32e9);
  EXPECT_EQ(host_link_bytes_per_s("Tesla V100-SXM2-32GB", 7), 16e9);
  EXPECT_EQ(host_link_bytes_per_s("NVIDIA GH200 480GB", 9), 450e9);
  EXPECT_EQ(host_link_bytes_per_s("NVIDIA GB300", 10), 450e9);  // and not that of a B300
  EXPECT_EQ(host_link_bytes_per_s("NVIDIA B300 SXM6 AC", 10), 128e9);
  EXPECT_EQ(host_link_bytes_per_s("AMD Instinct MI300X", 9), 64e9);
  EXPECT_EQ(host_link_bytes_per_s("", 0), 64e9);
}

}  // namespace
}  // namespace ridge
