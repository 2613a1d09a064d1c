// EventArrayParser: the elements of traceEvents, one after another, from a piece of text: by rote where possible (Layout), by the general
// path else, mending or skipping what is damaged and finding the next intact event behind it. One per thread.
//
// What it makes of a text depends on the text alone and never on where pieces were cut: when an element is not complete it asks for
// more, unless told that there is none.
#pragma once

#include <cstdint>

#include "ingest/event_builder.h"
#include "ingest/event_text.h"
#include "ingest/layout.h"
#include "ingest/text_cache.h"
#include "trace/diagnostics.h"
#include "trace/event_table.h"
#include "trace/form.h"

namespace ridge {

struct Piece {
  const char* begin = nullptr;
  const char* end = nullptr;  // followed by kPadding zero bytes
  std::uint64_t offset = 0;   // of `begin` in the JSON
  bool last = false;          // nothing follows
  bool give_up = false;       // the first element is larger than allowed: skip it instead of asking for more
};

// Where in the array the parser stands between two elements.
enum class Between : std::uint8_t {
  start,
  after_event,
  after_comma,
  lost,  // inside something larger than allowed: everything is skipped up to the next event
};

struct ArrayProgress {
  const char* stop = nullptr;  // first byte not used
  Between between = Between::start;
  bool closed = false;           // the array ended before `stop`
  bool bracket_missing = false;  // it ended without its bracket: what surrounds it goes on at `stop`
};

class EventArrayParser {
 public:
  // `by_rote` false: every event takes the general path.
  EventArrayParser(FormTable* forms, StringPool* strings, bool by_rote = true);

  // Reads elements up to the end of the piece, the end of the array, or an element that is not complete.
  ArrayProgress parse(const Piece& piece, Between between, EventRun* run, Diagnostics* diagnostics);

 private:
  // A step reads one thing at p_ and moves on; false: the parse stops here (more text is needed, or the array is closed).
  bool step();
  bool find_the_way();
  bool element();
  bool damaged_event();
  bool skip_to_restart(Problem problem, const char* from);
  bool other_element();
  bool close_without_bracket();
  bool keep(const EventText& event);
  bool is_event(const char* brace, bool* incomplete);
  const char* find_restart(const char* from, bool* incomplete);
  bool more_may_come() const { return !piece_.last && !piece_.give_up; }
  std::uint64_t offset(const char* p) const { return piece_.offset + static_cast<std::uint64_t>(p - piece_.begin); }

  TextCache texts_;
  EventBuilder builder_;
  Layout layout_;
  bool by_rote_;
  EventText event_;

  Piece piece_;
  const char* p_ = nullptr;
  ArrayProgress progress_;
  EventRun* run_ = nullptr;
  Diagnostics* diagnostics_ = nullptr;
};

}  // namespace ridge
