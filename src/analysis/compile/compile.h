// compile: where compilation inside the window spent its time, as a tree of phases, and what autotuning tried.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <ridge/report.h>

#include "facts/scope.h"

namespace ridge {

struct PhaseCost {
  std::string_view phase;
  std::string_view parent;  // empty for an outermost phase
  CompileId id;
  bool autotune = false;
  std::int64_t depth = 0;
  std::int64_t calls = 0;
  std::int64_t total_ns = 0;
  std::int64_t self_ns = 0;  // without the phases inside
};

struct TunedKernel {
  std::string_view kernel;  // empty when the trace does not name it
  CompileId id;
  std::int64_t calls = 0;
  std::int64_t total_ns = 0;
  std::int64_t launches = 0;  // pieces of device work that the tuner ran
  std::int64_t gpu_ns = 0;
};

struct Compile {
  std::vector<PhaseCost> phases;     // a parent before its children, which stand in order of time
  std::vector<TunedKernel> kernels;  // in order of time
  bool has_device_work = false;

  std::int64_t total_ns() const;  // of all phases that are not autotuning: the sum of self times
  std::int64_t autotune_ns() const;
};

Compile compute_compile(const Scope& scope);
Report report_compile(const Compile& compile);

}  // namespace ridge
