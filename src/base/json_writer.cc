// The escapes and digits of JSON. Runs of plain characters are copied whole: they are nearly all of a report.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include <ridge/json.h>

#include "base/short_text.h"
#include "base/utf8.h"

namespace ridge {
namespace {

bool is_plain(char c) { return c >= 0x20 && c < 0x7F && c != '"' && c != '\\'; }

template <class Integer>
void append_integer(std::string& out, Integer value) {
  char digits[24];
  out.append(digits, std::to_chars(digits, std::end(digits), value).ptr);
}

}  // namespace

void append_json_string(std::string& out, std::string_view text, std::size_t longest) {
  const std::string_view whole = text;
  out += '"';
  const std::size_t from = out.size();
  while (!text.empty()) {
    const auto plain = static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_plain) - text.begin());
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const CodePoint c = first_code_point(text);
    if (!c.valid) {
      out += kReplacementText;
    } else if (c.value == '"' || c.value == '\\') {
      out += '\\';
      out += text.front();
    } else if (c.value < 0x20 || c.value == 0x7F) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c.value));
    } else {
      out += text.substr(0, c.bytes);
    }
    text.remove_prefix(c.bytes);
  }
  if (longest > 0 && out.size() - from > longest) {
    const Kept kept = kept_of(std::string_view(out).substr(from), longest);
    out.resize(from + kept.written);
    out += "\\u2026";
    out += mark_of(valid_utf8(whole), kept);
  }
  out += '"';
}

void append_json_number(std::string& out, std::int64_t value) { append_integer(out, value); }
void append_json_number(std::string& out, std::uint64_t value) { append_integer(out, value); }

void append_json_number(std::string& out, double value) {
  constexpr double kExactIntegers = 9007199254740992;  // 2^53: up to here the digits of the integer are the shortest
  if (!std::isfinite(value)) {
    out += "null";
  } else if (value == std::floor(value) && std::fabs(value) < kExactIntegers && !(value == 0 && std::signbit(value))) {
    append_integer(out, static_cast<std::int64_t>(value));
  } else {
    fmt::format_to(std::back_inserter(out), "{}", value);
  }
}

}  // namespace ridge
