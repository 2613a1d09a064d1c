// EventSearch: looks ahead in a piece of text for the next event behind damage, and for events that a damaged one has
// swallowed. It reads nothing into a trace: what is done about what it finds is EventArrayParser's.
//
// Its view of an event is bounded, and what was searched is remembered, so that no text is searched over and over.
#pragma once

#include <cstdint>

#include "ingest/event_text.h"
#include "ingest/text_cache.h"

namespace ridge {

struct Piece {
  const char* begin = nullptr;
  const char* end = nullptr;  // followed by kPadding zero bytes
  std::uint64_t offset = 0;   // of `begin` in the JSON
  bool last = false;          // nothing follows
};

// What makes an object an event.
bool has_phase(const EventText& event);

class EventSearch {
 public:
  // How an event seems to stand at a brace.
  enum class Seen : std::uint8_t {
    nothing,  // an object that is no event
    intact,
    damaged,
    open,     // does not end within view
    cut_off,  // the piece ends too early to tell
  };
  // The first event behind some place.
  struct Next {
    const char* from = nullptr;
    const char* event = nullptr;    // nullptr: none
    const char* cut_off = nullptr;  // where the piece ended too early to tell
  };
  // open_too: also one that stands where events do but does not end within view.
  enum class Accept : std::uint8_t { readable, open_too };

  void begin(const Piece& piece);

  // Whether an event stands at `brace`, seen from within a damaged stretch.
  Seen look_at(const char* brace);
  // Whether a damaged event at `brace` can be mended as it stands, where its place alone does not show that it is one.
  Seen look_closer(const char* brace);

  // The first event that starts in [from, end).
  Next find(const char* from, const char* end, Accept accept);
  // The same up to the end of the piece. What lies between the last search and what it found is not searched again.
  Next next(const char* from, Accept accept);
  // Whether [from, end) holds more of them than one event does.
  bool has_many(const char* from, const char* end);
  // An event inside a list or object of `event` that is not valid: its bracket or quote is missing and the one of a later event
  // was taken for it. The end of the piece when that cannot be told yet, nullptr when there is none.
  const char* inside(const EventText& event, TextCache* texts);

 private:
  const char* view_of(const char* brace) const;

  Piece piece_;
  EventText looked_at_;
  Next remembered_[2];  // per Accept, within the piece
};

}  // namespace ridge
