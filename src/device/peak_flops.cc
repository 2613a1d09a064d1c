// Which of a device's figures is the peak for work in a dtype.
#include <array>

#include "device/device.h"

namespace ridge {
namespace {

using Member = Figure DeviceSpec::*;

// The first figure that is known. Matrix work in float32 runs on vector units where there are no others, and TF32 that the
// device does not have is done as float32. Vector work of 16 and 8 bits is done in float32, as generated kernels do. Integers
// and complex numbers have no figure but 8-bit matrices'.
struct PeakRow {
  DType dtype;
  std::array<Member, 3> matrix;
  Member vector;
};
constexpr std::array kPeaks = {
    PeakRow{DType::f64, {&DeviceSpec::f64_matrix, &DeviceSpec::f64}, &DeviceSpec::f64},
    PeakRow{DType::f32, {&DeviceSpec::f32_matrix, &DeviceSpec::f32}, &DeviceSpec::f32},
    PeakRow{DType::tf32, {&DeviceSpec::tf32, &DeviceSpec::f32_matrix, &DeviceSpec::f32}, &DeviceSpec::f32},
    PeakRow{DType::f16, {&DeviceSpec::f16}, &DeviceSpec::f32},
    PeakRow{DType::bf16, {&DeviceSpec::bf16}, &DeviceSpec::f32},
    PeakRow{DType::f8, {&DeviceSpec::f8}, &DeviceSpec::f32},
    PeakRow{DType::f4, {&DeviceSpec::f4}, &DeviceSpec::f32},
    PeakRow{DType::i8, {&DeviceSpec::i8}, nullptr},
    PeakRow{DType::u8, {&DeviceSpec::i8}, nullptr},
};

// Figures by the clock they are given for. A sheet's double precision matrices run at the clock of the vector units.
constexpr std::array<Member, 4> kAtBoost = {&DeviceSpec::f64, &DeviceSpec::f64_matrix, &DeviceSpec::f32,
                                            &DeviceSpec::f32_matrix};
constexpr std::array<Member, 6> kAtMatrixClock = {&DeviceSpec::tf32, &DeviceSpec::f16, &DeviceSpec::bf16,
                                                  &DeviceSpec::f8,   &DeviceSpec::f4,  &DeviceSpec::i8};

void scale(Figure* figure, double factor) {
  figure->low *= factor;
  figure->high *= factor;
}

}  // namespace

Figure peak_flops(const DeviceSpec& device, DType dtype, MathUnit unit) {
  for (const PeakRow& row : kPeaks) {
    if (row.dtype != dtype) continue;
    if (unit == MathUnit::vector) return row.vector != nullptr ? device.*row.vector : Figure{};
    for (const Member member : row.matrix) {
      if (member != nullptr && (device.*member).known()) return device.*member;
    }
  }
  return {};
}

DeviceSpec at_clock(DeviceSpec device, double clock_mhz) {
  if (clock_mhz <= 0 || device.boost_mhz <= 0) return device;
  const double vector = clock_mhz / device.boost_mhz;
  const double matrix = device.matrix_mhz > 0 ? clock_mhz / device.matrix_mhz : vector;
  for (const Member member : kAtBoost) scale(&(device.*member), vector);
  for (const Member member : kAtMatrixClock) scale(&(device.*member), matrix);
  device.boost_mhz = clock_mhz;
  device.matrix_mhz = 0;
  return device;
}

}  // namespace ridge
