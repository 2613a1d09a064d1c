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

#include "analysis/scope.h"
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

// What a trace without device work says, in every analysis that needs some.
inline constexpr std::string_view kNoDeviceEvents = "no_device_events";
inline constexpr std::string_view kDeviceEventsCutOff =
    "the trace has no device events: the file is truncated, and they stand behind the host's: they were probably cut off";
Diagnostic no_device_events();
// What --filter did to an answer of which part has no names to choose by: `narrows` says what it narrows and what not, unless nothing matches.
inline constexpr std::string_view kFilterMatchesNothing = "filter_matches_nothing";
Diagnostic about_filter(const Scope& scope, bool matches, std::string_view narrows);
// Whether the end of the file is missing.
bool is_cut_short(const Trace& trace);
// Gives the truncation as the reason where that is why device events are missing.
void explain_no_device_events(const Trace& trace, std::vector<Diagnostic>& diagnostics);

}  // namespace ridge
