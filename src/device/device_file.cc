// One row per key with its factor to base units; a key that is not known is an error.
#include "device/device_file.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <variant>

#include <simdjson.h>

#include "base/nearest.h"
#include "base/try.h"

namespace ridge {
namespace {

using simdjson::dom::element;
using simdjson::dom::element_type;

using Text = std::string DeviceSpec::*;
using Peak = Figure DeviceSpec::*;
using Size = double DeviceSpec::*;
using Count = std::int64_t DeviceSpec::*;

constexpr double kTera = 1e12, kGiga = 1e9, kMiB = 1024.0 * 1024, kGiB = 1024.0 * kMiB;

// `measured`: the key of a benchmark's own output, in the words of torch.
struct Key {
  std::string_view name;
  std::variant<Text, Peak, Size, Count> member;
  double factor = 1;
  bool measured = false;
};
const std::array kKeys = {
    Key{"name", &DeviceSpec::name},
    Key{"vendor", &DeviceSpec::vendor},
    Key{"source", &DeviceSpec::source},
    Key{"f64_tflops", &DeviceSpec::f64, kTera},
    Key{"f64_matrix_tflops", &DeviceSpec::f64_matrix, kTera},
    Key{"f32_tflops", &DeviceSpec::f32, kTera},
    Key{"f32_matrix_tflops", &DeviceSpec::f32_matrix, kTera},
    Key{"tf32_tflops", &DeviceSpec::tf32, kTera},
    Key{"f16_tflops", &DeviceSpec::f16, kTera},
    Key{"bf16_tflops", &DeviceSpec::bf16, kTera},
    Key{"f8_tflops", &DeviceSpec::f8, kTera},
    Key{"f4_tflops", &DeviceSpec::f4, kTera},
    Key{"i8_tops", &DeviceSpec::i8, kTera},
    Key{"bandwidth_gb_per_s", &DeviceSpec::bandwidth, kGiga},
    Key{"memory_gib", &DeviceSpec::memory_bytes, kGiB},
    Key{"multiprocessors", &DeviceSpec::multiprocessors},
    Key{"l2_mib", &DeviceSpec::l2_bytes, kMiB},
    Key{"memory_side_cache_mib", &DeviceSpec::memory_side_cache_bytes, kMiB},
    Key{"boost_mhz", &DeviceSpec::boost_mhz},
    Key{"matrix_mhz", &DeviceSpec::matrix_mhz},
    // Matrix multiplications and a copy, as measured: what they reach is the roof of matrices and of memory.
    Key{"torch.float64_tflops", &DeviceSpec::f64_matrix, kTera, true},
    Key{"torch.float32_tflops", &DeviceSpec::f32_matrix, kTera, true},
    Key{"torch.float32_tf32_tflops", &DeviceSpec::tf32, kTera, true},
    Key{"torch.float16_tflops", &DeviceSpec::f16, kTera, true},
    Key{"torch.bfloat16_tflops", &DeviceSpec::bf16, kTera, true},
    Key{"torch.float8_e4m3fn_tflops", &DeviceSpec::f8, kTera, true},
    Key{"torch.int8_tflops", &DeviceSpec::i8, kTera, true},
    Key{"copy_gbs", &DeviceSpec::bandwidth, kGiga, true},
};
// Understood apart from the table, or of no use here.
constexpr std::array<std::string_view, 6> kOtherKeys = {"like", "props", "devices", "torch", "cuda", "comment"};

constexpr const char* kHint = "docs/adding-a-device.md has the format";

tl::unexpected<Error> bad(const std::string& what, const std::string& where, std::string hint = kHint) {
  return fail(ErrorCode::usage, what, where, std::move(hint));
}

std::optional<double> number_of(element value) {
  double number = 0;
  if (value.get(number) != simdjson::SUCCESS || !std::isfinite(number) || number <= 0 || number > 1e12) return std::nullopt;
  return number;
}

// A number, or the two ends of a range.
std::optional<Figure> figure_of(element value, double factor) {
  if (const auto number = number_of(value)) return Figure{*number * factor, *number * factor};
  simdjson::dom::array ends;
  if (value.get(ends) != simdjson::SUCCESS || ends.size() != 2) return std::nullopt;
  const auto low = number_of(ends.at(0)), high = number_of(ends.at(1));
  if (!low || !high || *low > *high) return std::nullopt;
  return Figure{*low * factor, *high * factor};
}

struct SetMember {
  DeviceSpec& device;
  element value;
  double factor;

  bool operator()(Text member) const {
    std::string_view text;
    if (value.get(text) != simdjson::SUCCESS) return false;
    device.*member = std::string(text);
    return true;
  }
  bool operator()(Peak member) const {
    const auto figure = figure_of(value, factor);
    if (figure) device.*member = *figure;
    return figure.has_value();
  }
  bool operator()(Size member) const {
    const auto number = number_of(value);
    if (number) device.*member = *number * factor;
    return number.has_value();
  }
  bool operator()(Count member) const {
    const auto number = number_of(value);
    if (number) device.*member = std::llround(*number);
    return number.has_value();
  }
};

// "NVIDIA H200" of "_CudaDeviceProperties(name='NVIDIA H200', major=9, ...)".
std::string name_in_properties(std::string_view text) {
  constexpr std::string_view kName = "name='";
  const std::size_t begin = text.find(kName);
  if (begin == std::string_view::npos) return {};
  text.remove_prefix(begin + kName.size());
  return std::string(text.substr(0, text.find('\'')));
}

// What the object builds on: the known device that it names as "like", or that its measurement was made on.
Result<DeviceSpec> base_of(simdjson::dom::object object, const std::string& where) {
  std::string_view text;
  if (object["like"].get(text) == simdjson::SUCCESS) {
    auto found = find_device(text);
    if (!found) return bad("\"like\": " + found.error().message, where, found.error().hint);
    return **found;
  }
  if (object["props"].get(text) != simdjson::SUCCESS) return DeviceSpec{};
  const std::string name = name_in_properties(text);
  const DeviceSpec* known = match_device({.name = name});
  DeviceSpec device = known != nullptr ? *known : DeviceSpec{};
  if (!name.empty()) device.name = name;
  return device;
}

tl::unexpected<Error> unknown_key(std::string_view key, const std::string& where) {
  std::vector<std::string_view> names(kOtherKeys.begin(), kOtherKeys.end());
  for (const Key& known : kKeys) names.push_back(known.name);
  std::string hint = did_you_mean(key, names);
  return bad("unknown device key \"" + std::string(key) + "\"", where, hint.empty() ? kHint : std::move(hint));
}

Result<DeviceSpec> device_of(element value, const std::string& where) {
  simdjson::dom::object object;
  if (value.get(object) != simdjson::SUCCESS) return bad("a device must be a JSON object", where);
  TRY(DeviceSpec device, base_of(object, where));
  const std::string base = std::exchange(device.source, {});
  // A clock of its own is that of all its figures, unless it gives the matrix units another.
  if (element clock; object["boost_mhz"].get(clock) == simdjson::SUCCESS) device.matrix_mhz = 0;
  for (const auto& [key, member] : object) {
    const auto known = std::ranges::find(kKeys, key, &Key::name);
    if (known == kKeys.end()) {
      if (std::ranges::count(kOtherKeys, key) == 0) return unknown_key(key, where);
      continue;
    }
    if (!std::visit(SetMember{device, member, known->factor}, known->member))
      return bad("\"" + std::string(key) + "\" takes a positive number, a range [low, high], or a string", where);
    device.measured |= known->measured;
  }
  if (device.name.empty()) return bad("a device needs a \"name\"", where);
  if (device.source.empty()) device.source = where + (base.empty() ? "" : "; the rest: " + base);
  return device;
}

}  // namespace

Result<std::vector<DeviceSpec>> parse_device_file(std::string_view text, const std::string& where) {
  simdjson::dom::parser parser;
  element root;
  const simdjson::padded_string padded(text);
  if (const auto error = parser.parse(padded).get(root); error != simdjson::SUCCESS)
    return bad(std::string("the device file is not valid JSON: ") + simdjson::error_message(error), where);
  simdjson::dom::array list;
  if (root.get(list) != simdjson::SUCCESS && root["devices"].get(list) != simdjson::SUCCESS) {
    TRY(DeviceSpec device, device_of(root, where));
    return std::vector{std::move(device)};
  }
  std::vector<DeviceSpec> devices;
  for (const element value : list) {
    TRY(DeviceSpec device, device_of(value, where));
    devices.push_back(std::move(device));
  }
  if (devices.empty()) return bad("the device file has no device", where);
  return devices;
}

}  // namespace ridge
