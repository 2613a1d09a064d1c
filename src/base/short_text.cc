// How much of a text stays, and the mark behind it.
#include "base/short_text.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include <fmt/format.h>

#include <ridge/json.h>

#include "base/utf8.h"

namespace ridge {
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

// The end of the escape or character at `at`.
std::size_t next_character(std::string_view written, std::size_t at) {
  if (written[at] == '\\') return at + (written.substr(at).starts_with("\\u") ? 6 : 2);
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; };
  do {
    ++at;
  } while (at < written.size() && continues(written[at]));
  return at;
}

}  // namespace

// An escape stands for one byte: only controls, quotes and backslashes are written as one.
Kept kept_of(std::string_view written, std::size_t longest) {
  const std::size_t most = longest - std::min(longest, kMarkBytes);
  Kept kept;
  for (std::size_t next; (next = next_character(written, kept.written)) <= most;) {
    kept.bytes += written[kept.written] == '\\' ? 1 : next - kept.written;
    kept.written = next;
  }
  return kept;
}

std::string mark_of(std::string_view text, Kept kept) {
  return fmt::format(" [{} bytes more, {:016x}]", text.size() - kept.bytes, digest(text));
}

std::string short_text(std::string_view text, std::size_t longest) {
  std::string valid = valid_utf8(text);
  std::string written;
  append_json_string(written, valid);
  written = written.substr(1, written.size() - 2);
  if (written.size() <= longest) return valid;
  const Kept kept = kept_of(written, longest);
  return valid.substr(0, kept.bytes) + "\u2026" + mark_of(valid, kept);
}

}  // namespace ridge
