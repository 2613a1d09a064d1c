// TableRows: which rows a table has in one trace. Row i of a table of events is an event; of a table of arguments it is one
// argument of one; of any other it is an index into what the trace holds.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "trace/trace.h"

namespace ridge::schema {

struct TableRows {
  explicit TableRows(const Trace& t) : trace(t) {}
  TableRows(TableRows&&) = default;

  const Trace& trace;  // must outlive it
  std::uint64_t count = 0;

  EventId event(std::uint64_t row) const { return every_event ? EventId{row} : events[row]; }

  // In a table of arguments, the rows [first, first + how_many) in order: `take(i, event, slot)`, i from 0.
  template <class Take>
  void each_argument(std::uint64_t first, std::size_t how_many, Take take) const {
    if (how_many == 0) return;
    std::size_t done = 0;
    std::uint64_t row = first;  // then: of the slots of an event
    for (std::uint64_t at = owner_of(&row); done < how_many; ++at, row = 0) {
      const std::vector<Slot>& slots = trace.forms.schema(trace.events.form(event(at))).slots;
      for (; row < slots.size() && done < how_many; ++row) take(done++, event(at), slots[row]);
    }
  }

  bool every_event = false;
  std::optional<EventClass> of_class;  // where all of its events are of one
  std::span<const EventId> events;     // where it is not every event
  std::vector<EventId> chosen;         // their storage, where the trace has no such list

 private:
  friend TableRows arguments_of(TableRows owners);

  std::uint64_t owner_of(std::uint64_t* row) const;  // `row` becomes that of its slots

  static constexpr std::uint64_t kBlock = 1024;  // events
  std::vector<std::uint64_t> rows_before_;       // of each block of events, in a table of arguments
};

TableRows every_event(const Trace& trace);
TableRows events_of(const Trace& trace, EventClass c);
TableRows arguments_of(TableRows owners);                       // one row for each argument of these events
TableRows first_rows(const Trace& trace, std::uint64_t count);  // 0 ... count - 1 of whatever the getters count

}  // namespace ridge::schema
