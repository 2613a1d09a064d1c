// Clocks: the times of several traces of one job on one clock. A pure function from what each trace says of its clock to what
// must be added to its times; the traces stay apart.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <ridge/result.h>

#include "trace/trace.h"

namespace ridge {

struct TraceClock {
  std::string name;  // of the trace, for messages
  std::optional<std::int64_t> base_time_ns;
  std::optional<TimeRange> window;  // by its own clock
};
TraceClock clock_of(const Trace& trace, std::string name);

// A trace that does not say when it was recorded, and what was done with its times.
struct UnknownClock {
  std::string name;
  bool moved = false;  // made to start with the others; else left: they lie among the others' as they stand
};

// A trace whose window begins so long after the last of those that begin before it has ended that they cannot be of one
// recording.
struct FarTrace {
  std::string name;
  std::int64_t gap_ns = 0;
};

struct AlignedClocks {
  std::vector<std::int64_t> add_ns;          // to the times of each trace
  std::optional<std::int64_t> base_time_ns;  // that they then count from: the earliest; nothing when no trace has one
  std::vector<UnknownClock> unknown;         // in the order of the traces
  std::vector<FarTrace> far_apart;           // in order of time
};

// An error where the clocks are so far apart that no job can have them.
Result<AlignedClocks> align_clocks(std::span<const TraceClock> traces);

}  // namespace ridge
