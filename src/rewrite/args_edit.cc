// Copies up to each member that goes, skips it with one comma, and adds the new ones behind the last that stays.
#include "rewrite/args_edit.h"

#include <algorithm>

#include "ingest/json_text.h"

namespace ridge {
namespace {

bool is_one_of(std::string_view raw_key, std::span<const std::string_view> keys) {
  if (std::find(keys.begin(), keys.end(), raw_key) != keys.end()) return true;
  if (is_plain_text(raw_key)) return false;
  std::string key;
  decode_string(raw_key, &key);
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

void append_between(const char* from, const char* to, std::string* out) {
  out->append(from, static_cast<std::size_t>(to - from));
}

}  // namespace

bool append_with_args(const EventMembers& event, std::span<const std::string_view> keys, std::string_view members,
                      std::string* out) {
  if (event.args_form == EventMembers::Args::odd) return false;
  if (event.args_form == EventMembers::Args::none) {
    const char* last = event.members.back().end;
    append_between(event.begin, last, out);
    if (!members.empty()) out->append(", \"args\": {").append(members).append("}");
    append_between(last, event.end, out);
    return true;
  }

  const std::vector<MemberPlace>& args = event.args;
  const char* copied = event.begin;   // all before it is in `out`
  const MemberPlace* kept = nullptr;  // the last one that stays
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (!is_one_of(args[i].key, keys)) {
      append_between(copied, args[i].end, out);
      copied = args[i].end;
      kept = &args[i];
      continue;
    }
    // With the comma before it where something stays before it, else with the comma behind it.
    if (kept == nullptr) append_between(copied, args[i].begin, out);
    copied = kept == nullptr && i + 1 < args.size() ? args[i + 1].begin : args[i].end;
  }
  // Members taken out behind the last that stays are skipped already; what is new follows it.
  if (kept == nullptr && args.empty()) {
    append_between(copied, event.args_open + 1, out);
    copied = event.args_open + 1;
  }
  if (!members.empty()) out->append(kept != nullptr ? ", " : "").append(members);
  append_between(copied, event.end, out);
  return true;
}

}  // namespace ridge
