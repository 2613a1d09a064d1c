// Names as drivers, clouds and old traces spell them, each with the device it is; and what must not be taken for one.
#include <string>

#include <gtest/gtest.h>

#include "device/device.h"

namespace ridge {
namespace {

constexpr double kGiB = 1024.0 * 1024 * 1024;

std::string matched(const DeviceTraits& traits) {
  const DeviceSpec* spec = match_device(traits);
  return spec != nullptr ? spec->name : "";
}
std::string matched(const char* name) { return matched({.name = name}); }

TEST(DeviceMatch, NamesOfDrivers) {
  EXPECT_EQ(matched("NVIDIA H100 80GB HBM3"), "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(matched("NVIDIA H100 PCIe"), "NVIDIA H100 PCIe");
  EXPECT_EQ(matched("NVIDIA H100 NVL"), "NVIDIA H100 NVL");
  EXPECT_EQ(matched("NVIDIA H200"), "NVIDIA H200");
  EXPECT_EQ(matched("NVIDIA H200 NVL"), "NVIDIA H200 NVL");
  EXPECT_EQ(matched("NVIDIA H20"), "NVIDIA H20");
  EXPECT_EQ(matched("NVIDIA H20-3e"), "NVIDIA H20-3e");
  EXPECT_EQ(matched("NVIDIA A100-SXM4-40GB"), "NVIDIA A100-SXM4-40GB");
  EXPECT_EQ(matched("NVIDIA A100-SXM4-80GB"), "NVIDIA A100-SXM4-80GB");
  EXPECT_EQ(matched("A100-SXM-80GB"), "NVIDIA A100-SXM4-80GB");
  EXPECT_EQ(matched("NVIDIA A100 80GB PCIe"), "NVIDIA A100 80GB PCIe");
  EXPECT_EQ(matched("NVIDIA A100-PCIE-40GB"), "NVIDIA A100-PCIE-40GB");
  EXPECT_EQ(matched("NVIDIA A100-PG509-200"), "NVIDIA A100-PG509-200");
  EXPECT_EQ(matched("Tesla V100-SXM2-32GB"), "Tesla V100-SXM2-32GB");
  EXPECT_EQ(matched("Tesla V100-SXM3-32GB"), "Tesla V100-SXM2-32GB");
  EXPECT_EQ(matched("Tesla T4"), "Tesla T4");
  EXPECT_EQ(matched("NVIDIA A10G"), "NVIDIA A10G");
  EXPECT_EQ(matched("NVIDIA GeForce RTX 4090"), "NVIDIA GeForce RTX 4090");
  EXPECT_EQ(matched("NVIDIA GH200 480GB"), "NVIDIA GH200 480GB");
  EXPECT_EQ(matched("NVIDIA GH200 144G HBM3e"), "NVIDIA GH200 144G HBM3e");
  EXPECT_EQ(matched("NVIDIA B200"), "NVIDIA B200");
  EXPECT_EQ(matched("NVIDIA B300 SXM6 AC"), "NVIDIA B300 SXM6 AC");
  EXPECT_EQ(matched("AMD Instinct MI300X"), "AMD Instinct MI300X");
  EXPECT_EQ(matched("AMD Instinct MI300X VF"), "AMD Instinct MI300X");
  EXPECT_EQ(matched("AMD INSTINCT MI300X"), "AMD Instinct MI300X");
  EXPECT_EQ(matched("AMD Instinct MI250X / MI250"), "AMD Instinct MI250X");
  EXPECT_EQ(matched("GAUDI3"), "GAUDI3");
}

TEST(DeviceMatch, MemoryChoosesBetweenRowsOfOneName) {
  EXPECT_EQ(matched({.name = "Intel(R) Data Center GPU Max 1550", .memory_bytes = 64 * kGiB}),
            "Intel(R) Data Center GPU Max 1550, one stack");
  EXPECT_EQ(matched({.name = "Intel(R) Data Center GPU Max 1550", .memory_bytes = 128 * kGiB}),
            "Intel(R) Data Center GPU Max 1550");
}

TEST(DeviceMatch, ACustomPartIsItsFamily) {
  EXPECT_EQ(matched({.name = "NVIDIA H100", .memory_bytes = 95 * kGiB, .multiprocessors = 132}), "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(matched({.name = "NVIDIA H100", .memory_bytes = 79.2 * kGiB, .multiprocessors = 114}), "NVIDIA H100 PCIe");
}

TEST(DeviceMatch, WithoutANameByMemoryAndMultiprocessors) {
  EXPECT_EQ(matched({.name = "", .memory_bytes = 206141652992, .multiprocessors = 304}), "AMD Instinct MI300X");
  EXPECT_EQ(matched({.name = "AMD Radeon Graphics", .memory_bytes = 68702699520, .multiprocessors = 110}),
            "AMD Instinct MI250X");
  EXPECT_EQ(matched({.name = "AMD Radeon Graphics", .memory_bytes = 68702699520, .multiprocessors = 104}),
            "AMD Instinct MI210");
  EXPECT_EQ(matched({.name = "", .memory_bytes = 206141652992}), "");
  EXPECT_EQ(matched(""), "");
}

TEST(DeviceMatch, WhatIsNotTheDeviceItsNameHolds) {
  EXPECT_EQ(matched("NVIDIA A100-SXM4-40GB MIG 1g.5gb"), "");
  EXPECT_EQ(matched("NVIDIA GeForce RTX 4090 Laptop GPU"), "");
  EXPECT_EQ(matched("NVIDIA GeForce RTX 4090 D"), "");
  EXPECT_EQ(matched("NVIDIA GeForce RTX 3090 Ti"), "");
  EXPECT_EQ(matched("NVIDIA L40"), "");
  EXPECT_EQ(matched("ARTEMIS"), "");
  // One eighth of an MI300X bears its name.
  EXPECT_EQ(matched({.name = "AMD Instinct MI300X", .memory_bytes = 24 * kGiB, .multiprocessors = 38}), "");
}

TEST(DeviceMatch, EveryRowIsFoundByItsOwnName) {
  for (const DeviceSpec& spec : known_devices()) {
    const auto found = find_device(spec.name);
    ASSERT_TRUE(found.has_value()) << spec.name;
    EXPECT_EQ(*found, &spec);
    EXPECT_EQ(matched({.name = spec.name, .memory_bytes = 0.97 * spec.memory_bytes, .multiprocessors = spec.multiprocessors}),
              spec.name);
  }
}

TEST(DeviceMatch, WhatAPersonTypes) {
  EXPECT_EQ((*find_device("h200"))->name, "NVIDIA H200");
  EXPECT_EQ((*find_device("mi300x"))->name, "AMD Instinct MI300X");
  EXPECT_EQ((*find_device("a100 sxm 80gb"))->name, "NVIDIA A100-SXM4-80GB");
  const auto several = find_device("a100");
  ASSERT_FALSE(several.has_value());
  EXPECT_NE(several.error().hint.find("NVIDIA A100-SXM4-40GB, NVIDIA A100-SXM4-80GB"), std::string::npos)
      << several.error().hint;
  const auto typo = find_device("NVIDIA H20O");
  ASSERT_FALSE(typo.has_value());
  EXPECT_NE(typo.error().hint.find("NVIDIA H200"), std::string::npos) << typo.error().hint;
  EXPECT_FALSE(find_device("").has_value());
}

}  // namespace
}  // namespace ridge
