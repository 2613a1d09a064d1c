// EventText: one event's text cut into members, its args flattened beside them. Two cutters give it: the strict one takes what
// is valid JSON; the lenient one takes a damaged event apart and mends what it can. Neither decodes anything.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ingest/json_text.h"

namespace ridge {

enum class ValueType : std::uint8_t { string, number, nested, true_value, false_value, null, non_finite };

struct Member {
  std::string_view key;    // content of the key string, not decoded
  std::string_view value;  // a string without its quotes; anything else as it stands
  ValueType type;
  bool in_args;
};

struct EventText {
  std::vector<Member> members;
  const char* begin = nullptr;  // at its `{`
  const char* end = nullptr;    // past its `}`
  Repairs repairs;

  void clear(const char* at) {
    members.clear();
    begin = end = at;
    repairs = {};
  }
};

enum class Cut : std::uint8_t {
  ok,
  need_more,  // the text ends inside the event, without an error before
  damaged,
};

// `p` is at `{`.
Cut cut_strict(const char* p, const char* end, EventText* event);

// The same for a damaged event that ends at or before `end`, the start of the next one. False when it cannot be mended.
bool cut_lenient(const char* p, const char* end, EventText* event);

// Whether an event starts at `brace`, from the look of it: a brace that follows `}` and a comma (not before `begin`), and opens
// with a key. Nothing that valid JSON holds inside a string looks like that.
bool starts_event(const char* brace, const char* begin, const char* end);

// The last such start in [from, end); nullptr when there is none.
const char* find_last_event_start(const char* from, const char* end);

}  // namespace ridge
