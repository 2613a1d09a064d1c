// EventTable: the core columns of every event in file order (ts, dur, name, form) and the words of its arguments.
//
// Layout: blocks of 65,536 events, so that an id is found by a shift and nothing is ever copied to grow; words in runs of 4
// MiB, one event's words never split. 24 bytes an event and 4 per 32-bit argument. Thread safety: append() is called by one
// thread at a time; everything else once the load is over.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/arena.h"
#include "base/grow_array.h"
#include "base/ids.h"
#include "trace/event_places.h"

namespace ridge {

inline constexpr std::int64_t kNoTime = std::numeric_limits<std::int64_t>::min();

inline constexpr std::uint32_t kNoDuration = 0xFFFFFFFF;    // missing, or negative and so not to be believed
inline constexpr std::uint32_t kLongDuration = 0xFFFFFFFE;  // 4.29 s and more: kept aside

// What a parser hands over: columns of a run of events. `arg` is the index of the event's first word within `words`.
struct EventRun {
  GrowArray<std::int64_t> ts_ns;
  GrowArray<std::int64_t> long_dur_ns;  // values of the durations marked kLongDuration, in order
  GrowArray<std::uint32_t> dur_ns;
  GrowArray<StringId> name;
  GrowArray<FormId> form;
  GrowArray<std::uint32_t> arg;
  GrowArray<std::uint32_t> words;
  GrowArray<EventPlace> places;  // when `keep_places`
  bool keep_places = false;

  std::size_t size() const { return ts_ns.size(); }
  void clear();

  // Room for one more event and this many words.
  void reserve(std::size_t more_words) {
    if (ts_ns.room() == 0) [[unlikely]]
      grow();
    words.reserve_more(more_words);
  }
  // Appends an event whose words are the last ones of `words`, from index `first_word`. Room was reserved.
  void add(std::int64_t ts, std::int64_t dur, StringId event_name, FormId event_form, std::size_t first_word);

 private:
  void grow();  // the columns of one length have one capacity
};

inline constexpr std::int64_t kUnknownDuration = -1;  // what add() takes for one

inline void EventRun::add(std::int64_t ts, std::int64_t dur, StringId event_name, FormId event_form, std::size_t first_word) {
  ts_ns.push_reserved(ts);
  if (dur < static_cast<std::int64_t>(kLongDuration)) [[likely]] {
    dur_ns.push_reserved(static_cast<std::uint32_t>(dur));  // kUnknownDuration becomes kNoDuration
  } else {
    dur_ns.push_reserved(kLongDuration);
    long_dur_ns.push_back(dur);
  }
  name.push_reserved(event_name);
  form.push_reserved(event_form);
  arg.push_reserved(static_cast<std::uint32_t>(first_word));
}

class EventTable {
 public:
  static constexpr std::uint32_t kBlockBits = 16;
  static constexpr std::uint32_t kBlockSize = 1U << kBlockBits;

  // False when the ids are used up (4.29 billion events, or as many argument words).
  [[nodiscard]] bool append(const EventRun& run);

  std::uint32_t size() const { return size_; }

  std::int64_t ts_ns(EventId id) const { return block(id).ts_ns[id.value & kMask]; }
  std::optional<std::int64_t> dur_ns(EventId id) const {
    const std::uint32_t dur = block(id).dur_ns[id.value & kMask];
    if (dur < kLongDuration) return dur;
    return dur == kNoDuration ? std::nullopt : std::optional(long_durations_.at(id.value));
  }
  StringId name(EventId id) const { return block(id).name[id.value & kMask]; }
  FormId form(EventId id) const { return block(id).form[id.value & kMask]; }
  const std::uint32_t* words(EventId id) const {
    const std::uint32_t arg = block(id).arg[id.value & kMask];
    return word_runs_[arg >> kWordBits] + (arg & kWordMask);
  }

  // Brings the core columns of an event that will be asked for into the cache.
  void prefetch(EventId id) const {
    const Block& of = block(id);
    const std::uint32_t at = id.value & kMask;
    __builtin_prefetch(of.form + at);
    __builtin_prefetch(of.arg + at);
    __builtin_prefetch(of.name + at);
    __builtin_prefetch(of.ts_ns + at);
    __builtin_prefetch(of.dur_ns + at);
  }

  // A duration learned after the event was read (the end of a B/E pair).
  void set_dur_ns(EventId id, std::int64_t dur_ns);

  std::uint64_t bytes() const { return arena_.bytes(); }

 private:
  static constexpr std::uint32_t kMask = kBlockSize - 1;
  static constexpr std::uint32_t kWordBits = 20;
  static constexpr std::uint32_t kWordMask = (1U << kWordBits) - 1;

  struct Block {
    std::int64_t* ts_ns;
    std::uint32_t* dur_ns;
    StringId* name;
    FormId* form;
    std::uint32_t* arg;
  };

  const Block& block(EventId id) const { return blocks_[id.value >> kBlockBits]; }
  void add_block();
  // Where `count` words that belong together go: their global index. False when the indexes are used up.
  bool reserve_words(std::size_t count, std::uint32_t* index);

  Arena arena_;
  std::vector<Block> blocks_;
  std::vector<std::uint32_t*> word_runs_;
  std::uint64_t words_used_ = 0;  // global index of the next free word
  std::uint32_t size_ = 0;
  std::unordered_map<std::uint32_t, std::int64_t> long_durations_;
};

// Words to values.
inline std::uint64_t join_words(const std::uint32_t* words) { return words[0] | static_cast<std::uint64_t>(words[1]) << 32; }

}  // namespace ridge
