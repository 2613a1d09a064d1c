// Devices: what the hardware can do, one row per GPU in device_table.cc, dense figures only, each with its source.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <ridge/result.h>

#include "base/dtype.h"

namespace ridge {

// A figure, or the range within which vendors disagree. Percentages are taken against `high`.
struct Figure {
  double low = 0;
  double high = 0;
  bool known() const { return high > 0; }
};

// Peaks of a device. FLOP/s and bytes/s, not tera. A dtype without a unit of its own has no figure.
struct DeviceSpec {
  std::string name;    // as the table lists it: "NVIDIA H200"
  std::string vendor;  // NVIDIA, AMD, Intel, Habana
  Figure f64, f64_matrix, f32, f32_matrix, tf32, f16, bf16, f8, f4, i8;
  Figure bandwidth;         // bytes/s
  double memory_bytes = 0;  // 0: not known
  std::int64_t multiprocessors = 0;
  double l2_bytes = 0;
  double memory_side_cache_bytes = 0;  // between the L2 and the memory (AMD's Infinity Cache): what is found there is not read
  double boost_mhz = 0;
  double matrix_mhz = 0;  // the clock behind tf32 and narrower figures, where it is not boost_mhz; else 0
  std::string source;     // where the figures are from
  bool measured = false;  // given by the user as measured peaks
};

// What a trace tells of a device.
struct DeviceTraits {
  std::string name;
  double memory_bytes = 0;
  std::int64_t multiprocessors = 0;
  std::int64_t compute_major = 0, compute_minor = 0;
};

std::span<const DeviceSpec> known_devices();

// By normalised name, then memory size and number of multiprocessors. nullptr when it is none of them, or a part of one (MIG).
const DeviceSpec* match_device(const DeviceTraits& traits);

// The device that a person means: "h200", "NVIDIA H100 PCIe", "a100 sxm 80gb". An error with the nearest names otherwise.
Result<const DeviceSpec*> find_device(std::string_view name);

// The peaks of arithmetic at another clock; the same where the clock of the figures is not known.
DeviceSpec at_clock(DeviceSpec device, double clock_mhz);

// The peak for matrix work of that dtype (GEMM, convolution, attention), or for vector work (pointwise, reductions).
enum class MathUnit : std::uint8_t { matrix, vector };
Figure peak_flops(const DeviceSpec& device, DType dtype, MathUnit unit);

}  // namespace ridge
