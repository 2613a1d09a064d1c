// Model: the meaning of one trace, as tables that are built when first asked for and kept. Each table is made by a free
// function of its own header; this only remembers them. Thread-safe.
#pragma once

#include <cstdint>
#include <memory>

#include "model/autotune.h"
#include "model/call_tree.h"
#include "model/compile_phases.h"
#include "model/compiled_regions.h"
#include "model/compiler_work.h"
#include "model/device_timeline.h"
#include "model/forward_backward.h"
#include "model/graph_replays.h"
#include "model/host_stalls.h"
#include "model/iterations.h"
#include "model/kernel_identity.h"
#include "model/launch_links.h"
#include "model/locations.h"
#include "model/recorder_cost.h"
#include "trace/trace.h"

namespace ridge {

class Model {
 public:
  explicit Model(const Trace& trace, std::int64_t runs = 0);
  ~Model();
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  const Trace& trace() const { return trace_; }
  const CallTree& tree() const;
  // Kept until the tables that are made from it are there; whoever holds it has it for as long.
  std::shared_ptr<const NodeOfEvent> node_of() const;
  const LaunchLinks& links() const;
  const HostStalls& host_stalls() const;
  const KernelIdentities& identities() const;
  const DeviceTimeline& timeline() const;
  const Iterations& iterations() const;
  const Autotuning& autotuning() const;
  const CompilePhases& compile_phases() const;
  const ForwardBackward& forward_backward() const;
  const CompiledRegions& compiled_regions() const;
  const CompilerWork& compiler_work() const;
  const GraphReplays& graph_replays() const;
  const Locations& locations() const;
  const RecorderCosts& recorder_costs() const;

  // Of the tables made so far: what their columns take, the trace not counted.
  std::uint64_t memory_bytes() const;

 private:
  struct Tables;
  const Trace& trace_;
  std::int64_t runs_;
  std::unique_ptr<Tables> tables_;
};

}  // namespace ridge
