// Texts and numbers from any bytes: decoding gives valid UTF-8, compacting is stable, and the short ways agree with the general
// ones.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "ingest/json_text.h"
#include "ingest/number.h"
#include "ingest/scan.h"

namespace {

using namespace ridge;

void require(bool condition) {
  if (!condition) std::abort();
}

void check_strings(std::string_view raw) {
  std::string decoded, again;
  const Repairs repairs = decode_string(raw, &decoded);
  // Valid by now: decoding what holds no backslash changes nothing and mends no bytes.
  if (decoded.find('\\') != std::string::npos) return;
  const Repairs second = decode_string(decoded, &again);
  require(again == decoded && !second.has(Problem::invalid_utf8));
  require(repairs.any() || !second.any() || second.has(Problem::control_character));
}

void check_json(std::string_view raw) {
  std::string compact, again;
  if (!compact_json(raw, &compact)) return;
  require(compact.size() <= raw.size());
  require(compact_json(compact, &again) && again == compact);
}

void check_numbers(std::string_view raw) {
  std::string text(raw.substr(0, 100));
  text.append(kPadding, '\0');
  std::int64_t ns = 0, value = 0;
  if (const char* end = read_time(text.data(), &ns)) {
    const std::string_view number(text.data(), static_cast<std::size_t>(end - text.data()));
    require(is_json_number(number) && time_ns_of(number) == ns);
  }
  if (const char* end = read_integer(text.data(), &value)) {
    const std::string_view number(text.data(), static_cast<std::size_t>(end - text.data()));
    require(is_json_number(number) && std::strtoll(std::string(number).c_str(), nullptr, 10) == value);
  }
  if (is_json_number(raw) && raw.size() < 100) {
    const double real = real_of(raw);
    require(real == std::strtod(std::string(raw).c_str(), nullptr) || std::isnan(real));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view raw(reinterpret_cast<const char*>(data), size);
  check_strings(raw);
  check_json(raw);
  check_numbers(raw);
  return 0;
}
