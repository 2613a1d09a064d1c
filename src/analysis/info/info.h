// info: what the trace is, before any question is asked of it. Its first table is of the file, whatever the scope; categories,
// tracks, iterations and devices are those of the scope; --filter narrows the events that categories and tracks count.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ridge/report.h>

#include "facts/scope.h"

namespace ridge {

struct KindCount {
  KindId kind;
  std::int64_t events = 0;
  std::optional<std::int64_t> time_ns;  // sum of durations; nothing when no event of the kind has one
};

struct TrackCount {
  TrackId track;
  std::int64_t events = 0;
  std::int64_t first_ns = 0;
  std::int64_t last_ns = 0;
};

struct Info {
  const Trace* trace = nullptr;
  std::string_view producer;
  // Whether the trace holds them: as the profiler says, else as the events show; nothing when neither tells.
  std::optional<bool> record_shapes, with_stack, profile_memory;
  std::vector<KindCount> kinds;    // in order of time, then events
  std::vector<TrackCount> tracks;  // those with events that happen at a time
  const Iterations* iterations = nullptr;
  std::vector<std::size_t> in_scope;   // of the iterations, by index
  std::vector<std::int64_t> launched;  // device events launched in each iteration, by index
  std::vector<DeviceProperties> devices;
};

// A pid or tid as the trace spells it; nothing when an event has none.
std::optional<std::string> part_text(const Trace& trace, const TrackPart& part);

Info compute_info(const Scope& scope);
Report report_info(const Info& info);

}  // namespace ridge
