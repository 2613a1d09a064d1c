// One pass per window, writing into room that was reserved for the whole of it.
#include "ingest/class_lists.h"

#include <algorithm>
#include <array>

namespace ridge {
namespace {

// What the window of a trace reaches over: host and device activity.
constexpr EventClass kActivity[] = {EventClass::op, EventClass::annotation, EventClass::python_frame, EventClass::launch,
                                    EventClass::device_work};

constexpr auto kIsActivity = [] {
  std::array<bool, kEventClasses> is{};
  for (const EventClass c : kActivity) is[static_cast<std::size_t>(c)] = true;
  return is;
}();

}  // namespace

std::span<const EventClass> activity_classes() { return kActivity; }

void Extent::add(std::int64_t ts, std::int64_t dur) {
  if (ts == kNoTime) return;
  if (ts == 0) {
    zero_end_ns = std::max(zero_end_ns, dur);
    ++at_zero;
    return;
  }
  start_ns = std::min(start_ns, ts);
  end_ns = std::max(end_ns, ts + dur);
}

void ClassLists::add(const EventRun& run) {
  const auto size = static_cast<std::uint32_t>(run.size());
  if (size == 0) return;
  if (std::max_element(run.form.begin(), run.form.end())->value >= class_of_.size())
    trace_->storage->forms.add_classes(&class_of_);
  std::array<EventId*, kEventClasses> next;
  for (std::size_t c = 0; c < kEventClasses; ++c) {
    trace_->by_class[c].reserve_more(size);
    next[c] = trace_->by_class[c].data() + trace_->by_class[c].size();
  }
  const EventClass* class_of = class_of_.data();
  const std::uint32_t first = trace_->events.size() - size;
  std::size_t long_durations = 0;
  Extent extent = activity_;  // a copy that can live in registers
  for (std::uint32_t i = 0; i < size; ++i) {
    const auto c = static_cast<std::size_t>(class_of[run.form[i].value]);
    *next[c]++ = EventId{first + i};
    std::int64_t dur = run.dur_ns[i];
    if (dur >= kLongDuration) [[unlikely]]
      dur = dur == kLongDuration ? run.long_dur_ns[long_durations++] : 0;
    if (kIsActivity[c]) extent.add(run.ts_ns[i], dur);
  }
  activity_ = extent;
  for (std::size_t c = 0; c < kEventClasses; ++c)
    trace_->by_class[c].set_size(static_cast<std::size_t>(next[c] - trace_->by_class[c].data()));
}

}  // namespace ridge
