// Adds members to the args of one event and takes out older ones of the same keys. Every other byte stays as it is, so that the
// same edit made twice gives the same text, and taking the members out again gives back what was there before.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "rewrite/event_members.h"

namespace ridge {

// Appends the event to `out` with `members` (text of members, without braces; may be empty) as the last ones of its args and
// without any older member of `keys`. False, with nothing appended, when its args can hold none.
bool append_with_args(const EventMembers& event, std::span<const std::string_view> keys, std::string_view members,
                      std::string* out);

}  // namespace ridge
