// The table's figures against arithmetic: units x operations per clock x clock, which is how vendors get them.
#include <cmath>
#include <map>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "device/device.h"

namespace ridge {
namespace {

const DeviceSpec& device(std::string_view name) { return **find_device(name); }

// FLOP per clock and multiprocessor at 16 bits, dense, accumulated in float32 (a fused multiply-add is two).
TEST(DeviceTable, SixteenBitPeaksAreUnitsTimesClock) {
  const std::map<std::string_view, double> flop_per_clock = {
      {"Tesla V100-SXM2-16GB", 1024},
      {"Tesla V100-PCIE-32GB", 1024},
      {"Tesla T4", 1024},
      {"NVIDIA A10", 1024},
      {"NVIDIA A30", 2048},
      {"NVIDIA A100-SXM4-40GB", 2048},
      {"NVIDIA A100 80GB PCIe", 2048},
      {"NVIDIA L4", 1024},
      {"NVIDIA L40S", 1024},
      {"NVIDIA GeForce RTX 3090", 512},
      {"NVIDIA GeForce RTX 4090", 512},
      {"NVIDIA GeForce RTX 5090", 512},
      {"NVIDIA H100 80GB HBM3", 4096},
      {"NVIDIA H200", 4096},
      {"AMD Instinct MI210", 1024},
      {"AMD Instinct MI250X", 1024},
      {"AMD Instinct MI300A", 2048},
      {"AMD Instinct MI300X", 2048},
      {"AMD Instinct MI350X", 4096},
      {"AMD Instinct MI355X", 4096},
  };
  for (const auto& [name, flop] : flop_per_clock) {
    const DeviceSpec& spec = device(name);
    const double mhz = spec.matrix_mhz > 0 ? spec.matrix_mhz : spec.boost_mhz;
    const double computed = static_cast<double>(spec.multiprocessors) * flop * mhz * 1e6;
    EXPECT_NEAR(spec.f16.high / computed, 1, 0.02) << name;
  }
}

TEST(DeviceTable, RowsAreWhole) {
  for (const DeviceSpec& spec : known_devices()) {
    EXPECT_FALSE(spec.source.empty()) << spec.name;
    EXPECT_TRUE(spec.bandwidth.known()) << spec.name;
    EXPECT_TRUE(spec.f16.known()) << spec.name;
    EXPECT_GT(spec.memory_bytes, 15e9) << spec.name;
    for (const Figure& figure : {spec.f64, spec.f64_matrix, spec.f32, spec.f32_matrix, spec.tf32, spec.f16, spec.bf16, spec.f8,
                                 spec.f4, spec.i8, spec.bandwidth}) {
      EXPECT_LE(figure.low, figure.high) << spec.name;
    }
  }
}

TEST(DeviceTable, NoFigureIsOfSparseMatrices) {
  for (const DeviceSpec& spec : known_devices()) {
    const double twice_tf32 = spec.tf32.known() ? 2.05 * spec.tf32.high : spec.f16.high;
    EXPECT_LE(spec.f16.high, twice_tf32) << spec.name;
    EXPECT_LE(spec.f8.high, 2.05 * spec.f16.high) << spec.name;
  }
}

TEST(DeviceTable, PeakOfADtype) {
  const DeviceSpec& h200 = device("NVIDIA H200");
  EXPECT_DOUBLE_EQ(peak_flops(h200, DType::bf16, MathUnit::matrix).high, 989.4e12);
  EXPECT_DOUBLE_EQ(peak_flops(h200, DType::f32, MathUnit::matrix).high, 66.9e12);
  EXPECT_DOUBLE_EQ(peak_flops(h200, DType::tf32, MathUnit::matrix).high, 494.7e12);
  EXPECT_DOUBLE_EQ(peak_flops(h200, DType::f64, MathUnit::matrix).high, 66.9e12);
  EXPECT_DOUBLE_EQ(peak_flops(h200, DType::f64, MathUnit::vector).high, 33.5e12);
  EXPECT_DOUBLE_EQ(peak_flops(h200, DType::bf16, MathUnit::vector).high, 66.9e12);
  EXPECT_FALSE(peak_flops(h200, DType::i64, MathUnit::vector).known());
  EXPECT_FALSE(peak_flops(h200, DType::unknown, MathUnit::matrix).known());
  const DeviceSpec& v100 = device("Tesla V100-SXM2-16GB");
  EXPECT_FALSE(peak_flops(v100, DType::bf16, MathUnit::matrix).known());
  EXPECT_DOUBLE_EQ(peak_flops(device("AMD Instinct MI250X"), DType::f32, MathUnit::matrix).high, 47.9e12);
}

TEST(DeviceTable, AtAnotherClockArithmeticScalesAndMemoryDoesNot) {
  const DeviceSpec slow = at_clock(device("NVIDIA H200"), 915);
  EXPECT_NEAR(slow.bf16.high, 989.4e12 / 2, 1e6);  // sheets give matrices at 1830 MHz
  EXPECT_NEAR(slow.f32.high, 66.9e12 * 915 / 1980, 1e6);
  EXPECT_DOUBLE_EQ(slow.bandwidth.high, 4800e9);
  const DeviceSpec& unknown_clock = device("NVIDIA A10G");
  EXPECT_DOUBLE_EQ(at_clock(unknown_clock, 100).f16.high, unknown_clock.f16.high);
}

}  // namespace
}  // namespace ridge
