// EagerProgram: the ops of a trace as fusion.h sees them: what each that launched work reads and makes, and the views between
// them. By recorded shapes; where there are none by the names and grids of kernels, and what of these tells no size by the time
// that they took.
#pragma once

#include <cstdint>
#include <vector>

#include "facts/scope.h"
#include "predict/fusion.h"

namespace ridge {

struct EagerOp {
  NodeId node = kNoNode;
  std::vector<std::uint32_t> rows;  // of trace.of(device_work): what it launched; a view has none
};

struct EagerProgram {
  Flow flow;
  std::vector<EagerOp> ops;  // of each of flow.ops
  bool shapes = false;       // some ops have theirs recorded
};

// Of the work on one device.
EagerProgram eager_program(const Scope& scope, std::int64_t device);

// What a device moves in a nanosecond; where its bandwidth is not known, 1: sizes that times tell are relative then.
double bytes_a_ns(const Scope& scope, std::int64_t device);

}  // namespace ridge
