// Which members hold a number that changes, and its new text; all other bytes are copied.
#include "rewrite/renumbering.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include <ridge/json.h>

#include "base/json_numbers.h"
#include "base/time_limits.h"
#include "ingest/scan.h"
#include "rewrite/mended_event.h"

namespace ridge {
namespace {

std::string_view text_of(ArgKey key) { return arg_key_texts()[static_cast<std::size_t>(key)]; }

std::optional<std::int64_t> integer_of(const MemberPlace& member) {
  if (member.type != ValueType::number) return std::nullopt;
  std::int64_t value = 0;
  const auto [stop, error] = std::from_chars(member.value, member.end, value);
  return error == std::errc{} && stop == member.end ? std::optional(value) : std::nullopt;
}

bool is_host_memory(EventClass c, const EventMembers& event) {
  if (c != EventClass::memory) return false;
  return std::any_of(event.args.begin(), event.args.end(), [](const MemberPlace& m) {
    return m.key == text_of(ArgKey::device_type) && integer_of(m) == kHostDeviceType;
  });
}

}  // namespace

Renumbering::Renumbering(const Trace& trace, const InputPlan& plan) : trace_(trace), plan_(plan) {
  for (const Track& track : trace.forms.tracks()) {
    std::string& text = pid_of_track_.emplace_back();
    if (track.pid.type == TrackPart::Type::absent) continue;
    const Pid pid = pid_of(trace, track.pid);
    const auto found = plan.pids.find(pid);
    if (found == plan.pids.end() || found->second == pid) continue;
    if (found->second.is_text) {
      append_json_string(text, found->second.text);
    } else {
      text = std::to_string(found->second.number);
    }
  }
}

bool Renumbering::new_id(ArgKey key, bool of_event, const MemberPlace& member, std::string* text) const {
  for (const IdKey& row : id_keys()) {
    if (row.key != key || row.member != of_event) continue;
    const std::int64_t add = plan_.add[static_cast<std::size_t>(row.space)];
    const auto value = integer_of(member);
    if (add == 0 || !value || *value < row.lowest) return false;
    *text = std::to_string(*value + add);
    return true;
  }
  return false;
}

bool Renumbering::new_member(EventId event, const MemberPlace& member, std::string* text) const {
  if (member.key == "pid") {
    *text = pid_of_track_[trace_.track(event).value];
    return !text->empty();
  }
  if (member.key == "ts") {
    const std::int64_t ts = trace_.events.ts_ns(event);
    std::int64_t moved = 0;
    if (plan_.add_ns == 0 || ts == kNoTime || __builtin_add_overflow(ts, plan_.add_ns, &moved)) return false;
    // A time that no reader would take (the 0 of a process's name, say, among times since the epoch) stays: the event would be
    // lost.
    if (moved < kEarliestTimeNs || moved > kLatestTimeNs) return false;
    text->clear();
    append_json_us(*text, moved);
    return true;
  }
  if (member.key != text_of(ArgKey::id)) return false;
  if (member.type == ValueType::string && plan_.number > 1) {
    text->assign(member.value, static_cast<std::size_t>(member.end - member.value - 1));
    text->append(" ").append(std::to_string(plan_.number)).append("\"");
    return true;
  }
  return new_id(ArgKey::id, true, member, text);
}

bool Renumbering::new_argument(EventId event, const MemberPlace& member, bool host_memory, std::string* text) const {
  const EventClass c = trace_.kind(event).event_class;
  for (const IdKey& row : id_keys()) {
    if (!row.member && text_of(row.key) == member.key) return new_id(row.key, false, member, text);
  }
  for (const DeviceKey& row : device_keys()) {
    if (row.event_class != c || text_of(row.key) != member.key || host_memory) continue;
    const auto device = integer_of(member);
    if (!device || plan_.device(*device) == *device) return false;
    *text = std::to_string(plan_.device(*device));
    return true;
  }
  // The label of a device's tracks, "GPU 0".
  if (c == EventClass::metadata && member.key == "labels") {
    const TrackPart& pid = trace_.forms.track(trace_.track(event)).pid;
    const bool of_device = pid.type == TrackPart::Type::integer && plan_.devices.contains(pid.value) &&
                           member.text() == "\"GPU " + std::to_string(pid.value) + "\"";
    const auto found = plan_.pids.find(Pid{.number = pid.value});
    if (!of_device || found == plan_.pids.end() || found->second.is_text) return false;
    *text = "\"GPU " + std::to_string(found->second.number) + "\"";
    return true;
  }
  return false;
}

void Renumbering::append(EventId event, const EventMembers& members, std::string* out) const {
  const char* copied = members.begin;
  std::string text;
  const auto replace = [&](const MemberPlace& member) {
    out->append(copied, static_cast<std::size_t>(member.value - copied)).append(text);
    copied = member.end;
  };
  for (const MemberPlace& member : members.members) {
    if (member.value == members.args_open && members.args_open != nullptr) {
      const bool host_memory = is_host_memory(trace_.kind(event).event_class, members);
      for (const MemberPlace& argument : members.args) {
        if (new_argument(event, argument, host_memory, &text)) replace(argument);
      }
    } else if (new_member(event, member, &text)) {
      replace(member);
    }
  }
  out->append(copied, static_cast<std::size_t>(members.end - copied));
}

void Renumbering::append(EventId event, const char* p, const char* end, std::string* out) const {
  EventMembers members;
  if (cut_members(p, end, &members)) {
    append(event, members, out);
    return;
  }
  std::string mended;
  if (!append_mended(p, end, &mended)) {
    out->append("null");
    return;
  }
  const std::size_t size = mended.size();
  mended.append(kPadding, '\0');
  if (cut_members(mended.data(), mended.data() + size, &members)) append(event, members, out);
}

}  // namespace ridge
