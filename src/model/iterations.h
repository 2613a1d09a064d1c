// Iterations: the repeats of the program's main loop, and by which rule they were found.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "model/call_tree.h"
#include "model/device_timeline.h"
#include "model/launch_links.h"
#include "trace/trace.h"

namespace ridge {

enum class IterationRule : std::uint8_t {
  runs,            // --runs: the user said so
  profiler_step,   // ProfilerStep# spans
  server_step,     // steps that a server marks
  optimizer_step,  // Optimizer.step calls
  compiled_graph,  // the greatest common divisor of the compiled graphs' call counts
  python_frame,    // the outermost Python frame that recurs and holds the launches
  device_period,   // the shortest period of the device-event sequence
  whole_window,    // nothing repeats
};
std::string_view name_of(IterationRule rule);
// Whether nothing in the program marks them: the body of a loop inside an iteration then passes for one.
constexpr bool is_guess(IterationRule rule) {
  return rule == IterationRule::device_period || rule == IterationRule::whole_window;
}

struct Iteration {
  std::int64_t number = 0;    // N of ProfilerStep#N, else the index from 0
  std::int64_t start_ns = 0;  // on the host: device work belongs to the iteration that holds its launch
  std::int64_t end_ns = 0;
  std::int64_t begins_ns =
      0;  // for host and device: its start, or when the device has done the work of those before it, if that is later
  TimeRange span =
      {};  // what it takes: from there to its end on the host and on the device, without the recording's own start and end
  std::optional<std::int64_t> first_work_ns = {};  // start of its first device work
  std::int64_t work = 0;                           // device events that belong to it
};

struct Iterations {
  IterationRule rule = IterationRule::whole_window;
  std::vector<Iteration> list;  // in order of time, disjoint; at least one when the trace has a window

  // A trace of several ranks has the marks of each; `list` has those of the process with the most launches. Here are the host's
  // times of the same iterations in the other processes, in order.
  struct Marked {
    TimeRange host;
    std::size_t iteration;  // index into `list`
  };
  std::map<TrackPart, std::vector<Marked>> elsewhere = {};

  std::int64_t count() const { return static_cast<std::int64_t>(list.size()); }
  // Index of the iteration that holds `time_ns`; nothing when it lies between or outside.
  std::optional<std::size_t> at(std::int64_t time_ns) const;
  std::optional<std::size_t> at(std::int64_t time_ns, const TrackPart& process) const;
};

// Device work, by row, belongs to the iteration that holds its launch in the process that launched it; without a launch, to
// that in which it starts. What was queued before the recording belongs to none.
std::optional<std::size_t> iteration_of_work(const Trace& trace, const CallTree& tree, const LaunchLinks& links,
                                             const Iterations& iterations, std::size_t row);

// `runs`: how many iterations the user says the trace holds; 0 when not said.
// `timeline` is asked only when the sequence of device events has to tell.
Iterations build_iterations(const Trace& trace, const CallTree& tree, const NodeOfEvent& node_of, const LaunchLinks& links,
                            const std::function<const DeviceTimeline&()>& timeline, std::int64_t runs);

}  // namespace ridge
