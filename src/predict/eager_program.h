// EagerProgram: the ops of a trace as fusion.h sees them: what each that launched work reads and makes, and the views between
// them on the threads that launched it. By recorded shapes; where there are none by the names and grids of kernels, and what of
// these tells no size by the time that they took.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "facts/scope.h"
#include "predict/fusion.h"

namespace ridge {

struct EagerProgram {
  struct Launched {
    std::uint32_t node = 0;  // of the op, or of the call where none is around it
    std::uint32_t row = 0;   // of trace.of(device_work)
  };
  Flow flow;                       // by node
  std::vector<Launched> launched;  // by node, and in the device's order; what is no part of the flow, too

  std::span<const Launched> launched_by(const FlowOp& op) const;
};

// Those of a trace's devices. What they share is made once.
class EagerPrograms {
 public:
  struct Shared;
  explicit EagerPrograms(const Scope& scope);
  ~EagerPrograms();

  EagerProgram of(std::int64_t device) const;

 private:
  std::unique_ptr<const Shared> shared_;
};

// What a device moves in a nanosecond: its bandwidth; where that is not known what the kernels of the trace reach that move
// most, and where their sizes are not known either what devices of a data centre moved in 2020.
double bytes_a_ns(const Scope& scope, std::int64_t device);

}  // namespace ridge
