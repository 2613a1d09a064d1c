// The devices and dtypes that flags name, found in tables and files.
#include "engine/cost_options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <vector>

#include "base/nearest.h"
#include "base/try.h"
#include "device/device_file.h"
#include "predict/expected_time.h"
#include "predict/kernel_table.h"

namespace ridge {
namespace {

constexpr std::uintmax_t kMostDeviceBytes = 1 << 20, kMostPointBytes = 256 << 20;

const std::string* find(const Arguments& arguments, std::string_view name) {
  const auto it = arguments.find(name);
  return it == arguments.end() ? nullptr : &it->second;
}

std::string names_of(const std::vector<DeviceSpec>& devices) {
  std::string names;
  for (const DeviceSpec& device : devices) names += (names.empty() ? "" : ", ") + device.name;
  return names;
}

// Of a file with several devices, the one that --device names.
Result<DeviceSpec> device_in_file(const std::string& path, const std::string* name) {
  TRY(const std::string text, read_small_file(path, "the device file", kMostDeviceBytes));
  TRY(const std::vector<DeviceSpec> devices, parse_device_file(text, path));
  if (name == nullptr && devices.size() == 1) return devices.front();
  if (name == nullptr) {
    return fail(ErrorCode::usage, "the device file has several devices", path,
                "choose one with --device: " + names_of(devices));
  }
  const auto found = std::ranges::find(devices, *name, &DeviceSpec::name);
  if (found != devices.end()) return *found;
  return fail(ErrorCode::usage, "the device file has no device '" + *name + "'", path, "it has " + names_of(devices));
}

Result<std::optional<DeviceSpec>> device_of(const Arguments& arguments) {
  const std::string* name = find(arguments, "device");
  if (const std::string* path = find(arguments, "device_file")) {
    TRY(DeviceSpec device, device_in_file(*path, name));
    return device;
  }
  if (name == nullptr) return std::nullopt;
  TRY(const DeviceSpec* device, find_device(*name));
  return *device;
}

Result<double> clock_of(const Arguments& arguments) {
  const std::string* text = find(arguments, "clock_mhz");
  if (text == nullptr) return 0;
  double mhz = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), mhz);
  if (error == std::errc{} && end == text->data() + text->size() && mhz >= 1 && mhz <= 1e5) return mhz;
  return fail(ErrorCode::usage, "--clock-mhz takes a clock in MHz, not '" + *text + "'", "", "example: --clock-mhz 1755");
}

Result<DType> dtype_of(const Arguments& arguments) {
  const std::string* text = find(arguments, "dtype");
  if (text == nullptr) return DType::unknown;
  if (const DType dtype = parse_dtype(*text); dtype != DType::unknown) return dtype;
  std::vector<std::string_view> names;
  for (std::size_t i = 1; i < kDTypes; ++i) names.push_back(name_of(static_cast<DType>(i)));
  std::string hint = did_you_mean(*text, names);
  return fail(ErrorCode::usage, "unknown dtype '" + *text + "'", "",
              hint.empty() ? "examples: bfloat16, fp16, float32, int8" : hint);
}

}  // namespace

Result<std::string> read_small_file(const std::string& path, const std::string& what, std::uintmax_t most_bytes) {
  std::error_code error;
  const bool standard_input = path == "-";
  const auto status = std::filesystem::status(path, error);
  if (!standard_input && (error || !std::filesystem::exists(status)))
    return fail(ErrorCode::cannot_open, "cannot open " + what + ": No such file or directory", path);
  if (std::filesystem::is_directory(status))
    return fail(ErrorCode::cannot_open, "cannot open " + what + ": Is a directory", path);
  std::ifstream file;
  if (!standard_input) file.open(path, std::ios::binary);
  std::istream& from = standard_input ? std::cin : file;
  if (!from) return fail(ErrorCode::cannot_open, "cannot read " + what, path);
  std::string text;  // a pipe has no size: as much as comes
  std::array<char, 1 << 16> piece{};
  while (from.read(piece.data(), piece.size()) || from.gcount() > 0) {
    text.append(piece.data(), static_cast<std::size_t>(from.gcount()));
    if (text.size() > most_bytes)
      return fail(ErrorCode::too_large, what + " is larger than " + std::to_string(most_bytes >> 20) + " MiB", path);
  }
  return text;
}

Result<CostSettings> read_cost_settings(const Arguments& arguments, bool named_files_only) {
  CostSettings settings;
  CostOptions& options = settings.options;
  TRY(options.device, device_of(arguments));
  TRY(options.clock_mhz, clock_of(arguments));
  TRY(options.dtype, dtype_of(arguments));
  options.tf32 = arguments.contains("tf32");
  if (const std::string* path = find(arguments, "expected_file")) {
    TRY(std::string points, read_small_file(*path, "the file of expected times", kMostPointBytes));
    TRY(const DeviceSpec* const any, find_device("NVIDIA H200"));
    TRY(const MeasuredPoints read, MeasuredPoints::read(points, *path, options.device ? *options.device : *any));
    options.measured = std::make_shared<const std::string>(std::move(points));
  }
  if (options.device && options.device->measured && options.clock_mhz > 0) {
    return fail(ErrorCode::usage, "--clock-mhz cannot be combined with measured peaks", "",
                "measured peaks already include the clock");
  }
  const std::string* cache = find(arguments, "inductor_cache");
  std::error_code ignored;
  if (cache != nullptr && !std::filesystem::is_directory(*cache, ignored)) {
    return fail(ErrorCode::cannot_open, "--inductor-cache is not a folder", *cache, "it is often /tmp/torchinductor_$USER");
  }
  using TracePaths = DiskKernelSources::TracePaths;
  const auto sources = std::make_shared<DiskKernelSources>(cache != nullptr ? *cache : std::string(),
                                                           named_files_only ? TracePaths::never : TracePaths::read);
  if (const std::string* path = find(arguments, "table")) {
    TRY(const std::string text, read_small_file(*path, "the table of measured kernels", kMostPointBytes));
    TRY(KernelTable table, KernelTable::read(text, *path));
    sources->set_kernel_table(std::move(table));
  }
  settings.sources = sources;
  options.sources = settings.sources.get();
  return settings;
}

}  // namespace ridge
