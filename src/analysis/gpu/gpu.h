// gpu: how each device spent the window: computing, copying, communicating, or idle, and idle why.
//
// All times are measures of sets of time within the scope's window:
//   exposed_comm = comm minus compute;  exposed_copy = copies and sets minus compute and comm
//   busy = compute + exposed_comm + exposed_copy;  busy + idle = window;  the idle causes add up to idle
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <ridge/report.h>

#include "facts/scope.h"
#include "model/idle.h"

namespace ridge {

struct IdleShare {
  std::int64_t time_ns = 0;
  std::int64_t gaps = 0;  // that have a piece of this cause
};

// Idle time of one cause that one call under one op stands for.
struct IdleSource {
  IdleCause cause = IdleCause::unknown;
  std::string call;  // the slice to blame: cudaStreamSynchronize, cudaMalloc, ...; for `launch` the launch call
  std::string op;    // around it; empty when there is none
  std::int64_t time_ns = 0;
  std::int64_t gaps = 0;
};

struct GpuDevice {
  std::int64_t device = 0;
  std::string name;  // empty: the trace does not say
  std::int64_t window_ns = 0, busy_ns = 0, compute_ns = 0, copy_ns = 0, comm_ns = 0;
  std::int64_t exposed_copy_ns = 0, exposed_comm_ns = 0, idle_ns = 0;
  std::array<IdleShare, kIdleCauses> idle{};
  std::vector<IdleSource> sources;  // most time first
};

struct Gpu {
  std::vector<GpuDevice> devices;
  bool no_device_events = false;
};

Gpu compute_gpu(const Scope& scope);
Report report_gpu(const Gpu& gpu);

// The name that the trace gives a device; empty when it does not.
std::string device_name(const Model& model, std::int64_t id);

}  // namespace ridge
