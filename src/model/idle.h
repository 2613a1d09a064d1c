// Idle time of a device: the gaps in the union of its work, cut into pieces with one cause each.
//
// A gap [a, b) is ended by work E, launched by call L on thread T.
//  - L returned after a: the host was late. What T did from a until L returned decides, piece by piece: the stalls of that
//  thread
//    (host_stalls.h) where they cover the time, else `launch`. Before T's outermost slice around L began, the thread that
//    launched the work before E counts instead (backward runs on a thread of its own).
//  - A stall that drained the queue (sync, copy_wait, allocator) goes on counting after it returned, for as long as the device
//  was busy
//    meanwhile, or until the host is ahead again (a launch that returned kLaunchLatencyNs before its work started): without the
//    stall the host would have been that much earlier. So what is charged to a stall never exceeds its length.
//  - What is left of that to `launch` is the recorder's first, up to what being recorded cost the host since it last waited
//    (recorder_lateness.h).
//  - L had returned before a, but so shortly that its work was still on the way: as where L returned after a, `launch` and what
//    the host lost to stalls before. How long the way is, is what works with an idle device tell (MI300X: 18 to 32 us).
//  - L had returned before a, or more than kLaunchLatencyNs before b: work was queued. `kernel_gap` when E could start;
//  `dependency` when it
//    waited: for another stream, a collective or an event, or for more than kKernelGapNs, in which a device starts anything
//    that is ready.
//  - Before the device's first work and after its last one in the trace: `head_tail`, but for what a compilation, the
//  allocator, the data
//    loader or a copy covers.
//  - E has no launch: queued when it comes before all launched work of its stream (launched before the window), else `unknown`.
//
// Invariants: gaps and pieces ascend and are disjoint; a gap's pieces cover it exactly; gaps and busy_time() cover the window
// exactly.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "model/host_stalls.h"
#include "model/idle_cause.h"
#include "model/model.h"

namespace ridge {

// Dispatching an eager op takes 5 to 100 us, with stacks and shapes recorded; what waits ten times that long for a launch waits
// for something else that the host does.
inline constexpr std::int64_t kHostPauseNs = 1'000'000;

// From the return of a launch to the start of its work with an empty queue; seen: 1 to 25 us.
inline constexpr std::int64_t kLaunchLatencyNs = 30'000;
// A pause between ready kernels is 1 to 5 us, some tens behind a graph launch.
inline constexpr std::int64_t kKernelGapNs = 100'000;
inline constexpr std::uint32_t kNoWork = UINT32_MAX;

struct IdlePiece {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  IdleCause cause = IdleCause::unknown;
  NodeId node = kNoNode;  // the host slice to blame: the stall, or for `launch` the launch call; kNoNode when there is none

  std::int64_t length() const { return end_ns - start_ns; }
};

struct IdleGap {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::uint32_t last_work = kNoWork;  // row of trace.of(device_work) of the work before the gap; kNoWork when there is none
  std::uint32_t next_work = kNoWork;  // and of the work that ended it
  std::uint32_t first_piece = 0;
  std::uint32_t piece_count = 0;

  std::int64_t length() const { return end_ns - start_ns; }
};

struct DeviceIdle {
  std::int64_t device = 0;
  std::vector<IdleGap> gaps;
  std::vector<IdlePiece> pieces;

  std::span<const IdlePiece> pieces_of(const IdleGap& gap) const { return {pieces.data() + gap.first_piece, gap.piece_count}; }
  // The cause of most of a gap's time, and the longest piece of it.
  const IdlePiece& dominant(const IdleGap& gap) const;
};

// Idle time of each device of the timeline within `window`, in the timeline's order.
std::vector<DeviceIdle> split_idle(const Model& model, TimeRange window);
// Of these the gaps before a device's first work and behind its last, without looking at those between.
std::vector<DeviceIdle> split_idle_at_the_ends(const Model& model, TimeRange window);

// How people know a slice's op: the outermost of the ATen ops right around it (aten::item, not aten::_local_scalar_dense); any
// other op as it is; kNoNode when there is none.
NodeId outer_op(const Trace& trace, const CallTree& tree, NodeId node);

}  // namespace ridge
