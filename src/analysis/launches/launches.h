// launches: what it costs the host to feed each device, and whether the device waits for it.
//
// Latency is from the start of the call to the start of the first work it launched, 0 when the clocks say less. The host's cost
// per launch is the time from the first launch to the last one, less what the host was held up (waits, blocking copies,
// compilation, data loading), by the number of launching calls; the device's is the time in which it was busy with what they
// launched, by the same number. A program is launch-bound when the host needs more than the device, and late launches are the
// main cause of its idle time and take a tenth of the window. One launch tells no rate.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <ridge/report.h>

#include "analysis/shared/curve.h"
#include "facts/scope.h"
#include "model/idle_cause.h"

namespace ridge {

struct DeviceLaunches {
  std::int64_t device = 0;
  std::int64_t calls = 0;        // that launched work on the device
  std::int64_t launched = 0;     // kernels, copies and sets that they launched
  std::int64_t from_graphs = 0;  // of these, by replays of captured graphs
  std::int64_t unlinked = 0;     // work whose launch is not recorded
  std::optional<std::int64_t> latency_p50_ns, latency_p99_ns;
  std::optional<double> host_ns_per_launch, device_ns_per_launch, queue_depth_mean;
  std::int64_t window_ns = 0;
  std::array<std::int64_t, kIdleCauses> idle_ns{};  // by cause
  std::int64_t cuda_graph_gain_ns = 0;              // at most: idle by cause launch and kernel_gap, but for gaps inside a graph
  std::int64_t pauses_ns = 0;  // waits for a launch of at least kHostPauseNs: not counted among idle_ns and the gain
  std::int64_t pauses = 0;
  std::int64_t pauses_in_calls_ns = 0;  // of them, those that a call of the driver took itself, mostly
  std::string longest_call;             // of these calls
  std::int64_t longest_call_ns = 0;
  bool takes_graphs = false;          // launched through an API that can capture and replay graphs
  std::optional<bool> launch_bound;   // when nobody records
  std::int64_t recorder_ns = 0;       // what recording cost the host, about (model/recorder_cost.h)
  bool recorder_may_explain = false;  // as recorded the device waits for launches; without that cost it does not
  std::int64_t idle_of(IdleCause cause) const { return idle_ns[static_cast<std::size_t>(cause)]; }

  std::vector<CurvePoint> queue_depth;  // launched and not yet started, over time from the window's start
};

struct LaunchCall {
  std::string name;
  std::int64_t calls = 0;
  std::int64_t launched = 0;
  std::int64_t self_ns = 0;  // less runtime and driver calls inside
  std::int64_t max_ns = 0;
};

struct Launches {
  std::vector<DeviceLaunches> devices;
  std::vector<LaunchCall> calls;  // runtime and driver calls by name, most time first
  bool no_device_events = false;
};

enum class WithQueue : bool { no, yes };

Launches compute_launches(const Scope& scope);
// The devices alone, for who asks what bounds them: without the calls by name and, unless asked for, the queue.
std::vector<DeviceLaunches> compute_launch_rates(const Scope& scope, WithQueue with_queue = WithQueue::no);
Report report_launches(const Launches& launches);

// Whether the host launches at least as fast as the device works; nothing where that is not known.
std::optional<bool> host_keeps_up(const DeviceLaunches& device);

// The answer in a sentence.
std::string launch_verdict(const DeviceLaunches& device);

}  // namespace ridge
