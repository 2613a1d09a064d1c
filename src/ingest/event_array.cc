#include "ingest/event_array.h"

#include <algorithm>
#include <cstring>

#include "ingest/number.h"
#include "ingest/scan.h"

namespace ridge {
namespace {

// An event inside which so many others seem to start is not one event: a bracket or quote of it is missing.
constexpr int kMostSwallowed = 4096;
// How much is tried to find an intact event inside a damaged stretch; beyond that only a plain event start counts.
constexpr int kMostTries = 32;
constexpr std::ptrdiff_t kTryBytes = 64 << 10;

constexpr std::string_view kFirstKeys[] = {"\"ph\"", "\"name\"", "\"cat\"", "\"pid\"", "\"tid\"", "\"ts\"", "\"dur\"", "\"id\""};

bool opens_like_event(const char* brace, const char* end) {
  const char* key = skip_space(brace + 1, end);
  const std::string_view text(key, static_cast<std::size_t>(end - key));
  return std::any_of(std::begin(kFirstKeys), std::end(kFirstKeys), [&](std::string_view k) { return text.starts_with(k); });
}

bool has_phase(const EventText& event) {
  return std::any_of(event.members.begin(), event.members.end(),
                     [](const Member& m) { return !m.in_args && m.key == "ph" && m.type == ValueType::string; });
}

}  // namespace

EventArrayParser::EventArrayParser(FormTable* forms, StringPool* strings, bool by_rote)
    : texts_(strings), builder_(forms, strings, &texts_), layout_(forms, &texts_), by_rote_(by_rote) {}

ArrayProgress EventArrayParser::parse(const Piece& piece, Between between, EventRun* run, Diagnostics* diagnostics) {
  piece_ = piece;
  p_ = piece.begin;
  progress_ = {.between = between};
  run_ = run;
  diagnostics_ = diagnostics;
  while (step()) piece_.give_up = false;
  progress_.stop = p_;
  return progress_;
}

bool EventArrayParser::step() {
  p_ = skip_space(p_, piece_.end);
  if (p_ >= piece_.end) return false;
  if (progress_.between == Between::lost) return find_the_way();
  switch (*p_) {
    case '{': return element();
    case ',':
      progress_.between = Between::after_comma;
      ++p_;
      return true;
    case ']':
      if (progress_.between == Between::after_comma) diagnostics_->add(Problem::trailing_comma, offset(p_));
      ++p_;
      progress_.closed = true;
      return false;
    case '}': return close_without_bracket();
    default: return other_element();
  }
}

bool EventArrayParser::find_the_way() {
  bool incomplete = false;
  const char* restart = opens_like_event(p_, piece_.end) && *p_ == '{' ? p_ : find_restart(p_, &incomplete);
  if (incomplete && more_may_come()) return false;
  p_ = restart != nullptr ? restart : piece_.end;
  if (restart != nullptr) progress_.between = Between::after_comma;
  return restart != nullptr;
}

bool EventArrayParser::close_without_bracket() {
  diagnostics_->add(Problem::missing_bracket, offset(p_));
  progress_.closed = progress_.bracket_missing = true;
  return false;
}

bool EventArrayParser::element() {
  if (progress_.between == Between::after_event) diagnostics_->add(Problem::missing_comma, offset(p_));
  while (by_rote_) {
    const char* next = layout_.read(p_, piece_.end, run_);
    if (next == nullptr) break;
    p_ = next;
    progress_.between = Between::after_comma;
  }
  if (p_ >= piece_.end || *p_ != '{') return true;

  const char* const begin = p_;
  const Cut cut = cut_strict(p_, piece_.end, &event_);
  if (cut == Cut::ok) return keep(event_);
  if (cut == Cut::damaged) return damaged_event();
  // The text ends inside the event: it is cut, or it is damaged so that it seems to swallow what follows.
  const char* start = find_event_start(begin + 1, piece_.end);
  if (piece_.give_up) {
    diagnostics_->add(Problem::event_too_large, offset(begin));
    p_ = start != nullptr ? start : piece_.end;
    progress_.between = start != nullptr ? Between::after_comma : Between::lost;
    return true;
  }
  if (piece_.last && start == nullptr) {
    diagnostics_->add(Problem::truncated_event, offset(begin));
    p_ = piece_.end;
    return false;
  }
  if (!piece_.last) {
    int swallowed = 0;
    for (const char* s = start; s != nullptr && swallowed < kMostSwallowed; s = find_event_start(s, piece_.end)) {
      ++swallowed;
      // The next start is looked for behind this one; it needs its own brace and comma in view.
      const char* close = static_cast<const char*>(std::memchr(s, '}', static_cast<std::size_t>(piece_.end - s)));
      if (close == nullptr) break;
      s = close;
    }
    if (swallowed < kMostSwallowed) return false;
  }
  return damaged_event();
}

bool EventArrayParser::keep(const EventText& event) {
  if (builder_.add(event, offset(event.begin), run_, diagnostics_) && by_rote_) layout_.learn(event, builder_.recipe(), piece_.end);
  p_ = event.end;
  progress_.between = Between::after_event;
  return true;
}

bool EventArrayParser::damaged_event() {
  const char* next = find_event_start(p_ + 1, piece_.end);
  if (next == nullptr && more_may_come()) return false;
  if (cut_lenient(p_, next != nullptr ? next : piece_.end, &event_) && has_phase(event_)) return keep(event_);
  return skip_to_restart(Problem::unreadable_event, p_ + 1);
}

bool EventArrayParser::skip_to_restart(Problem problem, const char* from) {
  bool incomplete = false;
  const char* restart = find_restart(from, &incomplete);
  if (more_may_come() && (incomplete || restart == nullptr)) return false;
  diagnostics_->add(problem, offset(p_));
  p_ = restart != nullptr ? restart : piece_.end;
  progress_.between = restart != nullptr ? Between::after_comma : Between::lost;
  return true;
}

// Whether an intact event stands at `brace`; *incomplete when the text is too short to tell.
bool EventArrayParser::is_event(const char* brace, bool* incomplete) {
  const char* limit = piece_.end - brace > kTryBytes ? brace + kTryBytes : piece_.end;
  EventText event;
  const Cut cut = cut_strict(brace, limit, &event);
  *incomplete = cut == Cut::need_more && limit == piece_.end && more_may_come();
  return cut == Cut::ok && has_phase(event);
}

// The next place at or after `from` where an event starts: behind `},`, or an intact one anywhere.
const char* EventArrayParser::find_restart(const char* from, bool* incomplete) {
  const char* plain = find_event_start(from, piece_.end);
  const char* end = plain != nullptr ? plain : piece_.end;
  int tries = 0;
  for (const char* p = from; p < end && tries < kMostTries; ++p) {
    p = static_cast<const char*>(std::memchr(p, '{', static_cast<std::size_t>(end - p)));
    if (p == nullptr) break;
    if (!opens_like_event(p, piece_.end)) continue;
    ++tries;
    if (is_event(p, incomplete)) return p;
    if (*incomplete) return nullptr;
  }
  return plain;
}

// Something in the array that does not open with a brace.
bool EventArrayParser::other_element() {
  const char* const begin = p_;
  const char* end = piece_.end;
  const char* after = nullptr;
  if (*p_ == '"' || *p_ == '[') {
    after = *p_ == '"' ? skip_string(p_ + 1, end) : skip_nested(p_, end);
    if (after == nullptr && more_may_come()) return false;
    if (after != nullptr && *begin == '"') {
      const char* colon = skip_space(after, end);
      if (colon >= end && more_may_come()) return false;
      if (colon < end && *colon == ':') return close_without_bracket();  // a key: the array was not closed
    }
  } else {
    after = p_;
    while (after < end && *after != ',' && *after != ']' && *after != '}' && *after != '{' && !is_space(*after)) ++after;
    if (after == end && more_may_come()) return false;
    const std::string_view token(p_, static_cast<std::size_t>(after - p_));
    const bool literal = token == "null" || token == "true" || token == "false" || is_json_number(token);
    if (!literal) after = nullptr;
  }
  if (after == nullptr) return skip_to_restart(Problem::garbage_between_events, begin);
  diagnostics_->add(Problem::not_an_object, offset(begin));
  p_ = after;
  progress_.between = Between::after_event;
  return true;
}

}  // namespace ridge
