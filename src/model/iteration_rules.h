// The rules by which iterations are found, one function each; a rule that finds nothing gives an empty list.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "model/iterations.h"

namespace ridge {

using IterationList = std::vector<Iteration>;

struct IterationInputs {
  const Trace& trace;
  const CallTree& tree;
  const NodeOfEvent& node_of;
  const LaunchLinks& links;
  const std::function<const DeviceTimeline&()>& timeline;
  std::int64_t runs;
  TrackPart process;  // whose loop it is: traces of several ranks have the marks of each
};

// ---- by marks of the program (iteration_marks.cc)
IterationList by_profiler_step(const IterationInputs& in);
IterationList by_server_step(const IterationInputs& in);
IterationList by_optimizer_step(const IterationInputs& in);

// ---- by what repeats (iteration_repeats.cc)
IterationList by_compiled_graph(const IterationInputs& in);
IterationList by_python_frame(const IterationInputs& in);
IterationList by_device_period(const IterationInputs& in);

// ---- what they share
std::string_view name_at(const IterationInputs& in, std::size_t node);
bool in_main_process(const IterationInputs& in, std::size_t node);
// The ops and annotations whose name satisfies a condition, in tree order: those of the main process, when it has any.
std::vector<std::uint32_t> marks_named(const IterationInputs& in, bool (*condition)(std::string_view name));
// Marks cut the window into pieces: each reaches to the next, the last to the window's end; what is before the first belongs to
// it.
IterationList cut_at(std::vector<std::int64_t> starts, TimeRange window);

}  // namespace ridge
