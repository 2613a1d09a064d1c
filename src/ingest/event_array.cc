// Most of it is about damage: an intact event takes the fast path at the top of element().
#include "ingest/event_array.h"

#include <algorithm>
#include <cstring>

#include "ingest/number.h"
#include "ingest/scan.h"

namespace ridge {
namespace {

// How much of an element is looked at before it is asked whether it swallowed others; doubled each time.
constexpr std::ptrdiff_t kFirstLook = LayoutTrie::kLongestEvent;
// An element with so many events inside is not one event: a bracket or quote of it is missing.
constexpr int kMostSwallowed = 16;
// Unless it is valid JSON so far, and no deeper than this. An event that is not closed is followed by others a level deeper
// each, so that no byte is looked at from more events than this.
constexpr std::size_t kDeepestBelieved = 32;
// How far an event is looked at from within a damaged stretch: bytes, or braces inside it, of which those that open like an
// event weigh more.
constexpr std::ptrdiff_t kViewBytes = 64 << 10;
constexpr int kViewBraces = 24;
constexpr int kEventBraceWeight = 4;

constexpr std::string_view kFirstKeys[] = {"\"ph\"",  "\"name\"", "\"cat\"",  "\"pid\"", "\"tid\"", "\"ts\"",
                                           "\"dur\"", "\"id\"",   "\"args\"", "\"bp\"",  "\"s\""};
constexpr std::ptrdiff_t kLongestFirstKey = 6;

bool opens_like_event(const char* brace, const char* end) {
  const char* key = skip_space(brace + 1, end);
  if (key >= end || *key != '"') return false;
  const std::string_view text(key, static_cast<std::size_t>(end - key));
  return std::any_of(std::begin(kFirstKeys), std::end(kFirstKeys), [&](std::string_view k) { return text.starts_with(k); });
}

bool has_phase(const EventText& event) {
  return std::any_of(event.members.begin(), event.members.end(),
                     [](const Member& m) { return !m.in_args && m.key == "ph" && m.type == ValueType::string; });
}

bool follows_comma(const char* brace, const char* begin) {
  const char* const from = brace;
  while (brace > begin && is_space(brace[-1])) --brace;
  visited(from, brace);
  return brace > begin && brace[-1] == ',';
}

const char* skip_token(const char* p, const char* end) {
  const char* const from = p;
  while (p < end && *p != ',' && *p != ']' && *p != '}' && !is_space(*p)) ++p;
  visited(from, p);
  return p < end ? p : nullptr;
}

bool is_json(const char* from, const char* to) {
  return check_json({from, static_cast<std::size_t>(to - from)}, SIZE_MAX) == JsonState::whole;
}

// Whether it is valid JSON so far, though perhaps with more to come.
bool may_be_json(const char* from, const char* to) {
  return check_json({from, static_cast<std::size_t>(to - from)}, kDeepestBelieved) != JsonState::invalid;
}

// What no file has behind the bracket of its events. Words behind a space are no damage of an event: something was written
// behind the end.
bool goes_on_as_no_file(const char* behind) {
  if (*behind == '}' || *behind == '[') return false;
  return *behind == '"' || *behind == ':' || behind[-1] == ']';
}

const char* find_brace(const char* p, const char* end) {
  if (p >= end) return nullptr;
  const auto* const brace = static_cast<const char*>(std::memchr(p, '{', static_cast<std::size_t>(end - p)));
  visited(p, brace != nullptr ? brace : end);
  return brace;
}

}  // namespace

EventArrayParser::EventArrayParser(FormTable* forms, StringPool* strings, ArrayOptions options)
    : texts_(strings), builder_(forms, strings, &texts_), layout_(forms, &texts_), options_(options) {}

ArrayProgress EventArrayParser::parse(const Piece& piece, Between between, EventRun* run, Diagnostics* diagnostics) {
  piece_ = piece;
  p_ = piece.begin;
  progress_ = {.between = between};
  run_ = run;
  diagnostics_ = diagnostics;
  for (Next& next : remembered_) next = {};
  while (step()) {
  }
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
      if (progress_.between == Between::after_comma) diagnostics_->add(Problem::trailing_comma, offset(p_));
      progress_.between = Between::after_comma;
      ++p_;
      return true;
    case ']': return close_bracket();
    case '}': return stray_or_end();
    default: return other_element();
  }
}

// How far an event at `brace` is looked at.
const char* EventArrayParser::view_of(const char* brace) const {
  const char* const limit = piece_.end - brace > kViewBytes ? brace + kViewBytes : piece_.end;
  int braces = 0;
  for (const char* p = find_brace(brace + 1, limit); p != nullptr; p = find_brace(p + 1, limit)) {
    braces += opens_like_event(p, piece_.end) ? kEventBraceWeight : 1;
    if (braces >= kViewBraces) return p + 1;
  }
  return limit;
}

// Whether an event stands at `brace`, seen from within a damaged stretch.
EventArrayParser::Seen EventArrayParser::look_at(const char* brace) {
  const char* const limit = view_of(brace);
  switch (cut_strict(brace, limit, &looked_at_)) {
    case Cut::ok: return has_phase(looked_at_) ? Seen::intact : Seen::nothing;
    case Cut::damaged: return Seen::damaged;
    default: return limit == piece_.end && !piece_.last ? Seen::cut_off : Seen::open;
  }
}

// Whether a damaged event at `brace` can be mended as it stands, where its place alone does not show that it is one.
EventArrayParser::Seen EventArrayParser::look_closer(const char* brace) {
  const char* const limit = view_of(brace);
  if (limit == piece_.end && !piece_.last) return Seen::cut_off;  // which quote ends a text may depend on what follows
  const bool mended = opens_like_event(brace, piece_.end) && cut_lenient(brace, limit, &looked_at_) && has_phase(looked_at_) &&
                      !looked_at_.repairs.has(Problem::missing_brace);
  return mended ? Seen::intact : Seen::damaged;
}

// The first event that starts in [from, end). `open_too`: also one that stands where events do but does not end within view.
EventArrayParser::Next EventArrayParser::find_next(const char* from, const char* end, Accept accept) {
  Next next{.from = from};
  for (const char* p = find_brace(from, end); p != nullptr; p = find_brace(p + 1, end)) {
    const bool key_in_view = piece_.end - skip_space(p + 1, piece_.end) >= kLongestFirstKey;
    if (!key_in_view && !piece_.last) {
      next.cut_off = p;
      return next;
    }
    const bool in_place = starts_event(p, from, piece_.end);
    if (!in_place && !opens_like_event(p, piece_.end)) continue;
    Seen seen = look_at(p);
    if (seen == Seen::damaged && !in_place && follows_comma(p, piece_.begin)) seen = look_closer(p);
    if (seen == Seen::cut_off) {
      next.cut_off = p;
      return next;
    }
    if (seen == Seen::intact || (in_place && (seen == Seen::damaged || (seen == Seen::open && accept == Accept::open_too)))) {
      next.event = p;
      return next;
    }
  }
  return next;
}

// The same up to the end of the piece. What lies between the last search and what it found need not be searched again.
EventArrayParser::Next EventArrayParser::remembered_next(const char* from, Accept accept) {
  Next& known = remembered_[static_cast<std::size_t>(accept)];
  const char* const known_to = known.event != nullptr ? known.event : known.cut_off != nullptr ? known.cut_off : piece_.end;
  if (known.from == nullptr || from < known.from || from > known_to) known = find_next(from, piece_.end, accept);
  return known;
}

bool EventArrayParser::find_the_way() {
  const Next next = find_next(p_, piece_.end, Accept::readable);
  p_ = next.event != nullptr ? next.event : next.cut_off != nullptr ? next.cut_off : piece_.end;
  if (next.event != nullptr) progress_.between = Between::after_comma;
  return next.event != nullptr;
}

// What follows a `]` at p, if it closes the array: further members of the object around it, and its brace. A bracket that is
// left over from a damaged event is followed by the rest of that event, whose braces close more than is open.
EventArrayParser::Closes EventArrayParser::closes_before(const char* p) const {
  const char* const limit = piece_.end - p > kFirstLook ? p + kFirstLook : piece_.end;
  const Closes unseen = limit == piece_.end && !piece_.last ? Closes::cut_off : Closes::well;
  for (bool more = true; more;) {
    p = skip_space(p, limit);
    if (p >= limit) return unseen;
    more = *p == ',';
    if (!more) break;
    p = skip_space(p + 1, limit);
    if (p >= limit) return unseen;
    if (*p != '"') return Closes::well;
    const char* after = skip_string(p + 1, limit);
    if (after == nullptr) return unseen;
    p = skip_space(after, limit);
    if (p >= limit) return unseen;
    if (*p != ':') return Closes::well;
    p = skip_space(p + 1, limit);
    if (p >= limit) return unseen;
    after = *p == '"' ? skip_string(p + 1, limit) : *p == '[' || *p == '{' ? skip_nested(p, limit) : skip_token(p, limit);
    if (after == nullptr) return unseen;
    p = after;
  }
  if (*p != '}') return Closes::well;
  p = skip_space(p + 1, limit);
  if (p >= limit) return unseen;
  return *p == '}' || *p == ',' || *p == ']' ? Closes::too_soon : Closes::well;
}

bool EventArrayParser::close_bracket() {
  const char* after = p_;
  while (after < piece_.end && (*after == ']' || is_space(*after))) ++after;
  visited(p_, after);
  const char* const behind = after;
  const bool comma = after < piece_.end && *after == ',';
  if (comma) after = skip_space(after + 1, piece_.end);
  if (after >= piece_.end && !piece_.last) return false;
  if (after < piece_.end && *after == '{') {  // nothing in a valid file, but perhaps an event behind a stray bracket
    Seen seen = look_at(after);
    if (seen == Seen::damaged) seen = look_closer(after);
    if (seen == Seen::cut_off) return false;
    if (seen == Seen::intact) return lose(Problem::garbage_between_events, p_);
  } else if (after < piece_.end &&
             (comma ? *after != '"' : goes_on_as_no_file(after))) {  // nor this: a damaged event's, if others follow
    const Next next = remembered_next(p_, Accept::readable);
    if (next.event != nullptr) return lose(Problem::garbage_between_events, p_);
    if (wait_for_more()) return false;
  } else if (const Closes closes = closes_before(behind); closes != Closes::well) {
    if (closes == Closes::cut_off && wait_for_more()) return false;
    const Next next = closes == Closes::too_soon ? remembered_next(p_, Accept::readable) : Next{};
    if (next.event != nullptr) return lose(Problem::garbage_between_events, p_);
    if (closes == Closes::too_soon && wait_for_more()) return false;
  }
  if (progress_.between == Between::after_comma) diagnostics_->add(Problem::trailing_comma, offset(p_));
  ++p_;
  progress_.closed = true;
  return false;
}

// A closing brace or a key in the array: it is left over from a damaged event when others follow, else the array was not
// closed.
bool EventArrayParser::stray_or_end() {
  const Next next = remembered_next(p_, Accept::readable);
  if (next.event != nullptr) return lose(Problem::garbage_between_events, p_);
  if (wait_for_more()) return false;
  diagnostics_->add(Problem::missing_bracket, offset(p_));
  progress_.closed = progress_.bracket_missing = true;
  return false;
}

bool EventArrayParser::element() {
  if (progress_.between == Between::after_event) {
    diagnostics_->add(Problem::missing_comma, offset(p_));
    progress_.between = Between::after_comma;
  }
  while (options_.fast_path) {
    const char* next = layout_.read(p_, piece_.end, run_);
    if (next == nullptr) break;
    note_place(p_, next);
    p_ = next;
    progress_.between = Between::after_comma;
  }
  if (p_ >= piece_.end || *p_ != '{') return true;

  for (std::ptrdiff_t look = kFirstLook;; look *= 2) {
    const char* limit = piece_.end - p_ > look ? p_ + look : piece_.end;
    const Cut cut = cut_strict(p_, limit, &event_);
    if (cut == Cut::damaged) return damaged_event();
    if (cut == Cut::ok) {
      const char* swallowed = swallowed_event();
      if (swallowed == nullptr) return keep(event_);
      return swallowed == piece_.end && wait_for_more() ? false : damaged_event();
    }
    if (piece_.end - p_ < look) return incomplete_element();
    if (has_swallowed_many(p_ + 1, limit) && !may_be_json(p_, limit)) return damaged_event();
    if (look >= kLargestElement) return lose(Problem::event_too_large, p_ + 1);
  }
}

// The text ends inside the element: it is cut, or damaged so that it swallows what follows.
bool EventArrayParser::incomplete_element() {
  if (!piece_.last) return false;
  if (remembered_next(p_ + 1, Accept::readable).event != nullptr && !is_cut(p_)) return damaged_event();
  diagnostics_->add(Problem::truncated_event, offset(p_));
  p_ = piece_.end;
  return false;
}

// Whether an event at `from` is valid as far as it goes: then it is cut at the end of the text, whatever lists of events it
// holds. Not if these are many, nor if it ends as a file does: the brackets that end the file have then closed a list of its
// own, and the events in it are others'.
bool EventArrayParser::is_cut(const char* from) {
  const char* to = piece_.end;
  if (!may_be_json(from, to) || has_swallowed_many(from + 1, to)) return false;
  while (to > from && is_space(to[-1])) --to;
  if (options_.bare) return to[-1] != ']';
  return to[-1] != '}' || check_json(std::string(from, to) + '}', SIZE_MAX) != JsonState::whole;
}

bool EventArrayParser::has_swallowed_many(const char* from, const char* end) {
  for (int count = 0; count < kMostSwallowed; ++count) {
    const Next next = find_next(from, end, Accept::readable);
    if (next.event == nullptr) return false;
    from = next.event + 1;
  }
  return true;
}

// An event inside a list or object of event_ that is not valid: its bracket or quote is missing and the one of a later event
// was taken for it. piece_.end when that cannot be told yet, nullptr when there is none.
const char* EventArrayParser::swallowed_event() {
  for (const Member& member : event_.members) {
    if (member.type != ValueType::nested || !texts_.json(member.value).repairs.any()) continue;
    const Next next = find_next(member.value.data() + 1, member.value.data() + member.value.size(), Accept::readable);
    if (next.event != nullptr) return next.event;
    if (next.cut_off != nullptr) return piece_.end;
  }
  return nullptr;
}

bool EventArrayParser::keep(const EventText& event) {
  if (builder_.add(event, offset(event.begin), run_, diagnostics_)) {
    note_place(event.begin, event.end);
    if (options_.fast_path) layout_.learn(event, builder_.recipe(), piece_.end);
  }
  p_ = event.end;
  progress_.between = Between::after_event;
  return true;
}

bool EventArrayParser::damaged_event() {
  const Next next = remembered_next(p_ + 1, Accept::open_too);
  if (next.event == nullptr && wait_for_more()) return false;
  const char* end = next.event != nullptr ? next.event : piece_.end;
  if (cut_lenient(p_, end, &event_) && has_phase(event_)) return keep(event_);
  return lose(Problem::unreadable_event, p_ + 1);
}

// Gives up what stands at p_ and goes on at the first event behind `from`.
bool EventArrayParser::lose(Problem problem, const char* from) {
  const Next next = remembered_next(from, Accept::readable);
  if (next.event == nullptr && wait_for_more()) return false;
  diagnostics_->add(problem, offset(p_));
  p_ = next.event != nullptr ? next.event : next.cut_off != nullptr ? next.cut_off : piece_.end;
  progress_.between = next.event != nullptr ? Between::after_comma : Between::lost;
  return true;
}

// Something in the array that does not open with a brace.
bool EventArrayParser::other_element() {
  switch (*p_) {
    case '[': return list_element();
    case '"': return string_element();
    default: return literal_element();
  }
}

// A list that closes before the next event, or a short valid one of whatever; else a stray bracket, which takes the events
// behind it for its own.
bool EventArrayParser::list_element() {
  const char* const end = piece_.end;
  const Next next = remembered_next(p_ + 1, Accept::readable);
  const char* const limit = next.event != nullptr ? next.event : next.cut_off;
  if (limit == nullptr) return pass_over(skip_nested(p_, end));
  if (const char* const after = skip_nested(p_, limit)) return pass_over(after);

  const char* const near = end - p_ > kFirstLook ? p_ + kFirstLook : end;
  const char* const after = skip_nested(p_, near);
  if (after == nullptr && near == end && wait_for_more()) return false;
  if (after == nullptr || !is_json(p_, after)) return lose(Problem::garbage_between_events, p_);
  // Where the list ends as the array of the events does, its bracket was that one's.
  const char* behind = skip_space(after, end);
  if (behind < end && *behind == ',') behind = skip_space(behind + 1, end);
  if (behind == end && wait_for_more()) return false;
  if (behind == end || *behind == '}' || *behind == '"') return lose(Problem::garbage_between_events, p_);
  return pass_over(after);
}

bool EventArrayParser::string_element() {
  const char* const after = skip_string(p_ + 1, piece_.end);
  const char* const behind = after != nullptr ? skip_space(after, piece_.end) : piece_.end;
  if (behind < piece_.end && *behind == ':') return stray_or_end();  // a key
  return pass_over(after);
}

bool EventArrayParser::literal_element() {
  const char* after = p_;
  while (after < piece_.end && *after != ',' && *after != ']' && *after != '}' && *after != '{' && !is_space(*after)) ++after;
  visited(p_, after);
  if (after == piece_.end && wait_for_more()) return false;
  const std::string_view token(p_, static_cast<std::size_t>(after - p_));
  const bool literal = token == "null" || token == "true" || token == "false" || is_json_number(token);
  return literal ? drop_element(after) : lose(Problem::garbage_between_events, p_);
}

// Drops the element that ends at `after` (nullptr: nowhere) if the text goes on there as an array does; else it is garbage.
bool EventArrayParser::pass_over(const char* after) {
  const char* const behind = after != nullptr ? skip_space(after, piece_.end) : piece_.end;
  if (behind == piece_.end && wait_for_more()) return false;
  const bool goes_on = after != nullptr && (behind == piece_.end || *behind == ',' || *behind == ']');
  return goes_on ? drop_element(after) : lose(Problem::garbage_between_events, p_);
}

// Counts what stands at p_ as valid, but no event, and goes on at `after`.
bool EventArrayParser::drop_element(const char* after) {
  diagnostics_->add(Problem::not_an_object, offset(p_));
  p_ = after;
  progress_.between = Between::after_event;
  return true;
}

}  // namespace ridge
