// What is inside JSON strings and nested values: decoding with repair, and validation. Runs once per distinct text, not per
// event.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "trace/diagnostics.h"

namespace ridge {

// A set of reasons for which a text had to be mended.
struct Repairs {
  std::uint64_t bits = 0;

  void add(Problem problem) { bits |= std::uint64_t{1} << static_cast<unsigned>(problem); }
  void remove(Problem problem) { bits &= ~(std::uint64_t{1} << static_cast<unsigned>(problem)); }
  void add(Repairs other) { bits |= other.bits; }
  bool any() const { return bits != 0; }
  bool has(Problem problem) const { return (bits >> static_cast<unsigned>(problem) & 1) != 0; }
};
static_assert(kProblems <= 64, "Repairs holds a bit per Problem");

// Whether a string's content is its own meaning: printable ASCII without a backslash.
bool is_plain_text(std::string_view raw);

// The text of a string's content (without its quotes). Always gives valid UTF-8.
// A string that holds an escape unknown to JSON is taken to be unescaped altogether (Windows paths: torch\cuda\nn): all its
// backslashes stay as they are, but for \" and \\ and \/.
Repairs decode_string(std::string_view raw, std::string* out);

// Whether a string's content means `text`, with escapes or without.
bool is_written_as(std::string_view raw, std::string_view text);

// `raw` without the spaces between its tokens; false (and `out` unspecified) when it is no valid JSON value.
// Depth is limited by memory alone: one bit a level.
bool compact_json(std::string_view raw, std::string* out);

enum class JsonState : std::uint8_t { whole, unfinished, invalid };

// Whether a text is a JSON value, or the start of one. Nesting below `deepest` counts as invalid.
JsonState check_json(std::string_view raw, std::size_t deepest);

}  // namespace ridge
