// One row per device, in the order in which `ridge devices` lists them. Only dense figures: sheets that say "with sparsity" are
// halved. 16-bit figures are those with float32 accumulation. A range stands where vendors' own pages disagree; 0 or nothing is
// "not known".
//
// A figure can be checked: multiprocessors x FMA per clock and multiprocessor x 2 x clock. FMA per clock at 16 bits: V100, T4,
// A10, L4, L40S 512; A100, A30 1024; H100 2048; RTX 256. AMD, FLOP per clock and CU: MI200 1024, MI300 2048, MI350 4096. A unit
// test does.
#include "device/device_table.h"

#include "base/lasting.h"

namespace ridge {
namespace {

// TFLOP/s, TOP/s or GB/s.
struct Range {
  double low = 0, high = 0;
  constexpr Range() = default;
  constexpr Range(double value) : low(value), high(value) {}  // a plain number is the common case in a row
  constexpr Range(double from, double to) : low(from), high(to) {}
};

constexpr std::string_view kNvidia = "NVIDIA", kAmd = "AMD", kIntel = "Intel", kHabana = "Habana";

constexpr std::string_view kNvidiaSheet = "NVIDIA data sheet";
constexpr std::string_view kNvidiaTables = "NVIDIA data sheet, HGX tables";
constexpr std::string_view kBlackwell = "NVIDIA pages of 2024 and 2025, which disagree with the power limit";
constexpr std::string_view kUnsure = "secondary sources, unsure";
constexpr std::string_view kAmdSheet = "AMD data sheet, ROCm GPU specifications";

struct Figures {
  std::string_view name, vendor;
  std::vector<std::string_view> names;
  Range f64 = {}, f64_matrix = {}, f32 = {}, f32_matrix = {}, tf32 = {}, f16 = {}, bf16 = {}, f8 = {}, f4 = {}, i8 = {};
  Range bandwidth = {};
  double memory_gib = 0;
  std::int64_t multiprocessors = 0;
  double l2_mib = 0;
  double memory_side_mib = 0;
  double boost_mhz = 0;
  double matrix_mhz = 0;  // the clock behind the matrix figures, where it is not the boost clock
  std::string_view source;
  std::int64_t capability = 0;  // NVIDIA's: 90 for 9.0
};

// clang-format off: one device, a few lines
// Families whose members differ in memory or in form alone.
Figures v100(std::string_view name, std::string_view words, double memory_gib) {
  return {.name = name, .vendor = kNvidia, .names = {words}, .f64 = 7.8, .f32 = 15.7, .f16 = 125, .bandwidth = 900,
          .memory_gib = memory_gib, .multiprocessors = 80, .l2_mib = 6, .boost_mhz = 1530, .source = kNvidiaSheet, .capability = 70};
}

Figures v100_pcie(std::string_view name, std::string_view words, double memory_gib) {
  return {.name = name, .vendor = kNvidia, .names = {words}, .f64 = 7.0, .f32 = 14, .f16 = 112, .bandwidth = 900,
          .memory_gib = memory_gib, .multiprocessors = 80, .l2_mib = 6, .boost_mhz = 1380, .source = kNvidiaSheet, .capability = 70};
}

Figures a100(std::string_view name, std::string_view words, double memory_gib, double bandwidth, std::string_view source = kNvidiaSheet) {
  return {.name = name, .vendor = kNvidia, .names = {words}, .f64 = 9.7, .f64_matrix = 19.5, .f32 = 19.5, .tf32 = 156, .f16 = 312,
          .bf16 = 312, .i8 = 624, .bandwidth = bandwidth, .memory_gib = memory_gib, .multiprocessors = 108, .l2_mib = 40,
          .boost_mhz = 1410, .source = source, .capability = 80};
}

Figures gh200(std::string_view name, std::vector<std::string_view> words, double memory_gib, double bandwidth) {
  return {.name = name, .vendor = kNvidia, .names = std::move(words), .f64 = 34, .f64_matrix = 67, .f32 = 67, .tf32 = 494, .f16 = 990,
          .bf16 = 990, .f8 = 1979, .i8 = 1979, .bandwidth = bandwidth, .memory_gib = memory_gib, .multiprocessors = 132, .l2_mib = 60,
          .boost_mhz = 1980, .matrix_mhz = 1830, .source = kNvidiaSheet, .capability = 90};
}

Figures h20(std::string_view name, std::string_view words, double memory_gib, double bandwidth, std::string_view source) {
  return {.name = name, .vendor = kNvidia, .names = {words}, .f64 = 1, .f64_matrix = 1, .f32 = 44, .tf32 = 74, .f16 = 148, .bf16 = 148,
          .f8 = 296, .i8 = 296, .bandwidth = bandwidth, .memory_gib = memory_gib, .multiprocessors = 78, .l2_mib = 60,
          .boost_mhz = 1980, .matrix_mhz = 1830, .source = source, .capability = 90};
}

Figures mi300x(std::string_view name, std::string_view words, double memory_gib, double bandwidth) {
  return {.name = name, .vendor = kAmd, .names = {words}, .f64 = 81.7, .f64_matrix = 163.4, .f32 = 163.4, .tf32 = 653.7, .f16 = 1307.4,
          .bf16 = 1307.4, .f8 = 2614.9, .i8 = 2614.9, .bandwidth = bandwidth, .memory_gib = memory_gib, .multiprocessors = 304,
          .l2_mib = 32, .memory_side_mib = 256, .boost_mhz = 2100, .source = kAmdSheet};
}

std::vector<Figures> figures() {
  return {
      v100("Tesla V100-SXM2-16GB", "v100 sxm 16gb", 16),
      v100("Tesla V100-SXM2-32GB", "v100 sxm 32gb", 32),
      v100_pcie("Tesla V100-PCIE-16GB", "v100 pcie 16gb", 16),
      v100_pcie("Tesla V100-PCIE-32GB", "v100 pcie 32gb", 32),
      {.name = "Tesla T4", .vendor = kNvidia, .names = {"t4"}, .f64 = 0.25, .f32 = 8.1, .f16 = 65, .i8 = 130, .bandwidth = 320,
       .memory_gib = 16, .multiprocessors = 40, .l2_mib = 4, .boost_mhz = 1590, .source = kNvidiaSheet, .capability = 75},
      {.name = "NVIDIA A10", .vendor = kNvidia, .names = {"a10"}, .f64 = 0.98, .f32 = 31.2, .tf32 = 62.5, .f16 = 125, .bf16 = 125,
       .i8 = 250, .bandwidth = 600, .memory_gib = 24, .multiprocessors = 72, .l2_mib = 6, .boost_mhz = 1695, .source = kNvidiaSheet, .capability = 86},
      {.name = "NVIDIA A10G", .vendor = kNvidia, .names = {"a10g"}, .f32 = 35, .tf32 = 35, .f16 = 70, .bf16 = 70, .i8 = 140,
       .bandwidth = 600, .memory_gib = 24, .l2_mib = 6, .source = kUnsure, .capability = 86},
      {.name = "NVIDIA A30", .vendor = kNvidia, .names = {"a30"}, .f64 = 5.2, .f64_matrix = 10.3, .f32 = 10.3, .tf32 = 82, .f16 = 165,
       .bf16 = 165, .i8 = 330, .bandwidth = 933, .memory_gib = 24, .multiprocessors = 56, .l2_mib = 24, .boost_mhz = 1440,
       .source = kNvidiaSheet, .capability = 80},
      a100("NVIDIA A100-SXM4-40GB", "a100 sxm 40gb", 40, 1555),
      a100("NVIDIA A100-SXM4-80GB", "a100 sxm 80gb", 80, 2039),
      a100("NVIDIA A100-PCIE-40GB", "a100 pcie 40gb", 40, 1555),
      a100("NVIDIA A100 80GB PCIe", "a100 pcie 80gb", 80, 1935),
      a100("NVIDIA A100-PG509-200", "a100 pg509 200", 40, 1555, "as the A100 of 40 GB; its bandwidth is unsure"),
      a100("NVIDIA A800-SXM4-80GB", "a800 sxm 80gb", 80, 2039, "as the A100 of 80 GB"),
      {.name = "NVIDIA L4", .vendor = kNvidia, .names = {"l4"}, .f64 = 0.47, .f32 = 30.3, .tf32 = 60, .f16 = 121, .bf16 = 121, .f8 = 242,
       .i8 = 242, .bandwidth = 300, .memory_gib = 24, .multiprocessors = 58, .l2_mib = 48, .boost_mhz = 2040, .source = kNvidiaSheet, .capability = 89},
      {.name = "NVIDIA L40S", .vendor = kNvidia, .names = {"l40s"}, .f64 = 1.43, .f32 = 91.6, .tf32 = 183, .f16 = 362, .bf16 = 362,
       .f8 = 733, .i8 = 733, .bandwidth = 864, .memory_gib = 48, .multiprocessors = 142, .l2_mib = 96, .boost_mhz = 2520,
       .source = kNvidiaSheet, .capability = 89},
      {.name = "NVIDIA GeForce RTX 3090", .vendor = kNvidia, .names = {"3090 rtx"}, .f64 = 0.56, .f32 = 35.6, .tf32 = 35.6, .f16 = 71,
       .bf16 = 71, .i8 = 284, .bandwidth = 936, .memory_gib = 24, .multiprocessors = 82, .l2_mib = 6, .boost_mhz = 1695,
       .source = "NVIDIA white paper of GA102", .capability = 86},
      {.name = "NVIDIA GeForce RTX 4090", .vendor = kNvidia, .names = {"4090 rtx"}, .f64 = 1.29, .f32 = 82.6, .tf32 = 82.6, .f16 = 165.2,
       .bf16 = 165.2, .f8 = 330.3, .i8 = 660.6, .bandwidth = 1008, .memory_gib = 24, .multiprocessors = 128, .l2_mib = 72,
       .boost_mhz = 2520, .source = "NVIDIA white paper of Ada", .capability = 89},
      {.name = "NVIDIA GeForce RTX 5090", .vendor = kNvidia, .names = {"5090 rtx"}, .f64 = 1.64, .f32 = 104.8, .tf32 = 104.8,
       .f16 = 209.5, .bf16 = 209.5, .f8 = 419, .f4 = 1676, .i8 = 838, .bandwidth = 1792, .memory_gib = 32, .multiprocessors = 170,
       .l2_mib = 96, .boost_mhz = 2407, .source = "NVIDIA white paper of Blackwell RTX", .capability = 120},
      {.name = "NVIDIA H100 80GB HBM3", .vendor = kNvidia, .names = {"h100"}, .f64 = 33.5, .f64_matrix = 66.9, .f32 = 66.9,
       .tf32 = 494.7, .f16 = 989.4, .bf16 = 989.4, .f8 = 1978.9, .i8 = 1978.9, .bandwidth = 3352, .memory_gib = 80,
       .multiprocessors = 132, .l2_mib = 50, .boost_mhz = 1980, .matrix_mhz = 1830, .source = kNvidiaTables, .capability = 90},
      {.name = "NVIDIA H100 PCIe", .vendor = kNvidia, .names = {"h100 pcie"}, .f64 = 26, .f64_matrix = 51, .f32 = 51, .tf32 = 378,
       .f16 = 756, .bf16 = 756, .f8 = 1513, .i8 = 1513, .bandwidth = {2000, 2039}, .memory_gib = 80, .multiprocessors = 114,
       .l2_mib = 50, .boost_mhz = 1755, .source = kNvidiaTables, .capability = 90},
      {.name = "NVIDIA H100 NVL", .vendor = kNvidia, .names = {"h100 nvl"}, .f64 = 30, .f64_matrix = 60, .f32 = 60, .tf32 = 418,
       .f16 = 835, .bf16 = 835, .f8 = 1671, .i8 = 1671, .bandwidth = 3938, .memory_gib = 94, .multiprocessors = 132, .l2_mib = 50,
       .boost_mhz = 1785, .source = kNvidiaSheet, .capability = 90},
      {.name = "NVIDIA H200", .vendor = kNvidia, .names = {"h200"}, .f64 = 33.5, .f64_matrix = 66.9, .f32 = 66.9, .tf32 = 494.7,
       .f16 = 989.4, .bf16 = 989.4, .f8 = 1979, .i8 = 1979, .bandwidth = 4800, .memory_gib = 141, .multiprocessors = 132, .l2_mib = 60,
       .boost_mhz = 1980, .matrix_mhz = 1830, .source = kNvidiaTables, .capability = 90},
      {.name = "NVIDIA H200 NVL", .vendor = kNvidia, .names = {"h200 nvl"}, .f64 = 30, .f64_matrix = 60, .f32 = 60, .tf32 = 418,
       .f16 = 835, .bf16 = 835, .f8 = 1671, .i8 = 1671, .bandwidth = 4800, .memory_gib = 141, .multiprocessors = 132, .l2_mib = 50,
       .boost_mhz = 1785, .source = kNvidiaSheet, .capability = 90},
      h20("NVIDIA H20", "h20", 96, 4000, "secondary sources"),
      h20("NVIDIA H20-3e", "h20 3e", 141, 4800, "as the H20; its bandwidth is unsure"),
      {.name = "NVIDIA H800", .vendor = kNvidia, .names = {"h800"}, .f64 = 1, .f64_matrix = 1, .f32 = 66.9, .tf32 = 494.7, .f16 = 989.4,
       .bf16 = 989.4, .f8 = 1979, .i8 = 1979, .bandwidth = 3350, .memory_gib = 80, .multiprocessors = 132, .l2_mib = 50,
       .boost_mhz = 1980, .matrix_mhz = 1830, .source = kUnsure, .capability = 90},
      gh200("NVIDIA GH200 480GB", {"gh200"}, 96, 4000),
      gh200("NVIDIA GH200 144G HBM3e", {"gh200 144g", "gh200 144gb"}, 144, 4900),
      {.name = "NVIDIA B100", .vendor = kNvidia, .names = {"b100"}, .f64 = 30, .f64_matrix = 30, .f32 = 60, .tf32 = 900, .f16 = 1750,
       .bf16 = 1750, .f8 = 3500, .f4 = 7000, .i8 = 3500, .bandwidth = 8000, .memory_gib = 192, .source = kUnsure, .capability = 100},
      {.name = "NVIDIA B200", .vendor = kNvidia, .names = {"b200"}, .f64 = {37, 40}, .f64_matrix = {37, 40}, .f32 = {75, 80},
       .tf32 = {1100, 1125}, .f16 = 2250, .bf16 = 2250, .f8 = 4500, .f4 = 9000, .i8 = 4500, .bandwidth = {7700, 8000},
       .memory_gib = 180, .multiprocessors = 148, .l2_mib = 126, .boost_mhz = 1965, .source = kBlackwell, .capability = 100},
      {.name = "NVIDIA GB200", .vendor = kNvidia, .names = {"gb200"}, .f64 = {40, 45}, .f64_matrix = {40, 45}, .f32 = {80, 90},
       .tf32 = 1250, .f16 = 2500, .bf16 = 2500, .f8 = 5000, .f4 = 10000, .i8 = 5000, .bandwidth = 8000, .memory_gib = 186,
       .l2_mib = 126, .source = kBlackwell, .capability = 100},
      {.name = "NVIDIA B300 SXM6 AC", .vendor = kNvidia, .names = {"b300"}, .f64 = 1.25, .f64_matrix = 1.25, .f32 = 75, .tf32 = 1125,
       .f16 = 2250, .bf16 = 2250, .f8 = 4500, .f4 = {13125, 14000}, .i8 = {150, 190}, .bandwidth = 8000, .memory_gib = 270,
       .source = kBlackwell, .capability = 103},
      {.name = "NVIDIA GB300", .vendor = kNvidia, .names = {"gb300"}, .f64 = 1.3, .f64_matrix = 1.3, .f32 = 77, .tf32 = 1250,
       .f16 = 2500, .bf16 = 2500, .f8 = 5000, .f4 = 15000, .i8 = 170, .bandwidth = 8000, .memory_gib = 279, .source = kUnsure, .capability = 103},
      {.name = "AMD Instinct MI210", .vendor = kAmd, .names = {"mi210"}, .f64 = 22.6, .f64_matrix = 45.3, .f32 = 22.6,
       .f32_matrix = 45.3, .f16 = 181, .bf16 = 181, .i8 = 181, .bandwidth = 1638, .memory_gib = 64, .multiprocessors = 104, .l2_mib = 8,
       .boost_mhz = 1700, .source = kAmdSheet},
      {.name = "AMD Instinct MI250X", .vendor = kAmd, .names = {"mi250x", "mi250"}, .f64 = 23.9, .f64_matrix = 47.9, .f32 = 23.9,
       .f32_matrix = 47.9, .f16 = 191.5, .bf16 = 191.5, .i8 = 191.5, .bandwidth = 1638, .memory_gib = 64, .multiprocessors = 110,
       .l2_mib = 8, .boost_mhz = 1700, .source = "AMD data sheet, halved: one GCD, which is a device to PyTorch"},
      {.name = "AMD Instinct MI300A", .vendor = kAmd, .names = {"mi300a"}, .f64 = 61.3, .f64_matrix = 122.6, .f32 = 122.6,
       .tf32 = 490.3, .f16 = 980.6, .bf16 = 980.6, .f8 = 1961, .i8 = 1961, .bandwidth = 5300, .memory_gib = 128, .multiprocessors = 228,
       .l2_mib = 24, .memory_side_mib = 256, .boost_mhz = 2100, .source = kAmdSheet},
      mi300x("AMD Instinct MI300X", "mi300x", 192, 5300),
      mi300x("AMD Instinct MI325X", "mi325x", 256, 6000),
      {.name = "AMD Instinct MI350X", .vendor = kAmd, .names = {"mi350x"}, .f64 = 72.1, .f64_matrix = 72.1, .f32 = 144.2, .f16 = 2306.9,
       .bf16 = 2306.9, .f8 = 4613.7, .f4 = 9227, .i8 = 4613.7, .bandwidth = 8000, .memory_gib = 288, .multiprocessors = 256,
       .l2_mib = 32, .memory_side_mib = 256, .boost_mhz = 2200, .source = kAmdSheet},
      {.name = "AMD Instinct MI355X", .vendor = kAmd, .names = {"mi355x"}, .f64 = 78.6, .f64_matrix = 78.6, .f32 = 157.3, .f16 = 2516.6,
       .bf16 = 2516.6, .f8 = 5033.2, .f4 = 10066, .i8 = 5033, .bandwidth = 8000, .memory_gib = 288, .multiprocessors = 256, .l2_mib = 32,
       .memory_side_mib = 256, .boost_mhz = 2400, .source = kAmdSheet},
      // PyTorch sees one stack as a device unless it is told otherwise; the memory tells which it was.
      {.name = "Intel(R) Data Center GPU Max 1550, one stack", .vendor = kIntel, .names = {"1550 max"}, .f64 = 26.2, .f32 = 26.2,
       .tf32 = 209.5, .f16 = 419.5, .bf16 = 419.5, .i8 = 839, .bandwidth = 1638.5, .memory_gib = 64, .l2_mib = 204, .boost_mhz = 1600,
       .source = "Intel data sheet, halved: one stack"},
      {.name = "Intel(R) Data Center GPU Max 1550", .vendor = kIntel, .names = {"1550 max"}, .f64 = 52.4, .f32 = 52.4, .tf32 = 419,
       .f16 = 839, .bf16 = 839, .i8 = 1678, .bandwidth = 3277, .memory_gib = 128, .l2_mib = 408, .boost_mhz = 1600,
       .source = "Intel data sheet"},
      {.name = "GAUDI2", .vendor = kHabana, .names = {"gaudi2"}, .f16 = 432, .bf16 = 432, .f8 = 865, .bandwidth = 2460, .memory_gib = 96,
       .l2_mib = 48, .source = kUnsure},
      {.name = "GAUDI3", .vendor = kHabana, .names = {"gaudi3"}, .f16 = {1678, 1835}, .bf16 = {1678, 1835}, .f8 = {1678, 1835},
       .bandwidth = 3700, .memory_gib = 128, .l2_mib = 96, .source = kUnsure},
  };
}
// clang-format on

Figure scaled(Range range, double factor) { return {range.low * factor, range.high * factor}; }

DeviceRow make_row(const Figures& row) {
  constexpr double kTera = 1e12, kGiga = 1e9, kMiB = 1024.0 * 1024, kGiB = 1024.0 * kMiB;
  return {.spec = {.name = std::string(row.name),
                   .vendor = std::string(row.vendor),
                   .f64 = scaled(row.f64, kTera),
                   .f64_matrix = scaled(row.f64_matrix, kTera),
                   .f32 = scaled(row.f32, kTera),
                   .f32_matrix = scaled(row.f32_matrix, kTera),
                   .tf32 = scaled(row.tf32, kTera),
                   .f16 = scaled(row.f16, kTera),
                   .bf16 = scaled(row.bf16, kTera),
                   .f8 = scaled(row.f8, kTera),
                   .f4 = scaled(row.f4, kTera),
                   .i8 = scaled(row.i8, kTera),
                   .bandwidth = scaled(row.bandwidth, kGiga),
                   .memory_bytes = row.memory_gib * kGiB,
                   .multiprocessors = row.multiprocessors,
                   .l2_bytes = row.l2_mib * kMiB,
                   .memory_side_cache_bytes = row.memory_side_mib * kMiB,
                   .boost_mhz = row.boost_mhz,
                   .matrix_mhz = row.matrix_mhz,
                   .source = std::string(row.source)},
          .names = row.names,
          .capability = row.capability};
}

}  // namespace

std::span<const DeviceRow> device_rows() {
  static const auto& rows = lasting<std::vector<DeviceRow>>([] {
    std::vector<DeviceRow> all;
    for (const Figures& row : figures()) all.push_back(make_row(row));
    return all;
  }());
  return rows;
}

std::span<const DeviceSpec> known_devices() {
  static const auto& specs = lasting<std::vector<DeviceSpec>>([] {
    std::vector<DeviceSpec> all;
    for (const DeviceRow& row : device_rows()) all.push_back(row.spec);
    return all;
  }());
  return specs;
}

}  // namespace ridge
