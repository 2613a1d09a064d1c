// From brace to brace; each that may open an event is cut within its view.
#include "ingest/event_search.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string_view>

#include "ingest/scan.h"

namespace ridge {
namespace {

// An element with so many events inside is not one event: a bracket or quote of it is missing.
constexpr int kMostSwallowed = 16;
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

bool follows_comma(const char* brace, const char* begin) {
  const char* const from = brace;
  while (brace > begin && is_space(brace[-1])) --brace;
  visited(from, brace);
  return brace > begin && brace[-1] == ',';
}

const char* find_brace(const char* p, const char* end) {
  if (p >= end) return nullptr;
  const auto* const brace = static_cast<const char*>(std::memchr(p, '{', static_cast<std::size_t>(end - p)));
  visited(p, brace != nullptr ? brace : end);
  return brace;
}

}  // namespace

bool has_phase(const EventText& event) {
  return std::any_of(event.members.begin(), event.members.end(),
                     [](const Member& m) { return !m.in_args && m.key == "ph" && m.type == ValueType::string; });
}

void EventSearch::begin(const Piece& piece) {
  piece_ = piece;
  for (Next& next : remembered_) next = {};
}

// How far an event at `brace` is looked at.
const char* EventSearch::view_of(const char* brace) const {
  const char* const limit = piece_.end - brace > kViewBytes ? brace + kViewBytes : piece_.end;
  int braces = 0;
  for (const char* p = find_brace(brace + 1, limit); p != nullptr; p = find_brace(p + 1, limit)) {
    braces += opens_like_event(p, piece_.end) ? kEventBraceWeight : 1;
    if (braces >= kViewBraces) return p + 1;
  }
  return limit;
}

EventSearch::Seen EventSearch::look_at(const char* brace) {
  const char* const limit = view_of(brace);
  switch (cut_strict(brace, limit, &looked_at_)) {
    case Cut::ok: return has_phase(looked_at_) ? Seen::intact : Seen::nothing;
    case Cut::damaged: return Seen::damaged;
    default: return limit == piece_.end && !piece_.last ? Seen::cut_off : Seen::open;
  }
}

EventSearch::Seen EventSearch::look_closer(const char* brace) {
  const char* const limit = view_of(brace);
  if (limit == piece_.end && !piece_.last) return Seen::cut_off;  // which quote ends a text may depend on what follows
  const bool mended = opens_like_event(brace, piece_.end) && cut_lenient(brace, limit, &looked_at_) && has_phase(looked_at_) &&
                      !looked_at_.repairs.has(Problem::missing_brace);
  return mended ? Seen::intact : Seen::damaged;
}

EventSearch::Next EventSearch::find(const char* from, const char* end, Accept accept) {
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

EventSearch::Next EventSearch::next(const char* from, Accept accept) {
  Next& known = remembered_[static_cast<std::size_t>(accept)];
  const char* const known_to = known.event != nullptr ? known.event : known.cut_off != nullptr ? known.cut_off : piece_.end;
  if (known.from == nullptr || from < known.from || from > known_to) known = find(from, piece_.end, accept);
  return known;
}

bool EventSearch::has_many(const char* from, const char* end) {
  for (int count = 0; count < kMostSwallowed; ++count) {
    const Next next = find(from, end, Accept::readable);
    if (next.event == nullptr) return false;
    from = next.event + 1;
  }
  return true;
}

const char* EventSearch::inside(const EventText& event, TextCache* texts) {
  for (const Member& member : event.members) {
    if (member.type != ValueType::nested || !texts->json(member.value).repairs.any()) continue;
    const Next next = find(member.value.data() + 1, member.value.data() + member.value.size(), Accept::readable);
    if (next.event != nullptr) return next.event;
    if (next.cut_off != nullptr) return piece_.end;
  }
  return nullptr;
}

}  // namespace ridge
