// A user's own device: figures, ranges, measured peaks, and what is refused.
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "device/device_file.h"
#include "support/files.h"

namespace ridge {
namespace {

DeviceSpec one(std::string_view text) {
  auto devices = parse_device_file(text, "d.json");
  EXPECT_TRUE(devices.has_value()) << (devices ? "" : devices.error().message);
  if (!devices) return {};
  EXPECT_EQ(devices->size(), 1U);
  return devices->front();
}

std::string refusal(std::string_view text) {
  const auto devices = parse_device_file(text, "d.json");
  EXPECT_FALSE(devices.has_value()) << text;
  return devices ? "" : devices.error().message + " / " + devices.error().hint;
}

TEST(DeviceFile, FiguresAndRanges) {
  const DeviceSpec device = one(R"({"name": "X1", "bf16_tflops": [100, 120.5], "bandwidth_gb_per_s": 900, "memory_gib": 16,
                                    "multiprocessors": 80, "l2_mib": 6, "boost_mhz": 1500, "source": "my sheet"})");
  EXPECT_EQ(device.name, "X1");
  EXPECT_DOUBLE_EQ(device.bf16.low, 100e12);
  EXPECT_DOUBLE_EQ(device.bf16.high, 120.5e12);
  EXPECT_DOUBLE_EQ(device.bandwidth.high, 900e9);
  EXPECT_DOUBLE_EQ(device.memory_bytes, 17179869184.0);
  EXPECT_EQ(device.multiprocessors, 80);
  EXPECT_EQ(device.source, "my sheet");
  EXPECT_FALSE(device.f16.known());
  EXPECT_FALSE(device.measured);
}

TEST(DeviceFile, LikeAnother) {
  const DeviceSpec device = one(R"({"name": "my H200", "like": "h200", "bandwidth_gb_per_s": 4300})");
  EXPECT_EQ(device.name, "my H200");
  EXPECT_DOUBLE_EQ(device.bf16.high, 989.4e12);
  EXPECT_DOUBLE_EQ(device.bandwidth.high, 4300e9);
  EXPECT_NE(device.source.find("d.json"), std::string::npos);
}

TEST(DeviceFile, LikeAnotherKeepsTheCacheBesideTheMemory) {
  const DeviceSpec device = one(R"({"name": "my MI300X", "like": "mi300x"})");
  EXPECT_DOUBLE_EQ(device.memory_side_cache_bytes, 256.0 * 1024 * 1024);
  EXPECT_DOUBLE_EQ(one(R"({"name": "X1", "memory_side_cache_mib": 64})").memory_side_cache_bytes, 64.0 * 1024 * 1024);
}

TEST(DeviceFile, MeasuredPeaksTakeTheRestFromTheDeviceTheyWereMeasuredOn) {
  const DeviceSpec device =
      one(R"json({"torch.bfloat16_tflops": 795.4, "torch.float32_tflops": 50.9, "torch.float64_tflops": 60.5,
      "copy_gbs": 4274.0, "props": "_CudaDeviceProperties(name='NVIDIA H200', major=9, minor=0)", "torch": "2.11.0", "cuda": "13.0"})json");
  EXPECT_EQ(device.name, "NVIDIA H200");
  EXPECT_TRUE(device.measured);
  EXPECT_DOUBLE_EQ(device.bf16.high, 795.4e12);
  EXPECT_DOUBLE_EQ(device.bandwidth.high, 4274e9);
  EXPECT_DOUBLE_EQ(device.f64_matrix.high, 60.5e12);
  EXPECT_DOUBLE_EQ(device.f64.high, 33.5e12);  // vector units were not measured
  EXPECT_DOUBLE_EQ(peak_flops(device, DType::f32, MathUnit::matrix).high, 50.9e12);
  EXPECT_DOUBLE_EQ(device.f8.high, 1979e12);
}

TEST(DeviceFile, SeveralDevices) {
  for (const char* text : {R"([{"name": "A"}, {"name": "B"}])", R"({"devices": [{"name": "A"}, {"name": "B"}]})"}) {
    const auto devices = parse_device_file(text, "d.json");
    ASSERT_TRUE(devices.has_value());
    ASSERT_EQ(devices->size(), 2U);
    EXPECT_EQ(devices->back().name, "B");
  }
}

TEST(DeviceFile, WhatIsRefused) {
  EXPECT_NE(refusal("{").find("not valid JSON"), std::string::npos);
  EXPECT_NE(refusal("").find("not valid JSON"), std::string::npos);
  EXPECT_NE(refusal("[]").find("no device"), std::string::npos);
  EXPECT_NE(refusal("[3]").find("JSON object"), std::string::npos);
  EXPECT_NE(refusal("{}").find("name"), std::string::npos);
  EXPECT_NE(refusal(R"({"name": "X", "bf16_tflop": 3})").find("bf16_tflops"), std::string::npos);
  EXPECT_NE(refusal(R"({"name": "X", "bf16_tflops": "fast"})").find("positive number"), std::string::npos);
  EXPECT_NE(refusal(R"({"name": "X", "bf16_tflops": -1})").find("positive number"), std::string::npos);
  EXPECT_NE(refusal(R"({"name": "X", "bf16_tflops": [3, 2]})").find("range"), std::string::npos);
  EXPECT_NE(refusal(R"({"name": "X", "bf16_tflops": 1e300})").find("positive number"), std::string::npos);
  EXPECT_NE(refusal(R"({"name": 7})").find("name"), std::string::npos);
  EXPECT_NE(refusal(R"({"name": "X", "like": "h999x"})").find("unknown device"), std::string::npos);
}

TEST(DeviceFile, TheRecordedPeaksAreRead) {
  const std::string path = test::source_dir() + "/../shared/traces/h200/h200_peaks.json";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no such trace here";
  const DeviceSpec device = one(test::contents(path));
  EXPECT_EQ(device.name, "NVIDIA H200");
  EXPECT_NEAR(device.bf16.high, 795.41e12, 1e10);
  EXPECT_NEAR(device.tf32.high, 400.95e12, 1e10);
  EXPECT_NEAR(device.bandwidth.high, 4274.01e9, 1e7);
}

TEST(DeviceFile, AClockOfItsOwnIsThatOfAllItsFigures) {
  EXPECT_DOUBLE_EQ(one(R"({"name": "X", "like": "h200"})").matrix_mhz, 1830);
  const DeviceSpec own = one(R"({"name": "X", "like": "h200", "bf16_tflops": 800, "boost_mhz": 1500})");
  EXPECT_DOUBLE_EQ(own.matrix_mhz, 0);
  EXPECT_DOUBLE_EQ(at_clock(own, 750).bf16.high, 400e12);
  EXPECT_DOUBLE_EQ(one(R"({"name": "X", "like": "h200", "matrix_mhz": 1400, "boost_mhz": 1500})").matrix_mhz, 1400);
}

}  // namespace
}  // namespace ridge
