// Removal: a part of a program's time that is gone: pieces of device work, host time, waits. What a finding claims, as a change
// of a step's times.
#pragma once

#include <cstdint>
#include <vector>

#include "base/interval_set.h"
#include "predict/changes.h"

namespace ridge {

struct Removal {
  struct Work {
    std::uint32_t row = 0;  // of trace.of(device_work)
    std::int64_t ns = 0;    // gone from what it takes
  };
  struct Host {
    std::uint32_t thread = 0;  // index into tree.threads
    Interval time;
    double share = 1;  // of what the thread did by itself in that time
  };
  struct Gap {
    std::uint32_t row = 0;  // the work behind it
    std::int64_t ns = 0;
  };
  std::vector<Work> work;
  std::vector<Host> host;
  std::vector<NodeId> waits;  // calls that no longer wait
  std::vector<Gap> gaps;      // between two pieces of work of a stream

  bool empty() const { return work.empty() && host.empty() && waits.empty() && gaps.empty(); }
};

void remove_time(const Removal& removal, const ChangeContext& context, StepTimes* times);

}  // namespace ridge
