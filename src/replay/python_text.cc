// Escapes by code point: quotes, backslashes and all that is not printable ASCII.
#include "replay/python_text.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/utf8.h"

namespace ridge {
namespace {

bool is_plain(char c) { return c >= ' ' && c <= '~'; }

// Raw triple quotes hold it as it stands: no quotes that end it, no backslash before the closing ones, nothing that an editor
// or Python itself takes for another character.
bool fits_raw_block(std::string_view text) {
  return !text.empty() && text.find("'''") == std::string_view::npos && !text.ends_with('\'') && !text.ends_with('\\') &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_plain(c) || c == '\n'; });
}

}  // namespace

void append_python_string(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const CodePoint point = first_code_point(text);
    text.remove_prefix(point.bytes);
    const char32_t c = point.value;
    if (c == '"' || c == '\\') {
      out += '\\';
      out += static_cast<char>(c);
    } else if (c == '\n') {
      out += "\\n";
    } else if (c < 0x80 && is_plain(static_cast<char>(c))) {
      out += static_cast<char>(c);
    } else if (c < 0x100) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<std::uint32_t>(c));
    } else if (c < 0x10000) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<std::uint32_t>(c));
    } else {
      fmt::format_to(std::back_inserter(out), "\\U{:08x}", static_cast<std::uint32_t>(c));
    }
  }
  out += '"';
}

void append_python_block(std::string& out, std::string_view text) {
  if (fits_raw_block(text)) {
    out += "r'''";
    out += text;
    out += "'''";
    return;
  }
  out += "(\n";
  do {
    const std::size_t end = std::min(text.find('\n'), text.size() - (text.empty() ? 0 : 1));
    out += "    ";
    append_python_string(out, text.substr(0, text.empty() ? 0 : end + 1));
    out += '\n';
    text.remove_prefix(text.empty() ? 0 : end + 1);
  } while (!text.empty());
  out += ")";
}

void append_python_integers(std::string& out, std::span<const std::int64_t> values) {
  out += fmt::format("[{}]", fmt::join(values, ", "));
}

std::string python_string_or_none(std::string_view text) {
  if (text.empty()) return "None";
  std::string out;
  append_python_string(out, text);
  return out;
}

std::string python_integer_or_none(std::optional<std::int64_t> value) { return value ? std::to_string(*value) : "None"; }

}  // namespace ridge
