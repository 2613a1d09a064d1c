// Streams as lanes, and for each piece of work the thing that it waited for last: its launch, the work before it in its stream,
// or work of another stream. That edge has the time that passed; the others have what is typical of their kind, so that they
// decide when that one no longer does.
#include "predict/device_lanes.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/median.h"
#include "model/graph_replays.h"
#include "model/name_flags.h"
#include "predict/replay.h"

namespace ridge {
namespace {

// Where a trace has too few samples; seen on an H200: 4 to 8 us and 0.8 to 1.6 us.
constexpr std::int64_t kUsualLatencyNs = 6'000;
constexpr std::int64_t kUsualGapNs = 1'000;
constexpr std::size_t kFewestSamples = 3;
constexpr std::int64_t kSurelyQueuedNs = 10'000;  // a launch that returned so long before the stream was free

StepKind kind_of(WorkSort sort) {
  if (sort == WorkSort::compute) return StepKind::kernel;
  return sort == WorkSort::comm ? StepKind::comm : StepKind::copy;
}

std::int64_t typical(std::vector<std::int64_t> samples, std::int64_t otherwise) {
  return samples.size() < kFewestSamples ? otherwise : median(std::move(samples));
}

// The shortest of a kind: of work that always found a queue, it is what is known of a launch. A first use may take longer.
class Shortest {
 public:
  void note(std::int64_t ns) { least_ns_ = std::min(least_ns_, ns); }
  std::int64_t or_usual(std::int64_t usual_ns) const { return least_ns_ <= kLongestLatencyNs ? least_ns_ : usual_ns; }

 private:
  std::int64_t least_ns_ = INT64_MAX;
};

// How long launches and gaps take when nothing else is waited for.
struct TypicalTimes {
  std::int64_t latency_ns = kUsualLatencyNs;
  std::int64_t graph_latency_ns = kUsualLatencyNs;
  std::int64_t gap_ns = kUsualGapNs;
};

class DeviceEdges {
 public:
  DeviceEdges(const Model& model, const DeviceLanes& lanes, const std::vector<std::uint32_t>& position, StepGraph* graph)
      : lanes_(lanes),
        position_(position),
        graph_(*graph),
        graph_launch_(model.trace(), is_graph_launch),
        trace_(model.trace()),
        tree_(model.tree()),
        waits_(find_stream_waits(model, lanes, *graph)) {}

  std::vector<PendingEdge> find() {
    measure();
    graph_.gap_ns.resize(graph_.size() - graph_.first_device);
    for (const StepLane& lane : graph_.lanes) {
      if (!lane.device) continue;
      for (std::uint32_t node = lane.first; node < lane.first + lane.count; ++node) add(node, node == lane.first);
    }
    return std::move(edges_);
  }

 private:
  struct Candidate {
    std::uint32_t from;
    std::int64_t passed_ns;   // when it let the work go, without any lag
    std::int64_t typical_ns;  // usual lag
  };

  std::uint32_t launch_of(std::uint32_t node) const { return lanes_.launch_of[node - graph_.first_device]; }
  bool by_graph(std::uint32_t launch) const { return graph_launch_[trace_.events.name(tree_.event[graph_.source[launch]])]; }
  std::int64_t end_of(std::uint32_t node) const { return graph_.start_ns[node] + graph_.duration_ns[node]; }
  // A graph's nodes are launched together: the first of each stream waits for the launch, the others for those before them.
  bool waits_for_launch(std::uint32_t node, bool leads) const {
    const std::uint32_t launch = launch_of(node);
    return launch != StepGraph::kNone && (leads || launch_of(node - 1) != launch);
  }

  void measure() {
    std::vector<std::int64_t> latencies, graph_latencies, gaps;
    Shortest latency;
    std::size_t wait = 0;
    for (const StepLane& lane : graph_.lanes) {
      for (std::uint32_t node = lane.first; lane.device && node < lane.first + lane.count; ++node) {
        const bool leads = node == lane.first;
        if (!waits_for_launch(node, leads)) continue;
        const std::uint32_t launch = launch_of(node);
        const std::int64_t called = graph_.start_ns[launch], started = graph_.start_ns[node];
        while (wait < waits_.size() && waits_[wait].node < node) ++wait;
        if (wait < waits_.size() && waits_[wait].node == node) continue;  // for another stream, however long after its launch
        if (started >= called && !by_graph(launch)) latency.note(started - called);
        if (leads || end_of(node - 1) <= called) {
          if (started >= called) (by_graph(launch) ? graph_latencies : latencies).push_back(started - called);
        } else if (end_of(node - 1) >= called + graph_.duration_ns[launch] + kSurelyQueuedNs && started >= end_of(node - 1)) {
          gaps.push_back(started - end_of(node - 1));
        }
      }
    }
    typical_.latency_ns = typical(std::move(latencies), latency.or_usual(kUsualLatencyNs));
    typical_.graph_latency_ns = typical(std::move(graph_latencies), typical_.latency_ns);
    typical_.gap_ns = typical(std::move(gaps), kUsualGapNs);
    graph_.launch_latency_ns = typical_.latency_ns;
    graph_.stream_gap_ns = typical_.gap_ns;
  }

  void add(std::uint32_t node, bool leads) {
    const std::int64_t start = graph_.start_ns[node];
    candidates_.clear();
    if (waits_for_launch(node, leads)) consider_launch(node);
    if (launch_of(node) == StepGraph::kNone) ++graph_.evidence.unlinked_work;
    for (; next_wait_ < waits_.size() && waits_[next_wait_].node <= node; ++next_wait_) {
      const StreamWait& wait = waits_[next_wait_];
      if (wait.node < node) continue;
      if (position_[wait.for_node] < position_[node]) {
        candidates_.push_back({wait.for_node, end_of(wait.for_node), typical_.gap_ns});
        ++(wait.recorded ? graph_.evidence.recorded_stream_waits : graph_.evidence.inferred_stream_waits);
      } else {
        ++graph_.evidence.contradictions;
      }
    }
    // What held it up: what would have let it go last.
    const std::int64_t stream_free = leads ? 0 : end_of(node - 1);
    std::size_t last = candidates_.size();  // stands for the stream
    std::int64_t ready = leads ? INT64_MIN : stream_free + typical_.gap_ns;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      if (candidates_[i].passed_ns + candidates_[i].typical_ns > ready) {
        last = i;
        ready = candidates_[i].passed_ns + candidates_[i].typical_ns;
      }
    }
    const std::int64_t gap = start - stream_free;
    graph_.gap_ns[node - graph_.first_device] = leads ? 0 : last == candidates_.size() ? gap : std::min(gap, typical_.gap_ns);
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      const std::int64_t lag = start - candidates_[i].passed_ns;
      edges_.push_back({node, candidates_[i].from, i == last ? lag : std::min(lag, candidates_[i].typical_ns)});
    }
  }

  void consider_launch(std::uint32_t node) {
    const std::uint32_t launch = launch_of(node);
    if (position_[launch] >= position_[node]) {
      ++graph_.evidence.contradictions;
      return;
    }
    candidates_.push_back(
        {launch, graph_.start_ns[launch], by_graph(launch) ? typical_.graph_latency_ns : typical_.latency_ns});
  }

  const DeviceLanes& lanes_;
  const std::vector<std::uint32_t>& position_;
  StepGraph& graph_;
  const NameFlags graph_launch_;
  const Trace& trace_;
  const CallTree& tree_;
  const std::vector<StreamWait> waits_;
  std::size_t next_wait_ = 0;
  TypicalTimes typical_;
  std::vector<Candidate> candidates_;
  std::vector<PendingEdge> edges_;
};

}  // namespace

DeviceLanes add_device_lanes(const Model& model, const HostLanes& host, StepGraph* graph) {
  DeviceLanes out;
  graph->first_device = static_cast<std::uint32_t>(graph->size());
  out.of_row.assign(model.trace().of(EventClass::device_work).size(), StepGraph::kNone);
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint32_t> counts;
  for (const Device& device : model.timeline().devices) {
    for (const WorkRow& work : device.work) ++counts[{device.id, work.stream}];
  }
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint32_t> next;
  std::uint32_t first = graph->first_device;
  for (const auto& [stream, count] : counts) {
    graph->lanes.push_back(
        {.first = first, .count = count, .device = true, .device_id = stream.first, .stream = stream.second});
    next[stream] = first;
    first += count;
  }
  graph->start_ns.resize(first);
  graph->duration_ns.resize(first);
  graph->source.resize(first);
  graph->kind.resize(first);
  out.launch_of.resize(first - graph->first_device);
  for (const Device& device : model.timeline().devices) {
    for (const WorkRow& work : device.work) {
      const std::uint32_t node = next[{device.id, work.stream}]++;
      graph->start_ns[node] = work.start_ns;
      graph->duration_ns[node] = std::max<std::int64_t>(0, work.end_ns - work.start_ns);
      graph->source[node] = work.row;
      graph->kind[node] = kind_of(work.sort);
      out.of_row[work.row] = node;
      const NodeId call = model.links().launch[work.row];
      const bool known = call != kNoNode && call.value < host.of_call.size();
      out.launch_of[node - graph->first_device] = known ? host.of_call[call.value] : StepGraph::kNone;
    }
  }
  return out;
}

std::vector<PendingEdge> device_edges(const Model& model, const DeviceLanes& lanes, const std::vector<std::uint32_t>& position,
                                      StepGraph* graph) {
  return DeviceEdges(model, lanes, position, graph).find();
}

}  // namespace ridge
