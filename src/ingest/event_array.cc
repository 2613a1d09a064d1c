// Most of it is about damage: an intact event takes the fast path at the top of element().
#include "ingest/event_array.h"

#include "ingest/number.h"
#include "ingest/scan.h"

namespace ridge {
namespace {

// How much of an element is looked at before it is asked whether it swallowed others; doubled each time.
constexpr std::ptrdiff_t kFirstLook = LayoutTrie::kLongestEvent;
// An element with many events inside is one event only where it is valid JSON so far, and no deeper than this. An event that is
// not closed is followed by others a level deeper each, so that no byte is looked at from more events than this.
constexpr std::size_t kDeepestBelieved = 32;

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

}  // namespace

EventArrayParser::EventArrayParser(FormTable* forms, StringPool* strings, ArrayOptions options)
    : texts_(strings), builder_(forms, strings, &texts_), layout_(forms, &texts_), options_(options) {}

ArrayProgress EventArrayParser::parse(const Piece& piece, Between between, EventRun* run, Diagnostics* diagnostics) {
  piece_ = piece;
  search_.begin(piece);
  p_ = piece.begin;
  progress_ = {.between = between};
  run_ = run;
  diagnostics_ = diagnostics;
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

bool EventArrayParser::find_the_way() {
  const Next next = search_.find(p_, piece_.end, Accept::readable);
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
    Seen seen = search_.look_at(after);
    if (seen == Seen::damaged) seen = search_.look_closer(after);
    if (seen == Seen::cut_off) return false;
    if (seen == Seen::intact) return lose(Problem::garbage_between_events, p_);
  } else if (after < piece_.end &&
             (comma ? *after != '"' : goes_on_as_no_file(after))) {  // nor this: a damaged event's, if others follow
    const Next next = search_.next(p_, Accept::readable);
    if (next.event != nullptr) return lose(Problem::garbage_between_events, p_);
    if (wait_for_more()) return false;
  } else if (const Closes closes = closes_before(behind); closes != Closes::well) {
    if (closes == Closes::cut_off && wait_for_more()) return false;
    const Next next = closes == Closes::too_soon ? search_.next(p_, Accept::readable) : Next{};
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
  const Next next = search_.next(p_, Accept::readable);
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
      const char* swallowed = search_.inside(event_, &texts_);
      if (swallowed == nullptr) return keep(event_);
      return swallowed == piece_.end && wait_for_more() ? false : damaged_event();
    }
    if (piece_.end - p_ < look) return incomplete_element();
    if (search_.has_many(p_ + 1, limit) && !may_be_json(p_, limit)) return damaged_event();
    if (look >= kLargestElement) return lose(Problem::event_too_large, p_ + 1);
  }
}

// The text ends inside the element: it is cut, or damaged so that it swallows what follows.
bool EventArrayParser::incomplete_element() {
  if (!piece_.last) return false;
  if (search_.next(p_ + 1, Accept::readable).event != nullptr && !is_cut(p_)) return damaged_event();
  diagnostics_->add(Problem::truncated_event, offset(p_));
  p_ = piece_.end;
  return false;
}

// Whether an event at `from` is valid as far as it goes: then it is cut at the end of the text, whatever lists of events it
// holds. Not if these are many, nor if it ends as a file does: the brackets that end the file have then closed a list of its
// own, and the events in it are others'.
bool EventArrayParser::is_cut(const char* from) {
  const char* to = piece_.end;
  if (!may_be_json(from, to) || search_.has_many(from + 1, to)) return false;
  while (to > from && is_space(to[-1])) --to;
  if (options_.bare) return to[-1] != ']';
  return to[-1] != '}' || check_json(std::string(from, to) + '}', SIZE_MAX) != JsonState::whole;
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
  const Next next = search_.next(p_ + 1, Accept::open_too);
  if (next.event == nullptr && wait_for_more()) return false;
  const char* end = next.event != nullptr ? next.event : piece_.end;
  if (cut_lenient(p_, end, &event_) && has_phase(event_)) return keep(event_);
  return lose(Problem::unreadable_event, p_ + 1);
}

// Gives up what stands at p_ and goes on at the first event behind `from`.
bool EventArrayParser::lose(Problem problem, const char* from) {
  const Next next = search_.next(from, Accept::readable);
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
  const Next next = search_.next(p_ + 1, Accept::readable);
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
