// Appending: blocks of events, runs of words.
#include "trace/event_table.h"

#include <algorithm>

namespace ridge {

void EventRun::clear() {
  ts_ns.clear();
  long_dur_ns.clear();
  dur_ns.clear();
  name.clear();
  form.clear();
  arg.clear();
  words.clear();
  places.clear();
}

void EventRun::grow() {
  const std::size_t more = std::max<std::size_t>(1024, size());
  ts_ns.reserve_more(more);
  dur_ns.reserve_more(more);
  name.reserve_more(more);
  form.reserve_more(more);
  arg.reserve_more(more);
}

void EventTable::add_block() {
  Block block{};
  block.ts_ns = arena_.allocate<std::int64_t>(kBlockSize);
  block.dur_ns = arena_.allocate<std::uint32_t>(kBlockSize);
  block.name = arena_.allocate<StringId>(kBlockSize);
  block.form = arena_.allocate<FormId>(kBlockSize);
  block.arg = arena_.allocate<std::uint32_t>(kBlockSize);
  blocks_.push_back(block);
}

bool EventTable::reserve_words(std::size_t count, std::uint32_t* index) {
  constexpr std::uint64_t run_words = std::uint64_t{1} << kWordBits;
  const std::uint64_t room = word_runs_.size() * run_words - words_used_;
  if (room <= count) {  // one word to spare: the index behind the last word belongs to a run too
    // A new allocation of as many whole runs as it takes: contiguous, so that no event is split.
    const std::uint64_t runs = count / run_words + 1;
    words_used_ = word_runs_.size() * run_words;
    if (words_used_ + runs * run_words > UINT32_MAX) return false;
    auto* words = arena_.allocate<std::uint32_t>(runs * run_words);
    for (std::uint64_t i = 0; i < runs; ++i) word_runs_.push_back(words + i * run_words);
  }
  *index = static_cast<std::uint32_t>(words_used_);
  words_used_ += count;
  return true;
}

bool EventTable::append(const EventRun& run) {
  std::uint32_t first_word = 0;
  if (run.size() > UINT32_MAX - size_ || !reserve_words(run.words.size(), &first_word)) return false;
  if (!run.words.empty()) {
    std::copy(run.words.begin(), run.words.end(), word_runs_[first_word >> kWordBits] + (first_word & kWordMask));
  }
  std::size_t long_durations = 0;
  for (std::size_t from = 0; from < run.size();) {
    const std::uint32_t at = size_ & kMask;
    if (at == 0) add_block();
    const Block& block = blocks_.back();
    const std::size_t count = std::min<std::size_t>(run.size() - from, kBlockSize - at);
    const auto copy = [&](const auto& column, auto* out) { std::copy_n(column.begin() + from, count, out + at); };
    copy(run.ts_ns, block.ts_ns);
    copy(run.dur_ns, block.dur_ns);
    copy(run.name, block.name);
    copy(run.form, block.form);
    std::transform(run.arg.begin() + from, run.arg.begin() + from + count, block.arg + at,
                   [&](std::uint32_t arg) { return arg + first_word; });
    if (long_durations < run.long_dur_ns.size()) {
      for (std::size_t i = 0; i < count; ++i) {
        if (block.dur_ns[at + i] != kLongDuration) continue;
        long_durations_[size_ + static_cast<std::uint32_t>(i)] = run.long_dur_ns[long_durations++];
      }
    }
    size_ += static_cast<std::uint32_t>(count);
    from += count;
  }
  return true;
}

void EventTable::set_dur_ns(EventId id, std::int64_t dur_ns) {
  std::uint32_t& dur = blocks_[id.value >> kBlockBits].dur_ns[id.value & kMask];
  if (dur_ns < kLongDuration) {
    dur = static_cast<std::uint32_t>(dur_ns);
  } else {
    dur = kLongDuration;
    long_durations_[id.value] = dur_ns;
  }
}

}  // namespace ridge
