#include "rewrite/json_write.h"

#include <cmath>
#include <iterator>

#include <fmt/format.h>

namespace ridge {

void append_json_number(double value, std::string* out) {
  constexpr double kExactIntegers = 9007199254740992;  // 2^53
  if (value == std::floor(value) && std::fabs(value) < kExactIntegers) {
    fmt::format_to(std::back_inserter(*out), "{}", static_cast<std::int64_t>(value));
  } else {
    fmt::format_to(std::back_inserter(*out), "{}", value);
  }
}

void append_json_rounded(double value, std::string* out) { fmt::format_to(std::back_inserter(*out), "{:.6g}", value); }

void append_json_text(std::string_view text, std::string* out) {
  out->push_back('"');
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out->push_back('\\');
      out->push_back(c);
    } else if (static_cast<unsigned char>(c) < 0x20) {
      fmt::format_to(std::back_inserter(*out), "\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out->push_back(c);
    }
  }
  out->push_back('"');
}

void append_json_us(std::int64_t ns, std::string* out) {
  const bool negative = ns < 0;
  const std::uint64_t magnitude = negative ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
  fmt::format_to(std::back_inserter(*out), "{}{}.{:03}", negative ? "-" : "", magnitude / 1000, magnitude % 1000);
}

}  // namespace ridge
