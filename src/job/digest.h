// Digest: what a whole job needs of one rank's trace, so that the trace can be let go: who the rank is, its steps, its
// collectives, and between two of them what bounded the time: the device's work, the host, the data loader.
//
// The time between collectives is a list of LaneItems, in the order in which the host issued them. A rank is seen as a host
// that issues, a lane of device work (all streams but those of collectives, as one), and streams of collectives. An item says
// how these three clocks go on, in the algebra of max and plus, so that the rank can be replayed with other times
// (job/replay.h):
//   run         work of the device. host' = host + host_ns; lane' = max(lane + device_ns, host + late_launch_ns +
//   late_rest_ns),
//               the second being the path through the launch that was the last to hold the device up
//   collective  host' = host + host_ns; it begins at max(host', its stream, the lane if it depends on it) + lag_ns and ends,
//   when
//               all have begun and it is transferred; its stream goes on then
//   wait        lane' = max(lane, end of the collective `target`)
//   sync        host' = max(host + host_ns, lane or the end of `target`) + lag_ns
//   loader      host' = host + host_ns + device_ns, the second being the wait for the next batch
//   pause       host' = host + host_ns: the host stands still, or needs longer than one item can tell
//   after       the collective that follows begins no earlier than the end of `target`
// Replayed with its own times a rank comes out as recorded, but for rounding and what nothing explains.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ridge {

inline constexpr std::uint32_t kNoCollective = UINT32_MAX;

enum class LaneItemKind : std::uint8_t { run, collective, wait, sync, loader, pause, after };
inline constexpr std::size_t kLaneItemKinds = static_cast<std::size_t>(LaneItemKind::after) + 1;

struct LaneItem {
  LaneItemKind kind = LaneItemKind::pause;
  bool after_lane = false;  // of a collective: it waits for the lane; with `ahead` for the lane as it was -lag_ns earlier
  bool ahead = false;
  std::uint8_t stream = 0;  // of a collective: index of its stream
  std::uint32_t host_ns = 0;
  std::uint32_t device_ns = 0;
  std::uint32_t late_launch_ns = 0;
  std::uint32_t late_rest_ns = 0;
  std::uint32_t kernels = 0;             // of a run: pieces of work,
  std::uint32_t kernel_ns = 0;           // their time,
  std::uint32_t work_hash = 0;           // and what they are: names and grids, in any order
  std::uint32_t target = kNoCollective;  // index into Digest::collectives; of a sync kNoCollective: the lane
  std::int32_t lag_ns = 0;

  bool operator==(const LaneItem&) const = default;
};

struct DigestGroup {
  std::string name;
  std::string description;
  std::optional<std::int64_t> size;
  std::vector<std::int64_t> ranks;  // empty where the trace does not list them all

  bool operator==(const DigestGroup&) const = default;
};

struct DigestCollective {
  std::int64_t start_ns = 0;  // by the rank's own clock
  std::int64_t end_ns = 0;
  std::int64_t exposed_ns = 0;  // of it no other work of the device covered
  std::optional<std::int64_t> bytes;
  std::optional<std::int64_t> sequence;
  std::optional<std::int64_t> source, destination;  // of a send or a receive
  std::uint32_t step = 0;                           // index into Digest::steps
  std::uint32_t group = 0;                          // and so on
  std::uint32_t name = 0;
  std::uint32_t dtype = 0;
  bool on_host = false;

  bool operator==(const DigestCollective&) const = default;
};

// Idle time of the lane by what held it up.
enum class LaneIdle : std::uint8_t { launch, loader, sync, collective, other };
inline constexpr std::size_t kLaneIdles = static_cast<std::size_t>(LaneIdle::other) + 1;

struct DigestStep {
  std::int64_t number = 0;
  std::int64_t start_ns = 0;  // what the step takes, on host and device
  std::int64_t end_ns = 0;
  std::int64_t busy_ns = 0;     // of the device: any work
  std::int64_t compute_ns = 0;  // any work but collectives
  std::int64_t comm_ns = 0;     // sum over collectives, those on the host too
  std::int64_t exposed_ns = 0;  // in a collective, or several, and nothing else at work
  std::array<std::int64_t, kLaneIdles> idle_ns = {};

  bool operator==(const DigestStep&) const = default;
};

// Times by size, 16 buckets for each power of two: quantiles within 6 %.
struct TimeSketch {
  std::vector<std::pair<std::uint16_t, std::uint32_t>> buckets;  // (index, count), ascending

  bool operator==(const TimeSketch&) const = default;
};

struct DigestKernel {
  std::string name;
  std::uint32_t shape = 0;  // hash of grid and block
  std::int64_t count = 0;
  std::int64_t time_ns = 0;
  TimeSketch times = {};

  bool operator==(const DigestKernel&) const = default;
};

struct DigestOp {
  std::string name;
  std::int64_t count = 0;
  std::int64_t self_ns = 0;

  bool operator==(const DigestOp&) const = default;
};

// What `findings` says of the trace, where it was asked.
struct DigestFinding {
  std::string id;
  std::string finding;
  std::string action;
  std::optional<std::int64_t> saves_ns;  // of a step
  std::optional<std::int64_t> at_most_ns;

  bool operator==(const DigestFinding&) const = default;
};

struct Digest {
  std::string path;  // of the trace
  std::string host;  // name of the machine; empty where not told
  std::string device;
  std::string backend;
  std::string iterations;  // by which rule they were found
  std::optional<std::int64_t> rank, world_size;
  std::optional<std::int64_t> base_time_ns;  // what the times count from
  bool damaged = false;                      // the trace was cut off or its events were partly lost
  std::int64_t start_ns = 0;                 // where the items begin, by the rank's own clock
  std::int64_t end_ns = 0;                   // of the window
  std::vector<DigestGroup> groups;
  std::vector<std::string> names;  // of collectives, and their types
  std::vector<DigestStep> steps;
  std::vector<DigestCollective> collectives;  // in the order of issue
  std::vector<LaneItem> items;
  std::vector<DigestKernel> kernels;  // most time first
  std::vector<DigestOp> ops;          // most host time of their own first
  bool knows_findings = false;        // whether they were asked for
  std::vector<DigestFinding> findings;

  bool operator==(const Digest&) const = default;
};

}  // namespace ridge
