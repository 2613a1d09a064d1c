// The frame of a trace that is written anew: metadata, then the events, one after another.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ridge {

using RawMembers = std::vector<std::pair<std::string, std::string>>;  // key and value as they stand in a file

// `{`, the members that are valid JSON (but no second "traceEvents"), and the start of the events.
std::string trace_head(const RawMembers& members);
std::string trace_tail();

// What stands before an event: nothing but a new line before the first one, a comma before any other.
inline std::string_view before_event(bool first) { return first ? "\n  " : ",\n  "; }

bool is_valid_json(std::string_view raw);

}  // namespace ridge
