// Each member as the lenient cutter has it, decoded and written again.
#include "rewrite/mended_event.h"

#include <ridge/json.h>

#include "ingest/event_text.h"
#include "ingest/json_text.h"
#include "ingest/scan.h"
#include "rewrite/event_members.h"

namespace ridge {
namespace {

void append_decoded(std::string_view raw, std::string* out) {
  std::string text;
  decode_string(raw, &text);
  append_json_string(*out, text);
}

void append_value(const Member& member, std::string* out) {
  std::string compact;
  switch (member.type) {
    case ValueType::string: append_decoded(member.value, out); break;
    case ValueType::non_finite: out->append("null"); break;
    case ValueType::nested:
      if (compact_json(member.value, &compact)) {
        out->append(member.value);
      } else {
        append_decoded(member.value, out);
      }
      break;
    default: out->append(member.value); break;
  }
}

void append_members(const EventText& event, bool in_args, std::string* out) {
  bool first = true;
  for (const Member& member : event.members) {
    if (member.in_args != in_args) continue;
    if (!first) out->append(", ");
    first = false;
    append_decoded(member.key, out);
    out->append(": ");
    append_value(member, out);
  }
}

}  // namespace

bool append_mended(const char* p, const char* end, std::string* out) {
  EventText event;
  std::string closed;
  if (!cut_lenient(p, end, &event)) {  // the reader saw what came behind it, and knew by that where a brace was missing
    closed.assign(p, end).append("}}").append(kPadding, '\0');
    event = {};
    if (!cut_lenient(closed.data(), closed.data() + closed.size() - kPadding, &event)) return false;
  }
  out->append("{");
  append_members(event, false, out);
  const bool has_args = !event.members.empty() && event.members.back().in_args;
  std::string args;
  append_members(event, true, &args);
  if (has_args || !args.empty()) out->append(", \"args\": {").append(args).append("}");
  out->append("}");
  return true;
}

void append_valid_event(const char* p, const char* end, std::string* out) {
  EventMembers event;
  if (cut_members(p, end, &event)) {
    out->append(event.begin, static_cast<std::size_t>(event.end - event.begin));
  } else if (!append_mended(p, end, out)) {
    out->append("null");
  }
}

}  // namespace ridge
