// Renumbering: writes the events of one input as events of the combined trace, by the plan. Bytes that hold no number of ours
// stay.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rewrite/blocks.h"
#include "rewrite/combine_plan.h"
#include "rewrite/event_members.h"

namespace ridge {

// Const use from several threads is fine.
class Renumbering {
 public:
  Renumbering(const Trace& trace, const InputPlan& plan);

  // Appends the event that stands in [p, end). Mended first where it is damaged; `null` where it cannot be.
  void append(EventId event, const char* p, const char* end, std::string* out) const;

 private:
  void append(EventId event, const EventMembers& members, std::string* out) const;
  // The new text of a value, into `text`; false when it stays as it is.
  bool new_member(EventId event, const MemberPlace& member, std::string* text) const;
  bool new_argument(EventId event, const MemberPlace& member, bool host_memory, std::string* text) const;
  bool new_id(ArgKey key, bool of_event, const MemberPlace& member, std::string* text) const;

  const Trace& trace_;
  const InputPlan& plan_;
  std::vector<std::string> pid_of_track_;  // as JSON; empty: as it is
};

}  // namespace ridge
