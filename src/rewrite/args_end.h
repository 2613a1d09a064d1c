// Where new members go into an event's args, found without cutting the event into its members: what an edit of a million plain
// events asks for. An order of magnitude faster than cut_members(), which takes those that this leaves.
#pragma once

namespace ridge {

struct ArgsEnd {
  const char* at = nullptr;  // behind the last member, or behind the `{` where there is none; nullptr: not found
  bool empty = false;        // there is no member
};

// Of the event whose `{` is at p and whose `}` stands before `end`. The event must be valid JSON: where it is not, the answer
// means nothing. Found where args are the event's last member, as profilers write it, and an object, and no backslash stands in
// the event: quotes then come in pairs. `end` is followed by kPadding readable bytes.
ArgsEnd find_args_end(const char* p, const char* end);

}  // namespace ridge
