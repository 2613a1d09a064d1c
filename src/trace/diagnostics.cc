// The table of problems: code, severity and message, in the order of the enum; and the counters.
#include "trace/diagnostics.h"

#include <algorithm>
#include <iterator>

namespace ridge {
namespace {

using enum Severity;

// In the order of the enum. An error means that events are missing from the answer; a warning that something was mended.
constexpr ProblemRow kRows[] = {
    {"truncated_json", error, "the file ends before its closing bracket; every event before the cut is kept"},
    {"truncated_compression", error, "the compressed stream ends early; what could be decompressed is kept"},
    {"damaged_compression", error, "the compressed stream is corrupt from here on; what could be decompressed is kept"},
    {"checksum_mismatch", error, "the compressed stream's checksum does not match its content"},
    {"trailing_garbage", warning, "bytes after the end of the trace; ignored"},
    {"missing_bracket", warning, "the event array was not closed"},
    {"damaged_metadata", warning, "metadata outside traceEvents could not be read"},
    {"truncated_event", error, "the last event is incomplete; dropped"},
    {"unreadable_event", error, "event too damaged to read; dropped"},
    {"garbage_between_events", error, "garbage between events; skipped"},
    {"not_an_object", warning, "element of traceEvents that is not an object; skipped"},
    {"no_phase", warning, "element of traceEvents without \"ph\"; skipped"},
    {"no_timestamp", error, "event without a usable \"ts\"; dropped"},
    {"time_out_of_range", error, "time out of range for 64-bit nanoseconds (36 years before 0 to 146 after); dropped"},
    {"event_too_large", error, "event larger than 64 MiB; dropped"},
    {"unescaped_quote", warning, "unescaped quote inside a string; repaired"},
    {"invalid_escape", warning, "invalid JSON escape; its backslash is kept"},
    {"lone_surrogate", warning, "lone surrogate; replaced by U+FFFD"},
    {"control_character", warning, "raw control character inside a string; kept"},
    {"invalid_utf8", warning, "bytes that are not UTF-8; replaced by U+FFFD"},
    {"non_finite_number", warning, "inf or nan written as a number; kept as unknown"},
    {"trailing_comma", warning, "comma before a closing bracket or another comma; ignored"},
    {"missing_comma", warning, "missing comma between two values; added"},
    {"missing_brace", warning, "missing closing brace; added"},
    {"damaged_value", warning, "argument that is not valid JSON; kept as text"},
    {"duplicate_key", warning, "duplicate key in one event; the last value is kept"},
    {"missing_duration", warning,
     "complete event without a usable \"dur\" (missing, not a number, or beyond 64-bit nanoseconds); its duration is unknown"},
    {"negative_duration", warning, "negative \"dur\"; its duration is unknown"},
    {"time_as_text", info, "\"ts\" or \"dur\" written as a string; read as a number"},
    {"at_time_zero", info, "event at time 0, far outside the window; kept apart"},
    {"unmatched_begin", warning, "B event without its E; its duration is unknown"},
    {"unmatched_end", warning, "E event without its B"},
    {"unknown_phase", info, "event with an unknown \"ph\"; kept"},
    {"big_integer", info, "integer beyond 64 bits; kept as text"},
    {"duplicate_events_key", warning, "second \"traceEvents\"; ignored"},
};
static_assert(std::size(kRows) == kProblems, "one row per Problem");

}  // namespace

const ProblemRow& row_of(Problem problem) { return kRows[static_cast<std::size_t>(problem)]; }

std::string_view name_of(Severity severity) {
  constexpr std::string_view kNames[] = {"info", "warning", "error"};
  return kNames[static_cast<std::size_t>(severity)];
}

void Diagnostics::add(Problem problem, std::uint64_t offset) {
  Entry& entry = entries_[static_cast<std::size_t>(problem)];
  ++entry.count;
  entry.first_offset = std::min(entry.first_offset, offset);
  if (entry.offsets.size() < kMostOffsets) entry.offsets.push_back(offset);
}

void Diagnostics::add_unplaced(Problem problem, std::uint64_t count) {
  entries_[static_cast<std::size_t>(problem)].count += count;
}

void Diagnostics::add_all(const Diagnostics& later) {
  for (std::size_t i = 0; i < kProblems; ++i) {
    Entry& entry = entries_[i];
    const Entry& other = later.entries_[i];
    entry.count += other.count;
    entry.first_offset = std::min(entry.first_offset, other.first_offset);
    const std::size_t room = kMostOffsets - entry.offsets.size();
    const auto take = static_cast<std::ptrdiff_t>(std::min(room, other.offsets.size()));
    entry.offsets.insert(entry.offsets.end(), other.offsets.begin(), other.offsets.begin() + take);
  }
}

void Diagnostics::clear() {
  for (Entry& entry : entries_) {
    entry.count = 0;
    entry.first_offset = UINT64_MAX;
    entry.offsets.clear();
  }
}

bool Diagnostics::any() const {
  return std::any_of(entries_.begin(), entries_.end(), [](const Entry& entry) { return entry.count > 0; });
}

std::uint64_t Diagnostics::dropped_events() const {
  constexpr Problem kDropped[] = {Problem::unreadable_event, Problem::not_an_object,     Problem::no_phase,
                                  Problem::no_timestamp,     Problem::time_out_of_range, Problem::event_too_large};
  std::uint64_t sum = 0;
  for (const Problem problem : kDropped) sum += (*this)[problem].count;
  return sum;
}

}  // namespace ridge
