// EventArrayParser: the elements of traceEvents, one after another, from a piece of text: by rote where possible (LayoutTrie),
// by the general path else, mending or skipping what is damaged and finding the next intact event behind it. One per thread.
//
// What it makes of a text depends on the text alone and never on where pieces were cut: when an element is not complete it asks
// for more, unless told that there is none.
//
// Behind damage it looks for the next event: a brace that opens like one and is intact, or that stands behind `},` as events
// do. Inside a valid event such a thing is possible (a list of objects), so an element is waited for until it is complete,
// until it has swallowed many events and is no valid JSON, or until it is too large. What is looked at twice is
// bounded at every step, so that no text, however bad, takes more than linear time.
#pragma once

#include <cstdint>

#include "ingest/event_builder.h"
#include "ingest/event_search.h"
#include "ingest/event_text.h"
#include "ingest/layout_trie.h"
#include "ingest/text_cache.h"
#include "trace/diagnostics.h"
#include "trace/event_table.h"
#include "trace/form.h"

namespace ridge {

// Where in the array the parser stands between two elements.
enum class Between : std::uint8_t {
  start,
  after_event,
  after_comma,
  lost,  // behind damage with no event in sight: everything is skipped up to the next event
};

struct ArrayProgress {
  const char* stop = nullptr;  // first byte not used
  Between between = Between::start;
  bool closed = false;           // the array ended before `stop`
  bool bracket_missing = false;  // it ended without its bracket: what surrounds it goes on at `stop`
};

struct ArrayOptions {
  bool fast_path = true;  // false: every event takes the general path
  bool bare = false;      // no object is around the array: the file ends with its bracket
};

class EventArrayParser {
 public:
  static constexpr std::ptrdiff_t kLargestElement = std::ptrdiff_t{64} << 20;

  EventArrayParser(FormTable* forms, StringPool* strings, ArrayOptions options = {});

  // Reads elements up to the end of the piece, the end of the array, or an element that is not complete.
  ArrayProgress parse(const Piece& piece, Between between, EventRun* run, Diagnostics* diagnostics);

 private:
  using Accept = EventSearch::Accept;
  using Next = EventSearch::Next;
  using Seen = EventSearch::Seen;

  // Whether the object around the array ends as a file does, as far as it is looked at.
  enum class Closes : std::uint8_t {
    well,      // or so late that it is not seen
    too_soon,  // more closes behind it, or goes on as a list does
    cut_off,   // the piece ends too early to tell
  };

  // A step reads one thing at p_ and moves on; false: the parse stops here (more text is needed, or the array is closed).
  bool step();
  bool find_the_way();
  bool element();
  bool incomplete_element();
  bool damaged_event();
  bool lose(Problem problem, const char* from);
  bool other_element();
  bool list_element();
  bool string_element();
  bool literal_element();
  bool pass_over(const char* after);
  bool drop_element(const char* after);
  bool close_bracket();
  Closes closes_before(const char* p) const;
  bool stray_or_end();
  bool keep(const EventText& event);
  void note_place(const char* begin, const char* end) {
    if (run_->keep_places) run_->places.push_back({offset(begin), static_cast<std::uint32_t>(end - begin)});
  }
  bool is_cut(const char* from);
  bool wait_for_more() const { return !piece_.last && piece_.end - p_ < kLargestElement; }

  std::uint64_t offset(const char* p) const { return piece_.offset + static_cast<std::uint64_t>(p - piece_.begin); }

  TextCache texts_;
  EventBuilder builder_;
  LayoutTrie layout_;
  ArrayOptions options_;
  EventText event_;
  EventSearch search_;

  Piece piece_;
  const char* p_ = nullptr;
  ArrayProgress progress_;
  EventRun* run_ = nullptr;
  Diagnostics* diagnostics_ = nullptr;
};

}  // namespace ridge
