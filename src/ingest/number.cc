// Exact decimal arithmetic on the digits; std::from_chars for reals.
#include "ingest/number.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace ridge {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

const char* skip_digits(const char* p, const char* end) {
  while (p < end && is_digit(*p)) ++p;
  return p;
}

// The power of ten of the first digit that is not 0, of a JSON number.
std::int64_t leading_exponent(std::string_view text) {
  const std::size_t mark = std::min(text.find_first_of("eE"), text.size());
  const std::string_view mantissa = text.substr(0, mark);
  const std::size_t point = std::min(mantissa.find('.'), mark);
  const std::size_t first = std::min(mantissa.find_first_of("123456789"), mark);
  std::int64_t exponent = 0;
  if (mark < text.size()) {
    const std::string_view digits = text.substr(mark + 1 + (text[mark + 1] == '+'));
    constexpr std::int64_t kFar = std::int64_t{1} << 60;  // farther than any text is long
    const bool read = std::from_chars(digits.data(), digits.data() + digits.size(), exponent).ec == std::errc{};
    exponent = read ? std::clamp(exponent, -kFar, kFar) : digits[0] == '-' ? -kFar : kFar;
  }
  return exponent + static_cast<std::int64_t>(point) - static_cast<std::int64_t>(first) - (first < point);
}

}  // namespace

bool is_json_number(std::string_view text) {
  const char* p = text.data();
  const char* end = p + text.size();
  if (p < end && *p == '-') ++p;
  const char* whole = p;
  p = skip_digits(p, end);
  if (p == whole || (*whole == '0' && p - whole > 1)) return false;
  if (p < end && *p == '.') {
    const char* fraction = ++p;
    p = skip_digits(p, end);
    if (p == fraction) return false;
  }
  if (p < end && (*p == 'e' || *p == 'E')) {
    ++p;
    if (p < end && (*p == '+' || *p == '-')) ++p;
    const char* exponent = p;
    p = skip_digits(p, end);
    if (p == exponent) return false;
  }
  return p == end;
}

std::optional<std::int64_t> time_ns_of(std::string_view text) {
  const char* p = text.data();
  const char* end = p + text.size();
  const bool negative = p < end && *p == '-';
  p += negative;
  const char* digits = p;
  const char* point = nullptr;
  while (p < end && (is_digit(*p) || (*p == '.' && point == nullptr))) {
    if (*p == '.') point = p;
    ++p;
  }
  const char* digits_end = p;
  std::int64_t exponent = 0;
  if (p < end && (*p == 'e' || *p == 'E')) {
    ++p;
    const bool down = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) ++p;
    for (; p < end && is_digit(*p); ++p) exponent = exponent > 100000 ? exponent : exponent * 10 + (*p - '0');
    if (down) exponent = -exponent;
  }
  if (p != end || digits_end - digits - (point != nullptr) <= 0) return std::nullopt;
  // The value in ns is the digits, their point moved right by exponent + 3; take the digits before the moved point.
  const std::int64_t whole_digits = (point != nullptr ? point : digits_end) - digits;
  std::int64_t wanted = whole_digits + exponent + 3;
  std::int64_t value = 0;
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  for (const char* d = digits; wanted > 0; --wanted) {
    if (d == point && d != nullptr) ++d;
    if (d >= digits_end && value == 0) break;
    const int digit = d < digits_end ? *d - '0' : 0;
    if (value > (kMost - digit) / 10) return std::nullopt;
    value = value * 10 + digit;
    if (d < digits_end) ++d;
  }
  return negative ? -value : value;
}

double real_of(std::string_view text) {
  double value = std::numeric_limits<double>::quiet_NaN();
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) {
    // from_chars leaves the value untouched: too large or too small is told by the place of the first digit that counts.
    const double magnitude = leading_exponent(text) < 0 ? 0.0 : std::numeric_limits<double>::infinity();
    return text.starts_with('-') ? -magnitude : magnitude;
  }
  return value;
}

}  // namespace ridge
