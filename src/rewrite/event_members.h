// EventMembers: where the members of one event and of its args stand in the text, to the byte. For edits that leave every other
// byte as it is. Takes valid JSON alone; an event that needs mending is not for editing in place.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ingest/event_text.h"

namespace ridge {

struct MemberPlace {
  std::string_view key;         // content of the key string, not decoded
  const char* begin = nullptr;  // at the key's quote
  const char* value = nullptr;  // at the value's first byte
  const char* end = nullptr;    // past the value
  ValueType type = ValueType::null;

  std::string_view text() const { return {value, static_cast<std::size_t>(end - value)}; }
};

struct EventMembers {
  enum class Args : std::uint8_t {
    none,
    object,
    odd,  // not an object, or more than one: nothing can be added to it
  };

  std::vector<MemberPlace> members;  // args included
  std::vector<MemberPlace> args;     // when Args::object
  Args args_form = Args::none;
  const char* args_open = nullptr;  // at its `{`
  const char* begin = nullptr;
  const char* end = nullptr;  // past the event's `}`
};

// The event whose `{` is at p, which must end before `end`. False when it is not valid, or nothing but whole.
// `end` is followed by kPadding readable bytes.
bool cut_members(const char* p, const char* end, EventMembers* event);

}  // namespace ridge
