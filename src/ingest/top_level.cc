// A byte-wise state machine; damaged metadata switches it to a plain search for "traceEvents".
#include "ingest/top_level.h"

#include "ingest/json_text.h"
#include "ingest/scan.h"

namespace ridge {
namespace {

constexpr std::string_view kBom = "\xEF\xBB\xBF";
constexpr std::string_view kEventsKey = "traceEvents";

}  // namespace

const char* TopLevel::read(const char* p, const char* end) {
  for (; p < end && state_ != State::events; ++p, ++offset_) step(*p);
  return p;
}

void TopLevel::keep(char c) {
  if (value_.size() < kLongestValue) {
    value_.push_back(c);
  } else {
    value_too_long_ = true;
  }
}

void TopLevel::damaged() {
  diagnostics_->add(Problem::damaged_metadata, offset_);
  recent_.clear();
  damaged_at_ = offset_;
  state_ = State::searching;
}

void TopLevel::begin_value(char c) {
  value_.clear();
  value_too_long_ = false;
  escaped_ = in_string_ = false;
  open_.clear();
  if (c == '[' && is_written_as(key_, kEventsKey)) {
    if (!events_seen_) {
      events_seen_ = true;
      state_ = State::events;
      return;
    }
    diagnostics_->add(Problem::duplicate_events_key, offset_);
  }
  keep(c);
  if (c == '"') {
    state_ = State::string;
  } else if (c == '[' || c == '{') {
    open_.push_back(c == '{');
    state_ = State::nested;
  } else if (c == ',' || c == '}' || c == ']' || c == ':') {
    damaged();
  } else {
    state_ = State::scalar;
  }
}

void TopLevel::end_value() {
  constexpr std::size_t kItemBytes = sizeof(Item);
  kept_bytes_ += key_.size() + value_.size() + kItemBytes;
  if (kept_bytes_ > kMostKept) value_too_long_ = true;
  if (!value_too_long_) {
    items_.push_back({key_, value_, offset_});
  } else if (!too_long_noted_) {
    diagnostics_->add(Problem::damaged_metadata, offset_);
    too_long_noted_ = true;
  }
  value_.clear();
  state_ = State::after_value;
}

// The events may still be found behind metadata that cannot be read: nothing else is written as this key, a colon and a
// bracket.
void TopLevel::search(char c) {
  if (is_space(c)) return;
  recent_.push_back(c);
  constexpr std::string_view kPattern = "traceEvents\":[";
  if (recent_.size() > kPattern.size()) recent_.erase(0, recent_.size() - kPattern.size());
  if (recent_ == kPattern && !events_seen_) {
    events_seen_ = true;
    state_ = State::events;
  }
}

bool TopLevel::value_ends_with_events_key() const {
  std::string_view text(value_);
  const auto ends_with = [&](std::string_view end) {
    while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
    if (!text.ends_with(end)) return false;
    text.remove_suffix(end.size());
    return true;
  };
  return ends_with("[") && ends_with(":") && ends_with("\"traceEvents\"");
}

// The key of the events inside another value is right in a nested object, and damage in a list or, by the count of quotes,
// inside a text.
void TopLevel::open_bracket(char c) {
  if (c == '[' && !events_seen_ && value_ends_with_events_key()) {
    if (in_string_ || !open_.back()) {
      damaged();
      events_seen_ = true;
      state_ = State::events;
      return;
    }
    if (!nested_events_) nested_events_ = {key_, offset_};
  }
  if (in_string_) return;
  open_.push_back(c == '{');
  if (open_.size() > kDeepest) damaged();
}

void TopLevel::close_bracket(char c) {
  if (open_.back() != (c == '}')) return damaged();
  open_.pop_back();
  if (open_.empty()) end_value();
}

void TopLevel::step(char c) {
  switch (state_) {
    case State::before:
      if (bom_ < 3 && c == kBom[static_cast<std::size_t>(bom_)]) {
        ++bom_;
      } else if (c == '{') {
        state_ = State::key_or_close;
      } else if (c == '[') {
        bare_array_ = events_seen_ = true;
        state_ = State::events;
      } else if (!is_space(c)) {
        state_ = State::not_json;
      }
      break;
    case State::key_or_close:
    case State::key_start:
      if (is_space(c)) break;
      if (c == '}') {
        if (state_ == State::key_start) diagnostics_->add(Problem::trailing_comma, offset_);
        state_ = State::done;
      } else if (c == '"') {
        key_.clear();
        escaped_ = false;
        state_ = State::key;
      } else {
        damaged();
      }
      break;
    case State::key:
      if (!escaped_ && c == '"') {
        state_ = State::colon;
      } else {
        escaped_ = !escaped_ && c == '\\';
        if (key_.size() < kLongestValue) key_.push_back(c);
      }
      break;
    case State::colon:
      if (is_space(c)) break;
      if (c == ':') {
        state_ = State::value;
      } else {
        damaged();
        search(c);
      }
      break;
    case State::value:
      if (!is_space(c)) begin_value(c);
      break;
    case State::string:
      keep(c);
      if (!escaped_ && c == '"') {
        end_value();
      } else {
        escaped_ = !escaped_ && c == '\\';
      }
      break;
    case State::scalar:
      if (c == ',' || c == '}' || is_space(c)) {
        end_value();
        step(c);
      } else {
        keep(c);
      }
      break;
    case State::nested:
      keep(c);
      if (c == '[' || (c == '{' && !in_string_)) {
        open_bracket(c);
        escaped_ = false;
      } else if (in_string_) {
        if (!escaped_ && c == '"') in_string_ = false;
        escaped_ = in_string_ && !escaped_ && c == '\\';
      } else if (c == '"') {
        in_string_ = true;
      } else if (c == ']' || c == '}') {
        close_bracket(c);
      }
      break;
    case State::after_value:
      if (is_space(c)) break;
      if (c == ',') {
        state_ = State::key_start;
      } else if (c == '}') {
        state_ = State::done;
      } else {
        damaged();
        search(c);
      }
      break;
    case State::done:
      if (!is_space(c) && !garbage_noted_) {
        diagnostics_->add(Problem::trailing_garbage, offset_);
        garbage_noted_ = true;
      }
      break;
    case State::searching: search(c); break;
    case State::not_json:
    case State::events: break;
  }
}

void TopLevel::after_events(std::uint64_t offset, bool inside_object) {
  offset_ = offset;
  state_ = bare_array_ ? State::done : inside_object ? State::key_or_close : State::after_value;
}

void TopLevel::finish(std::uint64_t offset) {
  if (events_seen_ && state_ != State::done) diagnostics_->add(Problem::truncated_json, offset);
}

}  // namespace ridge
