// A strict cut: the first thing that is not valid JSON ends it.
#include "rewrite/event_members.h"

#include <optional>

#include "ingest/number.h"
#include "ingest/scan.h"

namespace ridge {
namespace {

bool ends_token(char c) { return c == ',' || c == '}' || c == ']' || is_space(c); }

std::optional<ValueType> literal_type(std::string_view token) {
  if (token == "true") return ValueType::true_value;
  if (token == "false") return ValueType::false_value;
  if (token == "null") return ValueType::null;
  if (is_json_number(token)) return ValueType::number;
  return std::nullopt;
}

// Past the value at p; nullptr when there is none.
const char* skip_value(const char* p, const char* end, ValueType* type) {
  if (p >= end) return nullptr;
  if (*p == '"') {
    *type = ValueType::string;
    return skip_string(p + 1, end);
  }
  if (*p == '[' || *p == '{') {
    *type = ValueType::nested;
    return skip_nested(p, end);
  }
  const char* after = p;
  while (after < end && !ends_token(*after)) ++after;
  const auto literal = literal_type({p, static_cast<std::size_t>(after - p)});
  if (!literal) return nullptr;
  *type = *literal;
  return after;
}

// The members of the object whose `{` is at p; returns past its `}`, nullptr when it is not valid.
const char* cut_object(const char* p, const char* end, std::vector<MemberPlace>* members) {
  p = skip_space(p + 1, end);
  if (p < end && *p == '}') return p + 1;
  for (;;) {
    if (p >= end || *p != '"') return nullptr;
    MemberPlace member;
    member.begin = p;
    const char* after_key = skip_string(p + 1, end);
    if (after_key == nullptr) return nullptr;
    member.key = {p + 1, static_cast<std::size_t>(after_key - p - 2)};
    p = skip_space(after_key, end);
    if (p >= end || *p != ':') return nullptr;
    member.value = skip_space(p + 1, end);
    member.end = skip_value(member.value, end, &member.type);
    if (member.end == nullptr) return nullptr;
    members->push_back(member);
    p = skip_space(member.end, end);
    if (p >= end) return nullptr;
    if (*p == '}') return p + 1;
    if (*p != ',') return nullptr;
    p = skip_space(p + 1, end);
  }
}

}  // namespace

bool cut_members(const char* p, const char* end, EventMembers* event) {
  event->members.clear();
  event->args.clear();
  event->args_form = EventMembers::Args::none;
  event->args_open = nullptr;
  event->begin = p;
  if (p >= end || *p != '{') return false;
  event->end = cut_object(p, end, &event->members);
  if (event->end == nullptr || event->members.empty()) return false;
  for (const MemberPlace& member : event->members) {
    if (member.key != "args") continue;
    event->args.clear();  // the last of several counts, as in the reader
    const bool object = *member.value == '{';
    event->args_form = object ? EventMembers::Args::object : EventMembers::Args::odd;
    event->args_open = object ? member.value : nullptr;
    if (object && cut_object(member.value, member.end, &event->args) != member.end) return false;
  }
  return true;
}

}  // namespace ridge
