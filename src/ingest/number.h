// Numbers from text: integers eight digits at a time, times as exact nanoseconds, reals correctly rounded. Never a double for a
// time.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/hash.h"

namespace ridge {

static_assert(std::endian::native == std::endian::little, "the digit trick reads little-endian words");

// Leading digits of the 8 bytes at p: how many, and their value. Reads 8 bytes.
inline unsigned read_digits8(const char* p, std::uint64_t* value) {
  const std::uint64_t t = load64(p) ^ 0x3030303030303030;
  const std::uint64_t not_digit = ((t + 0x7676767676767676) | t) & 0x8080808080808080;
  const unsigned count = not_digit == 0 ? 8 : static_cast<unsigned>(std::countr_zero(not_digit)) / 8;
  if (count == 0) return 0;
  std::uint64_t d = t << (64 - 8 * count);  // the digits end at the top byte, zeros before them
  d = d * 10 + (d >> 8);
  *value = (((d & 0x000000FF000000FF) * 0x000F424000000064) + (((d >> 16) & 0x000000FF000000FF) * 0x0000271000000001)) >> 32;
  return count;
}

inline constexpr std::uint64_t kPowersOfTen[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};

// Digits at p, at most 18 of them so that the value fits; returns how many (0: none, 19: too many).
inline unsigned read_digits(const char* p, std::uint64_t* value) {
  unsigned count = read_digits8(p, value);
  if (count < 8) return count;
  for (unsigned round = 0; round < 2; ++round) {
    std::uint64_t more = 0;
    const unsigned n = read_digits8(p + count, &more);
    if (n == 0) return count;
    count += n;
    if (count > 18) return 19;
    *value = *value * kPowersOfTen[n] + more;
    if (n < 8) return count;
  }
  return count;
}

inline constexpr std::array<bool, 256> kContinuesNumber = [] {
  std::array<bool, 256> table{};
  for (const char c : {'0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '.', 'e', 'E', '+', '-'})
    table[static_cast<unsigned char>(c)] = true;
  return table;
}();
inline bool continues_number(char c) { return kContinuesNumber[static_cast<unsigned char>(c)]; }

// Whole microseconds whose nanoseconds fit an int64 whatever the fraction: up to the year 2262 where a profiler counts from
// 1970.
inline constexpr std::uint64_t kMostMicroseconds = 9'223'372'036'854'774;

// A JSON number whose value fits a plain form; the general functions below take the rest.
// read_time: microseconds at p as nanoseconds; returns the end, or nullptr when the text needs the general function.
inline const char* read_time(const char* p, std::int64_t* ns) {
  const bool negative = *p == '-';
  p += negative;
  std::uint64_t whole = 0;
  const unsigned digits = read_digits(p, &whole);
  if (digits == 0 || digits > 16 || whole > kMostMicroseconds || (digits > 1 && *p == '0')) return nullptr;
  p += digits;
  std::uint64_t value = whole * 1000;
  if (*p == '.') {
    std::uint64_t fraction = 0;
    const unsigned count = read_digits8(p + 1, &fraction);
    if (count == 3) {
      value += fraction;
    } else if (count == 0) {
      return nullptr;
    } else {
      value += count < 3 ? fraction * kPowersOfTen[3 - count] : fraction / kPowersOfTen[count - 3];
    }
    p += 1 + count;
    if (count == 8) [[unlikely]] {  // a script has calculated with doubles: what follows is below the nanosecond
      while (*p >= '0' && *p <= '9') ++p;
    }
  }
  if (continues_number(*p)) return nullptr;
  *ns = negative ? -static_cast<std::int64_t>(value) : static_cast<std::int64_t>(value);
  return p;
}

// An integer of up to 18 digits; returns the end, or nullptr (not an integer, or longer).
inline const char* read_integer(const char* p, std::int64_t* value) {
  const bool negative = *p == '-';
  p += negative;
  std::uint64_t magnitude = 0;
  const unsigned digits = read_digits(p, &magnitude);
  if (digits == 0 || digits > 18 || (digits > 1 && *p == '0')) return nullptr;
  p += digits;
  if (continues_number(*p)) return nullptr;
  *value = negative ? -static_cast<std::int64_t>(magnitude) : static_cast<std::int64_t>(magnitude);
  return p;
}

// A real with a short fraction, as profilers print them; returns the end, or nullptr when the text needs the general function.
// Exact: both the digits (15 at most) and the power of ten fit a double, so that one division rounds once.
inline const char* read_real(const char* p, double* value) {
  const bool negative = *p == '-';
  p += negative;
  std::uint64_t whole = 0, fraction = 0;
  const unsigned digits = read_digits8(p, &whole);
  if (digits == 0 || digits == 8 || (digits > 1 && *p == '0') || p[digits] != '.') return nullptr;
  p += digits + 1;
  const unsigned count = read_digits8(p, &fraction);
  if (count == 0 || count == 8) return nullptr;
  p += count;
  if (continues_number(*p)) return nullptr;
  const double magnitude =
      static_cast<double>(whole * kPowersOfTen[count] + fraction) / static_cast<double>(kPowersOfTen[count]);
  *value = negative ? -magnitude : magnitude;
  return p;
}

// Whether `text` is a number as JSON writes it.
bool is_json_number(std::string_view text);
inline bool is_integer_text(std::string_view text) { return text.find_first_of(".eE") == std::string_view::npos; }

// Any JSON number of microseconds as nanoseconds, digits beyond them cut off; nothing when it is beyond int64.
std::optional<std::int64_t> time_ns_of(std::string_view text);

// A JSON number as the nearest double.
double real_of(std::string_view text);

}  // namespace ridge
