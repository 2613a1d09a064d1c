// Removal: a part of a program's time that is gone: pieces of device work, host time, waits. What a finding claims, as a change
// of a step's times.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/interval_set.h"
#include "predict/changes.h"

namespace ridge {

struct Removal {
  struct Work {
    std::uint32_t row = 0;  // of trace.of(device_work)
    std::int64_t ns = 0;    // gone from what it takes
    bool beside = false;    // another finding claims that time: with both it goes once
    bool whole = false;     // of what is beside: its launch goes with it
  };
  // A launch that stays, and the part of the host's time for it that goes.
  struct Call {
    std::uint32_t row = 0;  // of the work that is launched
    double share = 1;
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
  std::vector<Call> calls = {};  // as a finding tells them; a removal that is replayed has them among `host`
  std::vector<Host> host;
  std::vector<NodeId> waits;  // calls that no longer wait
  std::vector<Gap> gaps;      // between two pieces of work of a stream

  bool empty() const { return work.empty() && host.empty() && waits.empty() && gaps.empty(); }
};

// In order, and none over another: where several stretches of a thread overlap the largest share counts; those that touch, of
// one share, are one.
std::vector<Removal::Host> apart(std::vector<Removal::Host> parts);

// What several removals take off the device's work, by row.
std::vector<Removal::Work> work_gone(std::span<const Removal* const> removals);

// All of them together.
void remove_time(std::span<const Removal* const> removals, const ChangeContext& context, StepTimes* times);

}  // namespace ridge
