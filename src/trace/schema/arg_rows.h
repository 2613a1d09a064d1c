// What the argument columns of a table of events read. Finding an event's words costs more than reading a value there, so a
// batch of rows is looked up once, for all columns that are read of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "trace/args.h"
#include "trace/schema/table_rows.h"

namespace ridge::schema {

// Where the arguments of one event lie.
struct ArgRow {
  FormId form;
  const std::uint32_t* words = nullptr;
};

inline ArgRow arg_row(const Trace& trace, EventId event) { return {trace.events.form(event), trace.events.words(event)}; }

// Rows of a table of events, from any row on. Its memory serves one batch after the other.
class ArgRows {
 public:
  std::span<const ArgRow> look_up(const TableRows& rows, std::uint64_t first, std::size_t count) {
    constexpr std::size_t kAhead = 16;
    rows_.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      if (i + kAhead < count) rows.trace.events.prefetch(rows.event(first + i + kAhead));
      rows_[i] = arg_row(rows.trace, rows.event(first + i));
      __builtin_prefetch(rows_[i].words);
    }
    return rows_;
  }

 private:
  std::vector<ArgRow> rows_;
};

// One key over such rows; a value that is absent or of another type is nothing. The trace must outlive it.
class ArgReader {
 public:
  // `only`: all rows are of this class, so that forms of others do not matter.
  ArgReader(const Trace& trace, ArgKey key, bool member, std::optional<EventClass> only = {});

  std::optional<std::int64_t> integer(const ArgRow& row) const {
    const Place& place = places_[row.form.value];
    if (place.type == ArgType::int32) return static_cast<std::int32_t>(row.words[place.word]);
    if (place.type == ArgType::int64) return static_cast<std::int64_t>(join_words(row.words + place.word));
    return std::nullopt;
  }
  std::optional<double> number(const ArgRow& row) const;
  std::optional<StringId> text(const ArgRow& row) const {  // texts and json
    const Place& place = places_[row.form.value];
    if (place.type == ArgType::text || place.type == ArgType::json) return StringId{row.words[place.word]};
    return place.type == ArgType::fixed_text ? std::optional(place.fixed) : std::nullopt;
  }
  bool is_absent() const { return absent_; }  // from every form that matters

 private:
  struct Place {  // of a Slot what reading needs
    std::uint32_t word = 0;
    StringId fixed;
    ArgType type = ArgType::null;
  };

  const Trace* trace_;
  std::vector<Place> places_;  // by FormId
  bool absent_ = true;
};

}  // namespace ridge::schema
