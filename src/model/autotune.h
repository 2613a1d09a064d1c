// Autotuning: which device work is a compiler trying out configurations of a kernel, and not the program's own.
//
// A launch is autotuning when it lies under a span of the tuner: CachingAutotuner.*, benchmark_* of Inductor, do_bench,
// *_template_autotuning; a Python frame of those functions counts where stacks were recorded; or in a run of
// model/benchmark_runs.h.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "model/call_tree.h"
#include "model/launch_links.h"
#include "trace/trace.h"

namespace ridge {

struct Autotuning {
  std::vector<NodeId> spans;  // the outermost ones, in tree order; disjoint within a thread
  std::vector<std::uint8_t>
      work;  // by row of trace.of(EventClass::device_work): 1 when it was launched by autotuning; empty when none was
  std::vector<std::uint8_t> node;  // by node: 1 inside a span; empty when there is none

  bool holds(NodeId n) const { return !node.empty() && node[n.value] != 0; }
  bool holds_work(std::size_t row) const { return !work.empty() && work[row] != 0; }
};

// Whether a slice of that class and name is a span of the tuner.
bool is_autotune_span(EventClass event_class, std::string_view name);

Autotuning build_autotuning(const Trace& trace, const CallTree& tree, const LaunchLinks& links);

}  // namespace ridge
