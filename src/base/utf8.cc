// One decoder and one encoder of UTF-8; whatever walks over text asks them.
#include "base/utf8.h"

#include <algorithm>
#include <array>

namespace ridge {
namespace {

struct Lead {  // the first byte of a sequence: how to recognise it and what it promises
  unsigned char mask;
  unsigned char pattern;
  std::size_t bytes;
  char32_t smallest;  // below it the form is overlong
};
constexpr std::array kLeads = {Lead{0x80, 0x00, 1, 0}, Lead{0xE0, 0xC0, 2, 0x80}, Lead{0xF0, 0xE0, 3, 0x800},
                               Lead{0xF8, 0xF0, 4, 0x10000}};

}  // namespace

CodePoint first_code_point(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  const auto lead = std::ranges::find_if(kLeads, [&](const Lead& l) { return (first & l.mask) == l.pattern; });
  if (lead == kLeads.end()) return {kReplacement, 1, false};
  auto value = static_cast<char32_t>(first & static_cast<unsigned char>(~lead->mask));
  for (std::size_t i = 1; i < lead->bytes; ++i) {
    const bool follows = i < text.size() && (static_cast<unsigned char>(text[i]) & 0xC0) == 0x80;
    if (!follows) return {kReplacement, i, false};
    value = (value << 6) | (static_cast<unsigned char>(text[i]) & 0x3F);
  }
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (value < lead->smallest || surrogate || value > 0x10FFFF) return {kReplacement, lead->bytes, false};
  return {value, lead->bytes, true};
}

std::string valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const CodePoint c = first_code_point(text);
    out += c.valid ? text.substr(0, c.bytes) : kReplacementText;
    text.remove_prefix(c.bytes);
  }
  return out;
}

bool is_valid_utf8(std::string_view text) {
  while (!text.empty()) {
    const CodePoint c = first_code_point(text);
    if (!c.valid) return false;
    text.remove_prefix(c.bytes);
  }
  return true;
}

void append_utf8(std::string& out, char32_t code) {
  const auto put = [&](char32_t byte) { out.push_back(static_cast<char>(byte)); };
  const auto put_rest = [&](int shift) { put(0x80 | (code >> shift & 0x3F)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6);
    put_rest(0);
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12);
    put_rest(6);
    put_rest(0);
  } else {
    put(0xF0 | code >> 18);
    put_rest(12);
    put_rest(6);
    put_rest(0);
  }
}

}  // namespace ridge
