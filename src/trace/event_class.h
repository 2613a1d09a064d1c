// EventClass: what a kind of event means to the analyses, found from `ph` and `cat` and never from pid or name.
// The table in event_class.cc has one row per category that a profiler writes.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace ridge {

enum class EventClass : std::uint8_t {
  op,              // cpu_op: ATen and autograd ops, compiled regions, Triton launch wrappers
  annotation,      // user_annotation: record_function, ProfilerStep#, compile phases
  python_frame,    // python_function
  launch,          // runtime and driver calls of any vendor
  device_work,     // kernels, copies, sets, and other accelerators' work
  gpu_annotation,  // an annotation's shadow on a stream: never work of its own
  sync,            // cuda_sync: recorded waits on a device track
  memory,          // [memory] instants
  overhead,        // the profiler's own cost
  span,            // the profiler's recording span
  flow,            // s, t, f
  counter,         // C
  metadata,        // M
  mark,            // other instants
  other,           // anything else, kept and reachable
};

inline constexpr std::size_t kEventClasses = static_cast<std::size_t>(EventClass::other) + 1;

std::string_view name_of(EventClass c);

// What sort of work a device event is.
enum class DeviceWork : std::uint8_t { none, kernel, copy, set, other };

struct CategoryRow {
  std::string_view cat;
  EventClass event_class;
  DeviceWork work;
  bool on_host;  // counts for the window as host activity
};

std::span<const CategoryRow> category_table();

// The row that rules slices and instants of this category; nullptr for an unknown one.
const CategoryRow* find_category(std::string_view cat);

// `ph` decides first (flows, counters, metadata), then the category.
EventClass classify(std::string_view ph, std::string_view cat);

// Phases that the trace event format defines; others are kept and counted.
bool is_known_phase(std::string_view ph);

}  // namespace ridge
