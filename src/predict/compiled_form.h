// CompiledForm: the eager kernels of a program as a compiler would write them: which become one, and how long that takes.
//
// A group of them (fusion.h) takes as long as what it moves, and a part of what its kernels took beyond their own traffic:
// arithmetic stays, walks through memory in a bad order mostly do not. A kernel that stands alone is written anew, and gains
// little. What these figures are, and how well they tell, is in docs/accuracy.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "facts/scope.h"
#include "predict/eager_program.h"
#include "trace/tables.h"

namespace ridge {

struct GeneratedKernels {
  std::size_t ops = 0;  // that launch what is there now
  bool sure = true;     // by sizes that are told
  double now_ns = 0;    // what they take
  double left_ns = 0;   // what they would take; never more
  // What that is made of.
  double traffic_ns = 0;  // at the device's bandwidth
  // What kernels took beyond their own traffic: of arithmetic, of sums, and of what only moves.
  double beyond_ns = 0, beyond_of_sums_ns = 0, beyond_of_moves_ns = 0;
  double elements = 0, doubles = 0;  // that operations go over, all of them counted; in double precision
};

struct CompiledForm {
  struct Kernel {
    std::uint32_t group = 0;
    std::uint32_t part = 0;  // of the group: kernels of one part become one
    std::uint32_t row = 0;   // of trace.of(device_work)
  };
  std::vector<GeneratedKernels> groups;
  std::vector<Kernel> kernels;  // by group and part, and in order of launch
};

// Those of a trace's devices.
class CompiledForms {
 public:
  explicit CompiledForms(const Scope& scope) : scope_(scope), work_(device_work(scope.trace())), programs_(scope) {}
  CompiledForm of(std::int64_t device) const;

 private:
  const Scope& scope_;
  DeviceWorkTable work_;
  EagerPrograms programs_;
};

}  // namespace ridge
