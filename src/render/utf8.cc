// Tables of wide, combining and unsafe characters, and text measured, cut and made safe by them.
#include "render/utf8.h"

#include <algorithm>
#include <array>
#include <span>

#include <fmt/format.h>

#include <ridge/render.h>

namespace ridge {
namespace render {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

// Each table is in ascending order. Short forms of Unicode's EastAsianWidth (W, F) and general category Mn.
constexpr std::array kWide = {
    Range{0x1100, 0x115F},   Range{0x2E80, 0x303E},   Range{0x3041, 0xA4CF},   Range{0xA960, 0xA97F}, Range{0xAC00, 0xD7A3},
    Range{0xF900, 0xFAFF},   Range{0xFE30, 0xFE6F},   Range{0xFF00, 0xFF60},   Range{0xFFE0, 0xFFE6}, Range{0x1F300, 0x1F64F},
    Range{0x1F680, 0x1F6FF}, Range{0x1F900, 0x1FAFF}, Range{0x20000, 0x3FFFD},
};
constexpr std::array kCombining = {
    Range{0x0300, 0x036F}, Range{0x0483, 0x0489}, Range{0x0591, 0x05BD}, Range{0x0610, 0x061A}, Range{0x064B, 0x065F},
    Range{0x1AB0, 0x1AFF}, Range{0x1DC0, 0x1DFF}, Range{0x20D0, 0x20FF}, Range{0xFE00, 0xFE0F}, Range{0xFE20, 0xFE2F},
};
// What could move the cursor, reorder or hide text: C0, DEL and C1 controls, bidirectional marks, zero-width and tag
// characters, and the selectors of variants that no font has, which can carry whole texts that nobody sees.
constexpr std::array kUnsafe = {
    Range{0x0000, 0x001F}, Range{0x007F, 0x009F}, Range{0x00AD, 0x00AD},   Range{0x061C, 0x061C},
    Range{0x180E, 0x180E}, Range{0x200B, 0x200F}, Range{0x2028, 0x202E},   Range{0x2060, 0x206F},
    Range{0xFEFF, 0xFEFF}, Range{0xFFF9, 0xFFFB}, Range{0xE0000, 0xE007F}, Range{0xE0100, 0xE01EF},
};

bool holds(std::span<const Range> ranges, char32_t c) {
  const auto after = std::ranges::upper_bound(ranges, c, {}, &Range::first);
  return after != ranges.begin() && c <= std::prev(after)->last;
}

std::size_t columns_of(char32_t c) {
  if (c < 0x300) return 1;
  if (holds(kCombining, c)) return 0;
  return holds(kWide, c) ? 2 : 1;
}

std::string escaped(char32_t c) {
  if (c == '\n') return "\\n";
  if (c == '\t') return "\\t";
  if (c == '\r') return "\\r";
  const auto number = static_cast<std::uint32_t>(c);
  return c <= 0xFFFF ? fmt::format("\\u{:04x}", number) : fmt::format("\\u{{{:x}}}", number);
}

// How many bytes at the beginning of `text` are printable ASCII: a column each, and nothing to escape. Names are little else.
std::size_t plain_bytes(std::string_view text) {
  const auto other = std::ranges::find_if(text, [](char c) { return c < ' ' || c > '~'; });
  return static_cast<std::size_t>(other - text.begin());
}

// How many bytes of the beginning of `text` take at most `columns`.
std::size_t bytes_within(std::string_view text, std::size_t columns) {
  std::size_t kept = 0;
  for (std::size_t used = 0; kept < text.size();) {
    const CodePoint c = first_code_point(text.substr(kept));
    used += columns_of(c.value);
    if (used > columns) break;
    kept += c.bytes;
  }
  return kept;
}

}  // namespace

std::size_t display_width(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) {
    const std::size_t plain = plain_bytes(text);
    columns += plain;
    text.remove_prefix(plain);
    if (text.empty()) break;
    const CodePoint c = first_code_point(text);
    columns += columns_of(c.value);
    text.remove_prefix(c.bytes);
  }
  return columns;
}

std::string truncated(std::string_view text, std::size_t columns) {
  if (display_width(text) <= columns) return std::string(text);
  if (columns == 0) return {};
  return std::string(text.substr(0, bytes_within(text, columns - 1))) + "…";
}

std::string shortened_in_middle(std::string_view text, std::size_t columns, double head_share) {
  const std::size_t whole = display_width(text);
  if (whole <= columns) return std::string(text);
  if (columns == 0) return {};
  const auto head = static_cast<std::size_t>(static_cast<double>(columns - 1) * head_share);
  const std::string_view begin = text.substr(0, bytes_within(text, head));
  const std::size_t tail = columns - 1 - display_width(begin);
  // What goes takes at least as much as is too much; a wide character at the cut goes too.
  std::size_t cut = bytes_within(text, whole - tail);
  while (cut < text.size() && display_width(text.substr(cut)) > tail) cut += first_code_point(text.substr(cut)).bytes;
  return std::string(begin) + "…" + std::string(text.substr(cut));
}

std::vector<std::string> wrapped(std::string_view text, std::size_t columns) {
  std::vector<std::string> lines;
  std::string line;
  while (!text.empty()) {
    const std::size_t space = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, space);
    if (columns != 0 && !line.empty() && display_width(line) + 1 + display_width(word) > columns) {
      lines.push_back(std::move(line));
      line.clear();
    }
    if (!line.empty()) line += ' ';
    line += word;
    text.remove_prefix(std::min(space + 1, text.size()));
  }
  if (!line.empty()) lines.push_back(std::move(line));
  return lines;
}

}  // namespace render

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t plain = render::plain_bytes(text);
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const CodePoint c = first_code_point(text);
    if (!c.valid) {
      out += kReplacementText;
    } else if (render::holds(render::kUnsafe, c.value)) {
      out += render::escaped(c.value);
    } else {
      out += text.substr(0, c.bytes);
    }
    text.remove_prefix(c.bytes);
  }
  return out;
}

}  // namespace ridge
