#include "short_texts.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <iterator>

#include <fmt/format.h>

#include <ridge/json.h>
#include <ridge/render.h>

namespace ridge::server {
namespace {

constexpr std::size_t kMarkBytes = 64;  // at most, of what stands for the rest

// FNV-1a (Fowler, Noll, Vo), 64 bits, of words of eight bytes, each folded so that its high bits count too: names of 100 KB
// stand in every table of a report.
std::uint64_t digest(std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (std::size_t at = 0; at < text.size(); at += sizeof hash) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, std::min(sizeof word, text.size() - at));
    hash = (hash ^ word) * 0x100000001B3U;
    hash ^= hash >> 29U;
  }
  return hash;
}

// Where the string that begins at `from` ends: at the first quote with an even number of backslashes before it.
std::size_t end_of_string(std::string_view json, std::size_t from) {
  for (std::size_t quote = json.find('"', from); quote != json.npos; quote = json.find('"', quote + 1)) {
    std::size_t first = quote;
    while (first > from && json[first - 1] == '\\') --first;
    if ((quote - first) % 2 == 0) return quote;
  }
  return json.size();
}

// The end of the escape or character at `at`.
std::size_t next_character(std::string_view text, std::size_t at) {
  if (text[at] == '\\') return at + (text.substr(at).starts_with("\\u") ? 6 : 2);
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; };
  do {
    ++at;
  } while (at < text.size() && continues(text[at]));
  return at;
}

// The text that a string is written for. Answers have escapes of single characters and of four digits, and no halves of larger
// characters.
std::string unescaped(std::string_view written) {
  std::string text;
  for (std::size_t at = 0; at < written.size();) {
    const std::size_t escape = std::min(written.find('\\', at), written.size());
    text += written.substr(at, escape - at);
    if (escape == written.size()) break;
    at = std::min(next_character(written, escape), written.size());
    const std::string_view character = written.substr(escape, at - escape);
    if (character.starts_with("\\u")) {
      std::uint32_t code = 0;
      std::from_chars(character.data() + 2, character.data() + character.size(), code, 16);
      append_utf8(text, code);
    } else {
      text += character.substr(1);
    }
  }
  return text;
}

void append_short(std::string_view written, std::size_t longest, std::string* out) {
  const std::size_t most = longest - std::min(longest, kMarkBytes);
  std::size_t kept = 0;
  for (std::size_t next; (next = next_character(written, kept)) <= most;) kept = next;
  out->append(written.substr(0, kept));
  const std::string text = unescaped(written);
  const std::size_t more = text.size() - unescaped(written.substr(0, kept)).size();
  fmt::format_to(std::back_inserter(*out), "\\u2026 [{} bytes more, {:016x}]", more, digest(text));
}

}  // namespace

std::string with_short_texts(std::string_view json, std::size_t longest) {
  std::string out;
  out.reserve(json.size());
  std::size_t done = 0;
  for (std::size_t quote = json.find('"'); quote != json.npos;) {
    const std::size_t from = quote + 1, end = end_of_string(json, from);
    if (end - from > longest) {
      out.append(json.substr(done, from - done));
      append_short(json.substr(from, end - from), longest, &out);
      done = end;
    }
    quote = end < json.size() ? json.find('"', end + 1) : json.npos;
  }
  out.append(json.substr(done));
  return out;
}

std::string short_text(std::string_view text, std::size_t longest) {
  std::string json;
  append_json_string(json, text);
  const std::string cut = with_short_texts(json, longest);
  return unescaped(std::string_view(cut).substr(1, cut.size() - 2));
}

}  // namespace ridge::server
