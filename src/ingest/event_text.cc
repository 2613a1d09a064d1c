// The two cutters. The strict one fails at the first oddity; the lenient one tries repairs until something sensible follows.
#include "ingest/event_text.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "ingest/number.h"
#include "ingest/scan.h"

namespace ridge {
namespace {

bool names_args(std::string_view raw) { return is_written_as(raw, "args"); }

bool ends_token(char c) { return c == ',' || c == '}' || c == ']' || is_space(c); }

const char* token_end(const char* p, const char* end) {
  const char* const from = p;
  while (p < end && !ends_token(*p)) ++p;
  return visited(from, p);
}

std::string_view view(const char* from, const char* to) { return {from, static_cast<std::size_t>(to - from)}; }

std::optional<ValueType> literal_type(std::string_view token) {
  if (token == "true") return ValueType::true_value;
  if (token == "false") return ValueType::false_value;
  if (token == "null") return ValueType::null;
  if (is_json_number(token)) return ValueType::number;
  return std::nullopt;
}

// The value at p into `member`; returns the end, nullptr when the text ends inside it. `*valid` is cleared on an error.
const char* cut_value(const char* p, const char* end, Member* member, bool* valid) {
  if (*p == '"') {
    const char* after = skip_string(p + 1, end);
    if (after == nullptr) return nullptr;
    member->type = ValueType::string;
    member->value = view(p + 1, after - 1);
    return after;
  }
  if (*p == '[' || *p == '{') {
    const char* after = skip_nested(p, end);
    if (after == nullptr) return nullptr;
    member->type = ValueType::nested;
    member->value = view(p, after);
    return after;
  }
  const char* after = token_end(p, end);
  if (after == end) return nullptr;
  const auto type = literal_type(view(p, after));
  *valid = type.has_value();
  if (type) member->type = *type;
  member->value = view(p, after);
  return after;
}

}  // namespace

Cut cut_strict(const char* p, const char* end, EventText* event) {
  event->clear(p);
  bool in_args = false, seen_args = false;
  bool first = true;  // no comma due before the next key
  ++p;
  for (;;) {
    p = skip_space(p, end);
    if (p >= end) return Cut::need_more;
    if (*p == '}') {
      ++p;
      first = false;
      if (!in_args) break;
      in_args = false;
      continue;
    }
    if (!first) {
      if (*p != ',') return Cut::damaged;
      p = skip_space(p + 1, end);
      if (p >= end) return Cut::need_more;
    }
    first = false;
    if (*p != '"') return Cut::damaged;
    Member member{};
    member.in_args = in_args;
    const char* after = skip_string(p + 1, end);
    if (after == nullptr) return Cut::need_more;
    member.key = view(p + 1, after - 1);
    p = skip_space(after, end);
    if (p >= end) return Cut::need_more;
    if (*p != ':') return Cut::damaged;
    p = skip_space(p + 1, end);
    if (p >= end) return Cut::need_more;
    if (!in_args && names_args(member.key)) {
      if (std::exchange(seen_args, true)) return Cut::damaged;
      if (*p == '{') {
        in_args = first = true;
        ++p;
        continue;
      }
    }
    bool valid = true;
    p = cut_value(p, end, &member, &valid);
    if (p == nullptr) return Cut::need_more;
    if (!valid) return Cut::damaged;
    event->members.push_back(member);
  }
  event->end = p;
  return Cut::ok;
}

namespace {

// Reads a damaged event. Each step returns false when nothing sensible can be made of what it meets.
class LenientCutter {
 public:
  LenientCutter(const char* p, const char* end, EventText* event) : p_(p), end_(end), event_(event) {}

  bool run() {
    event_->clear(p_);
    if (p_ >= end_ || *p_ != '{') return false;
    ++p_;
    while (step()) {
    }
    event_->end = p_;
    return closed_ && !event_->members.empty();
  }

 private:
  // One member, or one closing brace; false at the end of the event or at something hopeless.
  bool step() {
    p_ = skip_space(p_, end_);
    while (p_ < end_ && *p_ == ',') {
      if (first_ || after_comma_) event_->repairs.add(Problem::trailing_comma);  // one too many
      after_comma_ = true;
      comma_ = p_;
      p_ = skip_space(p_ + 1, end_);
    }
    if (p_ >= end_ || (!first_ && ends_array(p_))) {  // its own brace is missing, and the next event begins or the array ends
      if (after_comma_) p_ = comma_;
      event_->repairs.add(Problem::missing_brace);
      closed_ = true;
      return false;
    }
    if (*p_ == '}') return close();
    if (*p_ != '"') return false;
    if (!after_comma_ && !first_) event_->repairs.add(Problem::missing_comma);
    return member();
  }

  bool close() {
    if (after_comma_) event_->repairs.add(Problem::trailing_comma);
    after_comma_ = first_ = false;
    ++p_;
    if (in_args_) {
      in_args_ = false;
      return true;
    }
    closed_ = true;
    return false;
  }

  bool member() {
    Member member{};
    member.in_args = in_args_;
    const char* quote = find_key_end(p_ + 1);
    if (quote == nullptr) return false;
    member.key = view(p_ + 1, quote);
    p_ = skip_space(skip_space(quote + 1, end_) + 1, end_);
    after_comma_ = first_ = false;
    if (p_ >= end_) return false;
    if (!in_args_ && names_args(member.key)) {
      if (std::exchange(seen_args_, true)) {
        event_->repairs.add(Problem::duplicate_key);
        std::erase_if(event_->members, [](const Member& m) { return m.in_args || names_args(m.key); });
      }
      if (*p_ == '{') {
        in_args_ = first_ = true;
        ++p_;
        return true;
      }
    }
    if (!value(&member)) return false;
    event_->members.push_back(member);
    return true;
  }

  bool value(Member* member) {
    if (*p_ == '"') {
      const char* quote = find_value_end(p_ + 1);
      if (quote == nullptr) return false;
      member->type = ValueType::string;
      member->value = view(p_ + 1, quote);
      p_ = quote + 1;
      return true;
    }
    bool valid = true;
    const char* after = cut_value(p_, end_, member, &valid);
    if (after == nullptr) return false;
    if (!valid && !unusual_token(member)) return false;
    p_ = after;
    return true;
  }

  // inf, nan and their kin are numbers that are not known; other bare words are kept as text.
  bool unusual_token(Member* member) {
    std::string word(member->value);
    std::transform(word.begin(), word.end(), word.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    const std::string_view bare = std::string_view(word).substr(word.starts_with('-') || word.starts_with('+') ? 1 : 0);
    if (bare == "inf" || bare == "infinity" || bare == "1.#inf") {
      member->type = ValueType::non_finite;
    } else if (bare.starts_with("nan") || bare == "1.#qnan" || bare == "1.#ind") {
      member->type = ValueType::non_finite;
    } else if (!bare.empty() && bare.find('"') == std::string_view::npos && bare.find('{') == std::string_view::npos) {
      member->type = ValueType::string;
      event_->repairs.add(Problem::damaged_value);
      return true;
    } else {
      return false;
    }
    event_->repairs.add(Problem::non_finite_number);
    return true;
  }

  const char* next_quote(const char* p) const {
    const auto* const quote = static_cast<const char*>(std::memchr(p, '"', static_cast<std::size_t>(end_ - p)));
    visited(p, quote != nullptr ? quote : end_);
    return quote;
  }

  // The quote that closes a key: the first one with a colon after it.
  const char* find_key_end(const char* p) {
    for (const char* quote = next_quote(p); quote != nullptr; quote = next_quote(quote + 1)) {
      const char* after = skip_space(quote + 1, end_);
      if (after < end_ && *after == ':') return quote;
      if (!is_escaped(p, quote)) event_->repairs.add(Problem::unescaped_quote);
    }
    return nullptr;
  }

  // The quote that closes a value: the first one after which the object goes on as an object does. Behind a brace that closes
  // it something must go on too; where no other quote will do, the brace alone is enough.
  const char* find_value_end(const char* p) {
    const Repairs repairs = event_->repairs;
    if (const char* quote = find_value_end(p, true)) return quote;
    event_->repairs = repairs;
    return find_value_end(p, false);
  }

  const char* find_value_end(const char* p, bool sure) {
    for (const char* quote = next_quote(p); quote != nullptr; quote = next_quote(quote + 1)) {
      const bool escaped = is_escaped(p, quote);
      if (object_goes_on(skip_space(quote + 1, end_), sure)) {
        if (escaped && !object_goes_on_surely(quote)) continue;
        if (escaped) event_->repairs.add(Problem::invalid_escape);
        return quote;
      }
      if (!escaped) event_->repairs.add(Problem::unescaped_quote);
    }
    return nullptr;
  }

  static bool is_escaped(const char* from, const char* quote) {
    const char* p = quote;
    while (p > from && p[-1] == '\\') --p;
    return (visited(p, quote) - p) % 2 == 1;
  }

  bool object_goes_on(const char* p, bool sure) const {
    if (p >= end_) return true;
    if (*p == '}') return !sure || goes_on_behind_braces(p);
    if (*p == '"' && is_space(p[-1])) return is_key(p);  // a comma is missing
    if (*p != ',') return false;
    while (p < end_ && *p == ',') p = skip_space(p + 1, end_);
    if (p >= end_ || *p == '}') return true;
    return *p == '"' && is_key(p);
  }

  // A quote behind a backslash closes only if no other quote before the next key could.
  bool object_goes_on_surely(const char* quote) const {
    const char* p = skip_space(quote + 1, end_);
    return p < end_ && *p == ',' && object_goes_on(p, true);
  }

  // A bracket behind which the object around the array goes on, or nothing does.
  bool ends_array(const char* p) const {
    if (*p != ']') return false;
    p = skip_space(p + 1, end_);
    return p >= end_ || *p == ',' || *p == '}';
  }

  // The next key or event, the end of the array, or nothing.
  bool goes_on_behind_braces(const char* p) const {
    const char* const from = p;
    while (p < end_ && (*p == '}' || is_space(*p))) ++p;
    visited(from, p);
    if (p >= end_ || *p == ',' || *p == ']' || *p == '{') return true;
    return *p == '"' && is_space(p[-1]) && is_key(p);  // a comma is missing
  }

  bool is_key(const char* p) const {
    const char* quote = next_quote(p + 1);
    if (quote == nullptr) return false;
    const char* after = skip_space(quote + 1, end_);
    return after < end_ && *after == ':';
  }

  const char* p_;
  const char* end_;
  EventText* event_;
  bool in_args_ = false, seen_args_ = false;
  bool first_ = true;
  bool after_comma_ = false;
  const char* comma_ = nullptr;
  bool closed_ = false;
};

}  // namespace

bool cut_lenient(const char* p, const char* end, EventText* event) { return LenientCutter(p, end, event).run(); }

bool starts_event(const char* brace, const char* begin, const char* end) {
  const char* key = skip_space(brace + 1, end);
  if (key + 1 >= end || *key != '"') return false;
  const char letter = key[1];
  if (!((letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || letter == '_')) return false;
  const char* before = brace;
  while (before > begin && is_space(before[-1])) --before;
  if (before == begin || before[-1] != ',') return false;
  --before;
  while (before > begin && is_space(before[-1])) --before;
  visited(brace, before);
  return before > begin && before[-1] == '}';
}

const char* find_last_event_start(const char* from, const char* end) {
  for (const char* p = end;;) {
    const char* const behind = p;
    p = static_cast<const char*>(memrchr(from, '{', static_cast<std::size_t>(p - from)));
    visited(behind, p != nullptr ? p : from);
    if (p == nullptr) return nullptr;
    if (starts_event(p, from, end)) return p;
  }
}

}  // namespace ridge
