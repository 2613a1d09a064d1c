// What every event has, one function each: the values of the columns that the tables of events share.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "trace/trace.h"

namespace ridge::schema {

inline std::optional<std::string_view> text_or_null(const Trace& t, StringId id) {
  return id == StringId{} ? std::nullopt : std::optional(t.text(id));
}

inline std::optional<std::int64_t> event_id(const Trace&, EventId event) { return event.value; }
inline std::optional<std::string_view> event_cat(const Trace& t, EventId event) { return text_or_null(t, t.kind(event).cat); }
// Of an event that has none, and of one whose name is empty, the empty text. The end of a pair needs no name: null.
inline std::optional<StringId> event_name_id(const Trace& t, EventId event) {
  const StringId name = t.events.name(event);
  return name == StringId{} && t.kind(event).phase == 'E' ? std::nullopt : std::optional(name);
}
inline std::optional<std::string_view> event_name(const Trace& t, EventId event) {
  const auto id = event_name_id(t, event);
  return id ? std::optional(t.text(*id)) : std::nullopt;
}
inline std::optional<std::int64_t> event_track(const Trace& t, EventId event) { return t.track(event).value; }
inline std::optional<std::int64_t> event_ts(const Trace& t, EventId event) {
  const std::int64_t ts = t.events.ts_ns(event);
  return ts == kNoTime ? std::nullopt : std::optional(ts);
}
// Times are far from the limits of int64 (base/time_limits.h), so that a difference is one too.
inline std::optional<std::int64_t> event_start(const Trace& t, EventId event) {
  const auto ts = event_ts(t, event);
  return ts && t.window ? std::optional(*ts - t.window->start_ns) : std::nullopt;
}
// What its form tells of an event.
inline std::optional<std::string_view> form_ph(const Trace& t, FormId form) { return t.text(t.forms.kind(form).ph); }
inline std::optional<std::string_view> form_cat(const Trace& t, FormId form) { return text_or_null(t, t.forms.kind(form).cat); }
inline std::optional<std::string_view> form_class(const Trace& t, FormId form) {
  return name_of(t.forms.kind(form).event_class);
}
inline std::optional<std::int64_t> form_track(const Trace& t, FormId form) { return t.forms.form(form).track.value; }

inline std::optional<std::int64_t> event_dur(const Trace& t, EventId event) { return t.events.dur_ns(event); }

}  // namespace ridge::schema
