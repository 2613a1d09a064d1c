// Places of arguments by form, and the values that are not read in line.
#include "trace/schema/arg_rows.h"

#include "trace/arg_slots.h"

namespace ridge::schema {

ArgReader::ArgReader(const Trace& trace, ArgKey key, bool member, std::optional<EventClass> only) : trace_(&trace) {
  for (const Slot& slot : slots_by_form(trace, key, member)) {
    const bool matters = !only || trace.forms.kind(FormId{places_.size()}).event_class == *only;
    places_.push_back({slot.word, slot.fixed, slot.type});
    absent_ = absent_ && (slot.type == ArgType::null || !matters);
  }
}

std::optional<double> ArgReader::number(const ArgRow& row) const {
  const Place& place = places_[row.form.value];
  if (place.type == ArgType::null) return std::nullopt;
  Slot slot;
  slot.type = place.type;
  slot.word = place.word;
  slot.fixed = place.fixed;
  return value_of(*trace_, slot, row.words).as_number();
}

}  // namespace ridge::schema
