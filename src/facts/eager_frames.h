// EagerFrames: frames that torch.compile was asked for and that Dynamo gave up. Where it cannot go on behind a break (in a
// loop, a `with` or a `try`), the whole function runs eager, and what it calls is compiled call by call. From one such call to
// the next, compiled code is left and entered again, as at a graph break, but no function is resumed.
//
// Such a frame is a Python frame above compiled calls and below what asked for it to be compiled. Without stacks it cannot be
// told from a function that was not called in the recording, or one that Dynamo is told to leave alone: then it is said that
// there may be one.
#pragma once

#include <cstdint>
#include <vector>

#include "facts/scope.h"

namespace ridge {

// How the region calls of a trace lie in each other; by index into compiled_regions().calls.
struct RegionNest {
  std::vector<std::uint32_t> around;  // of each call: the region call around it; kNoCall
  std::vector<bool> resumed;          // a function that goes on behind a break
};

// One call of what was to be compiled as one: the compiled calls that eager frames in it make instead, two or more, in order.
struct Piecewise {
  struct Call {
    std::uint32_t call = 0;  // of a region
    NodeId caller;           // the Python frame
  };
  std::vector<Call> calls;
};

struct EagerFrames {
  std::vector<Piecewise> pieces;  // in order of their first compiled call
  std::int64_t unsure = 0;        // compiled calls of what may be such a frame, without stacks
};

// Of what starts in the scope.
EagerFrames find_eager_frames(const Scope& scope, const RegionNest& nest);

}  // namespace ridge
