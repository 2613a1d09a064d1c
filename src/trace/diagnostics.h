// Diagnostics: what was wrong with the input, counted by reason, with the places in the uncompressed JSON. Bad events are data.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace ridge {

enum class Problem : std::uint8_t {
  // the file
  truncated_json,
  truncated_compression,
  damaged_compression,
  checksum_mismatch,
  trailing_garbage,
  missing_bracket,
  damaged_metadata,
  // events dropped
  truncated_event,
  unreadable_event,
  garbage_between_events,
  not_an_object,
  no_phase,
  no_timestamp,
  time_out_of_range,
  event_too_large,
  // events repaired and kept
  unescaped_quote,
  invalid_escape,
  lone_surrogate,
  control_character,
  invalid_utf8,
  non_finite_number,
  trailing_comma,
  missing_comma,
  missing_brace,
  damaged_value,
  duplicate_key,
  // events kept whose time is odd
  missing_duration,
  negative_duration,
  time_as_text,
  at_time_zero,
  unmatched_begin,
  unmatched_end,
  // other
  unknown_phase,
  big_integer,
  duplicate_events_key,
  count_,
};

inline constexpr std::size_t kProblems = static_cast<std::size_t>(Problem::count_);

enum class Severity : std::uint8_t { info, warning, error };

struct ProblemRow {
  std::string_view code;
  Severity severity;
  std::string_view message;
};

const ProblemRow& row_of(Problem problem);
std::string_view name_of(Severity severity);

class Diagnostics {
 public:
  struct Entry {
    std::uint64_t count = 0;
    std::uint64_t first_offset = UINT64_MAX;
    std::vector<std::uint64_t> offsets;  // the first kMostOffsets places
  };
  static constexpr std::size_t kMostOffsets = 100;

  void add(Problem problem, std::uint64_t offset);
  void add_unplaced(Problem problem, std::uint64_t count = 1);  // where in the input is not known any more
  void add_all(const Diagnostics& later);                       // appends what another part of the input found
  void clear();

  bool any() const;
  const Entry& operator[](Problem problem) const { return entries_[static_cast<std::size_t>(problem)]; }
  std::uint64_t dropped_events() const;  // complete elements of traceEvents that are not in the table

 private:
  std::array<Entry, kProblems> entries_;
};

}  // namespace ridge
