// The quick ways to digits that the library would find too: exact decimals for integers, six digits where they are clear.
#include "base/json_numbers.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include <ridge/json.h>

namespace ridge {
namespace {

constexpr double kTens[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14};  // all exact

// number / 10^decimals, exactly, in the notation that fmt and printf's %g choose: with an exponent from 1e-5 down.
void append_decimal(std::string& out, std::int64_t number, int decimals) {
  for (; decimals > 0 && number % 10 == 0; --decimals) number /= 10;
  if (decimals == 0) return append_json_number(out, number);
  if (number < 0) out.push_back('-');
  char digits[24];
  const char* const end = std::to_chars(digits, std::end(digits), number < 0 ? -number : number).ptr;
  const int before_point = static_cast<int>(end - digits) - decimals;
  char text[48];
  char* at = text;
  const auto put = [&at](const char* from, const char* to) { at = std::copy(from, to, at); };
  if (before_point > 0) {
    put(digits, digits + before_point);
    *at++ = '.';
    put(digits + before_point, end);
  } else if (before_point > -4) {
    constexpr char kZeros[] = "0.000";
    put(kZeros, kZeros + 2 - before_point);
    put(digits, end);
  } else {
    *at++ = digits[0];
    if (end - digits > 1) *at++ = '.';
    put(digits + 1, end);
    const int exponent = 1 - before_point;  // below 100: there are few decimals
    *at++ = 'e';
    *at++ = '-';
    *at++ = static_cast<char>('0' + exponent / 10);
    *at++ = static_cast<char>('0' + exponent % 10);
  }
  out.append(text, at);
}

}  // namespace

// A quotient of two doubles is the double nearest to it. Decimals of up to 15 digits all have a nearest double of their own, so
// that none shorter than this one reads back as the same.
void append_json_scaled(std::string& out, double value, int decimals) {
  constexpr double kFifteenDigits = 1e15;
  const bool whole = value == std::floor(value) && std::fabs(value) < kFifteenDigits;
  if (whole) return append_decimal(out, static_cast<std::int64_t>(value), decimals);
  append_json_number(out, value / kTens[decimals]);
}

void append_json_rounded(std::string& out, double value) {
  // Below and beyond, and where the digits are hard to tell, the library does it.
  constexpr double kLeast = 1e-9, kMost = 1e5;
  constexpr double kBounds[] = {1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 1e1, 1e2, 1e3, 1e4};
  constexpr double kDoubt = 1e-6;  // far more than the product is off by
  if (value >= kLeast && value < kMost) {
    const auto passed = std::count_if(std::begin(kBounds), std::end(kBounds), [&](double bound) { return value >= bound; });
    const int decimals = 14 - static_cast<int>(passed);  // that leave six digits
    const double scaled = value * kTens[decimals];
    const auto whole = static_cast<std::int64_t>(scaled);
    const double rest = scaled - static_cast<double>(whole);
    const std::int64_t rounded = whole + static_cast<std::int64_t>(rest > 0.5);
    const bool clear = std::fabs(rest - 0.5) > kDoubt && rounded >= 100'000 && rounded < 1'000'000;
    if (clear) return append_decimal(out, rounded, decimals);
  } else if (value == 0) {
    return append_json_number(out, std::int64_t{0});
  }
  fmt::format_to(std::back_inserter(out), "{:.6g}", value);
}

void append_json_us(std::string& out, std::int64_t ns) {
  const bool negative = ns < 0;
  const std::uint64_t magnitude = negative ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
  fmt::format_to(std::back_inserter(out), "{}{}.{:03}", negative ? "-" : "", magnitude / 1000, magnitude % 1000);
}

}  // namespace ridge
