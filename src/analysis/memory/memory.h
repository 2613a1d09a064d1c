// memory: what was allocated and freed, by which op and in which iteration, the peak and who held it. From the [memory] events
// of profile_memory=True.
//
// An allocation belongs to the innermost op around it that does more than allocate (aten::linear, not aten::empty). It stays
// that op's until it is freed, wherever that happens; so `freed` of an op is of its own allocations. Memory whose allocation
// was not recorded has a row of its own, and the holders of the peak add up to the peak.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <ridge/report.h>

#include "analysis/shared/curve.h"
#include "facts/scope.h"

namespace ridge {

struct MemoryOp {
  std::string op;  // "[no op]", "[allocated before the recording]"
  std::int64_t allocations = 0, allocated_bytes = 0;
  std::int64_t frees = 0, freed_bytes = 0;
  std::optional<std::int64_t>
      peak_bytes;  // the most that its allocations held at one time; unknown for what was not seen allocated
};

struct MemoryHolder {
  std::string op;
  std::optional<std::int64_t> allocations;
  std::int64_t bytes = 0;
};

struct MemoryIteration {
  std::int64_t iteration = 0;
  std::int64_t allocations = 0, allocated_bytes = 0, freed_bytes = 0;
  std::optional<std::int64_t> peak_bytes;  // of the allocator's counter; nothing when nothing happened
};

struct MemoryDevice {
  std::string device;  // cuda:0, cpu
  std::int64_t events = 0;
  std::int64_t allocated_bytes = 0, freed_bytes = 0;
  std::int64_t peak_bytes = 0, peak_time_ns = 0;  // of the allocator's counter; time from the window's start
  std::optional<std::int64_t> peak_reserved_bytes;
  std::vector<MemoryOp> ops;          // most allocated first
  std::vector<MemoryHolder> holders;  // most bytes first
  std::vector<MemoryIteration> iterations;
  std::vector<CurvePoint> allocated, reserved;
};

struct Memory {
  std::vector<MemoryDevice> devices;  // accelerators first
  bool no_memory_events = false;
};

Memory compute_memory(const Scope& scope);
Report report_memory(const Memory& memory);

}  // namespace ridge
