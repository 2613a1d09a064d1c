// BenchmarkRuns: where a program times a kernel of its own, as `triton.autotune` does on the first call with a key: the kernel
// is launched, a buffer larger than any cache is made, and then the buffer is filled and the kernel launched by turns. No span
// tells of it; the order of the calls does.
#pragma once

#include <vector>

#include "model/call_tree.h"
#include "model/launch_links.h"
#include "trace/trace.h"

namespace ridge {

struct BenchmarkRun {
  NodeId first, last;  // launches of the kernel; what stands between them on that thread belongs to the run
};

// In tree order; disjoint.
std::vector<BenchmarkRun> find_benchmark_runs(const Trace& trace, const CallTree& tree, const LaunchLinks& links);

}  // namespace ridge
