// gaps: the pauses of each device, longest first: why, and which op and Python frame ended them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <ridge/report.h>

#include "facts/iteration_time.h"
#include "facts/scope.h"
#include "model/idle.h"

namespace ridge {

struct GapPart {
  IdleCause cause = IdleCause::unknown;
  std::int64_t time_ns = 0;
};

// There may be as many as launches, so it is small. Texts are the trace's; empty: not known.
struct GapRow {
  std::int64_t device = 0;
  std::int64_t start_ns = 0;  // from the window's start
  std::int64_t duration_ns = 0;
  IdleCause cause = IdleCause::unknown;  // of most of it
  std::uint8_t part_count = 0;           // see Gaps::parts_of()
  std::uint32_t first_part = 0;
  std::string_view blame, blame_op;  // the host slice behind that cause, and the op around it where it is none itself
  std::string_view op;               // that launched the work which ended the gap
  std::string_view location;         // and the Python frame around that launch
  std::string_view next_kernel;      // the work itself; empty at the window's end
};

struct Gaps {
  std::vector<GapRow> rows;    // longest first
  std::vector<GapPart> parts;  // of all of them
  IterationTime time;
  bool no_device_events = false;

  // The gap by cause, most time first: over all gaps they are the idle time of `gpu`.
  std::span<const GapPart> parts_of(const GapRow& row) const { return {parts.data() + row.first_part, row.part_count}; }
};

Gaps compute_gaps(const Scope& scope);
Report report_gaps(const Gaps& gaps);

}  // namespace ridge
