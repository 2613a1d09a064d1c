// ClassLists: lists the events of a trace by class as they arrive, and notes from when to when they reach. Done window by
// window, while a window's columns are still in the cache and other threads go on parsing; a pass over all events behind the
// last one would be one thread's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "trace/event_class.h"
#include "trace/event_table.h"
#include "trace/trace.h"

namespace ridge {

// First start to last end. Events at time 0 are held apart, and counted: they may be strays.
struct Extent {
  std::int64_t start_ns = std::numeric_limits<std::int64_t>::max();
  std::int64_t end_ns = std::numeric_limits<std::int64_t>::min();
  std::int64_t zero_end_ns = std::numeric_limits<std::int64_t>::min();  // the last end of what starts at time 0
  std::uint64_t at_zero = 0;

  bool only_zero() const { return start_ns > end_ns; }
  bool none() const { return only_zero() && at_zero == 0; }
  void add(std::int64_t ts, std::int64_t dur);
};

// What counts for the window of a trace.
std::span<const EventClass> activity_classes();

class ClassLists {
 public:
  explicit ClassLists(Trace* trace) : trace_(trace) {}

  // The events that the trace's table took last.
  void add(const EventRun& run);

  const Extent& activity() const { return activity_; }  // by the durations that the events themselves have

 private:
  Trace* trace_;
  std::vector<EventClass> class_of_;  // by form
  Extent activity_;
};

}  // namespace ridge
