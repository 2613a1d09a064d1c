// How much memory each table of the model holds, so that the engine can keep to its budget.
#pragma once

#include <cstdint>

#include "base/heap_bytes.h"
#include "model/model.h"

namespace ridge {

std::uint64_t heap_bytes(const CallTree& tree);
std::uint64_t heap_bytes(const LaunchLinks& links);
std::uint64_t heap_bytes(const HostStalls& stalls);
std::uint64_t heap_bytes(const KernelIdentities& identities);
std::uint64_t heap_bytes(const DeviceTimeline& timeline);
std::uint64_t heap_bytes(const Iterations& iterations);
std::uint64_t heap_bytes(const Autotuning& tuning);
std::uint64_t heap_bytes(const CompilePhases& phases);
std::uint64_t heap_bytes(const ForwardBackward& links);
std::uint64_t heap_bytes(const CompiledRegions& regions);
std::uint64_t heap_bytes(const CompilerWork& work);
std::uint64_t heap_bytes(const GraphReplays& replays);
std::uint64_t heap_bytes(const RecorderCosts& costs);

}  // namespace ridge
