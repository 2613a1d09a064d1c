// EventBuilder: a cut event to a row of an EventRun: times to nanoseconds, texts to ids, arguments to typed words, and every
// oddity counted. The general path, right for any event; it also tells how the event was made up, for LayoutTrie to learn from.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "ingest/event_text.h"
#include "ingest/text_cache.h"
#include "trace/diagnostics.h"
#include "trace/event_table.h"
#include "trace/form.h"

namespace ridge {

// What a member of an event is to the core table.
enum class Field : std::uint8_t {
  ph,
  cat,
  name,
  pid,
  tid,
  ts,
  dur,
  argument,  // a word of its own, or a value that the schema holds
  folded,    // a short text that belongs to the form (bp, s)
  end,       // not a member: the end of the event
};

struct Recipe {
  struct Part {
    Field field;
    ArgType type;  // of an argument, of pid and tid (int64 or text)
  };
  std::vector<Part> parts;  // one per member of the EventText
  KindId kind;
  ArgSchemaId schema;
  TrackPart pid;
  TrackPart tid;
  bool plain = false;  // nothing was mended, doubled or odd: the same members in the same order can be read by rote
};

class EventBuilder {
 public:
  EventBuilder(FormTable* forms, StringPool* strings, TextCache* texts) : forms_(forms), strings_(strings), texts_(texts) {}

  // Appends the event to `run` and says how in recipe(); or drops it and counts why. `offset` is where it stands in the JSON.
  bool add(const EventText& event, std::uint64_t offset, EventRun* run, Diagnostics* diagnostics);

  const Recipe& recipe() const { return recipe_; }

 private:
  struct Core {
    StringId ph, cat, name;
    TrackPart pid, tid;
    std::int64_t ts_ns = kNoTime;
    std::int64_t dur_ns = kUnknownDuration;
    bool has_ph = false, has_ts = false, has_dur = false, ts_out_of_range = false;
  };

  void take(const Member& member);
  void take_core(Field field, const Member& member);
  void take_argument(StringId key, const Member& member);
  void take_number(std::string_view text, Slot* slot);
  void take_time(Field field, const Member& member);
  TrackPart track_part(const Member& member);
  StringId text_of(const Member& member);
  void drop_duplicates();
  void note(Problem problem) { repairs_.add(problem); }
  void push_word(std::uint32_t word) { words_.push_back(word); }
  void push_words(std::uint64_t value);

  FormTable* forms_;
  StringPool* strings_;
  TextCache* texts_;

  Core core_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> words_;
  Repairs repairs_;
  std::uint32_t core_seen_ = 0;  // bit per Field
  Recipe recipe_;
};

}  // namespace ridge
