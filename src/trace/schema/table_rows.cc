// The rows of tables. Those of arguments are counted once, block by block, so that a range of them is found without a walk.
#include "trace/schema/table_rows.h"

#include <algorithm>
#include <utility>

namespace ridge::schema {

std::uint64_t TableRows::owner_of(std::uint64_t* row) const {
  const auto after = std::ranges::upper_bound(rows_before_, *row);
  const auto block = static_cast<std::uint64_t>(after - rows_before_.begin()) - 1;
  *row -= rows_before_[block];
  std::uint64_t at = block * kBlock;
  for (;; ++at) {
    const std::uint64_t slots = trace.forms.schema(trace.events.form(event(at))).slots.size();
    if (*row < slots) return at;
    *row -= slots;
  }
}

TableRows every_event(const Trace& trace) {
  TableRows rows(trace);
  rows.every_event = true;
  rows.count = trace.recorded_events();
  return rows;
}

TableRows events_of(const Trace& trace, EventClass c) {
  TableRows rows(trace);
  rows.events = trace.of(c);
  rows.of_class = c;
  rows.count = rows.events.size();
  return rows;
}

TableRows arguments_of(TableRows owners) {
  const std::uint64_t events = std::exchange(owners.count, 0);
  for (std::uint64_t at = 0; at < events; ++at) {
    if (at % TableRows::kBlock == 0) owners.rows_before_.push_back(owners.count);
    owners.count += owners.trace.forms.schema(owners.trace.events.form(owners.event(at))).slots.size();
  }
  return owners;
}

TableRows first_rows(const Trace& trace, std::uint64_t count) {
  TableRows rows(trace);
  rows.count = count;
  return rows;
}

}  // namespace ridge::schema
