// Form: everything about an event that is no number of its own: its kind (ph, cat), its track (pid, tid) and its schema (the
// keys and types of its arguments). Millions of events share a few hundred forms, so an event carries one 32-bit FormId
// instead.
//
// Invariants:
//  1. Kinds, tracks, schemas and forms are distinct: equal content has equal id.
//  2. A schema's slots stand in the order in which the event wrote them; their words are packed in that order.
//  3. A slot of a zero-word type (null, false, true, fixed_text) holds its value in the schema itself.
//
// Thread safety: the functions that are not const lock and may be called from several threads; the accessors are for when the
// load is over.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <tuple>
#include <vector>

#include "base/ids.h"
#include "base/spin_mutex.h"
#include "base/string_pool.h"
#include "trace/event_class.h"

namespace ridge {

struct Kind {
  StringId ph;
  StringId cat;  // the empty text when there is none
  EventClass event_class = EventClass::other;
  DeviceWork work = DeviceWork::none;
  char phase = 0;  // ph when it is one character, else 0
};

// pid and tid as the trace has them: a number, a text, or nothing.
struct TrackPart {
  enum class Type : std::uint8_t { absent, integer, text } type = Type::absent;
  std::int64_t value = 0;  // the number, or the StringId's value
  auto operator<=>(const TrackPart&) const = default;
};

// The exact (pid, tid) pair; names come from the metadata events.
struct Track {
  TrackPart pid;
  TrackPart tid;
  StringId thread_name;
  StringId process_name;
  StringId process_labels;
  std::optional<std::int64_t> thread_sort_index;
  std::optional<std::int64_t> process_sort_index;
};

enum class ArgType : std::uint8_t {
  null,
  false_value,
  true_value,
  fixed_text,   // a short text that belongs to the form: bp, s
  int32,        // 1 word
  text,         // 1 word: StringId
  json,         // 1 word: StringId of a list or object, written without spaces
  big_integer,  // 1 word: StringId of its digits; beyond 64 bits
  int64,        // 2 words
  uint64,       // 2 words; above INT64_MAX
  real,         // 2 words: a double
};

inline std::uint32_t words_of(ArgType type) {
  if (type <= ArgType::fixed_text) return 0;
  return type <= ArgType::big_integer ? 1 : 2;
}

struct Slot {
  StringId key;
  ArgType type = ArgType::null;
  bool member = false;     // a member of the event itself, not of its args
  std::uint32_t word = 0;  // where its value starts among the event's words
  StringId fixed;          // the value of a fixed_text
  auto operator<=>(const Slot&) const = default;
};

struct ArgSchema {
  std::vector<Slot> slots;
  std::uint32_t words = 0;
};

struct Form {
  KindId kind;
  TrackId track;
  ArgSchemaId schema;
  auto operator<=>(const Form&) const = default;
};

class FormTable {
 public:
  FormTable();

  KindId intern_kind(StringId ph, StringId cat, std::string_view ph_text, std::string_view cat_text);
  TrackId intern_track(TrackPart pid, TrackPart tid);
  ArgSchemaId intern_schema(const std::vector<Slot>& slots);  // `word` is computed here
  FormId intern_form(Form form);

  // The classes of the forms from the list's size on, added to it. It locks, too.
  void add_classes(std::vector<EventClass>* classes);

  // Numbers the tracks by pid and tid, once the load is over: threads met them in an order of their own, and a track's number
  // is seen outside (links into the timeline).
  void order_tracks(const StringPool& strings);

  const std::vector<Kind>& kinds() const { return kinds_; }
  const std::vector<Track>& tracks() const { return tracks_; }
  std::vector<Track>& tracks() { return tracks_; }
  const std::vector<ArgSchema>& schemas() const { return schemas_; }
  const std::vector<Form>& forms() const { return forms_; }

  const Form& form(FormId id) const { return forms_[id.value]; }
  const Kind& kind(FormId id) const { return kinds_[forms_[id.value].kind.value]; }
  const Track& track(TrackId id) const { return tracks_[id.value]; }
  const ArgSchema& schema(FormId id) const { return schemas_[forms_[id.value].schema.value]; }

 private:
  SpinMutex mutex_;
  std::vector<Kind> kinds_;
  std::vector<Track> tracks_;
  std::vector<ArgSchema> schemas_;
  std::vector<Form> forms_;
  std::map<std::pair<StringId, StringId>, KindId> kind_ids_;
  std::map<std::pair<TrackPart, TrackPart>, TrackId> track_ids_;
  std::map<std::vector<Slot>, ArgSchemaId> schema_ids_;
  std::map<Form, FormId> form_ids_;
};

}  // namespace ridge
