// gaps: the pauses of each device, longest first: why, and which op and Python frame ended them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <ridge/report.h>

#include "facts/scope.h"
#include "model/idle.h"

namespace ridge {

struct GapPart {
  IdleCause cause = IdleCause::unknown;
  std::int64_t time_ns = 0;
};

struct GapRow {
  std::int64_t device = 0;
  std::int64_t start_ns = 0;  // from the window's start
  std::int64_t duration_ns = 0;
  IdleCause cause = IdleCause::unknown;  // of most of it
  std::string blame;                     // the host slice behind that cause, and its op
  std::string op;                        // that launched the work which ended the gap; empty: none is known
  std::string location;                  // and the Python frame around that launch
  std::string next_kernel;               // the work itself; empty at the window's end
  std::vector<GapPart> parts;            // the gap by cause, most time first: over all gaps they are the idle time of `gpu`
};

struct Gaps {
  std::vector<GapRow> rows;  // longest first
  bool no_device_events = false;
};

Gaps compute_gaps(const Scope& scope);
Report report_gaps(const Gaps& gaps);

}  // namespace ridge
