// One walk per thread: calls that launch or wait become nodes, what lies between them work, cut where iterations begin and end
// and where another thread takes over.
#include "predict/host_lanes.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "model/name_flags.h"
#include "predict/full_queue.h"

namespace ridge {
namespace {

// A thread that launches and was not woken by a handover: after a pause of this length something woke it.
constexpr std::int64_t kPauseNs = 50'000;
// What a blocking copy takes of the host before it waits, and what issuing takes of a launch that is slow for another reason.
constexpr std::int64_t kIssueNs = 4'000;
// A launch takes 2 to 10 us. One that takes longer loads code, builds something or waits in the driver first.
constexpr std::int64_t kSlowLaunchNs = 50'000;

// Where a thread's own time is cut; with a wait, from here to `until_ns` it waits for another thread.
struct Cut {
  std::int64_t at_ns = 0;
  std::int64_t until_ns = 0;
  bool wait = false;
  std::uint32_t handover = StepGraph::kNone;
};

bool is_before(const Cut& a, const Cut& b) { return a.at_ns < b.at_ns || (a.at_ns == b.at_ns && a.wait < b.wait); }

// What a handover or a wake ties together, once nodes are known.
struct Tie {
  std::uint32_t wait = StepGraph::kNone;   // of the thread that waits for the other's end
  std::uint32_t wakes = StepGraph::kNone;  // of the other, which starts by it
};

bool blocks(const Trace& trace, const CallTree& tree, EventId work, NodeId call) {
  if (trace.kind(work).work != DeviceWork::copy) return false;
  const std::string_view name = trace.text(trace.events.name(work));
  const bool device_to_device = name.find("DtoD") != std::string_view::npos || name.find("PtoP") != std::string_view::npos;
  const std::int64_t end = trace.events.ts_ns(work) + trace.events.dur_ns(work).value_or(0);
  return !device_to_device && name.find("Pinned") == std::string_view::npos && tree.end_ns[call.value] >= end;
}

class LaneBuilder {
 public:
  LaneBuilder(const Model& model, StepGraph* graph, HostLanes* out)
      : trace_(model.trace()), tree_(model.tree()), links_(model.links()), graph_(*graph), out_(*out) {
    const std::span<const EventId> work = trace_.of(EventClass::device_work);
    out_.of_call.assign(tree_.recorded, StepGraph::kNone);
    for (std::size_t row = 0; row < work.size(); ++row) {
      const NodeId call = links_.launch[row];
      if (call == kNoNode || call.value >= tree_.recorded) continue;
      out_.of_call[call.value] = kLaunches;
      if (blocks(trace_, tree_, work[row], call)) blocking_.emplace_back(call.value, static_cast<std::uint32_t>(row));
    }
    std::sort(blocking_.begin(), blocking_.end());
    find_slow(model);
    queued_ = launches_at_a_full_queue(model);
    waits_.resize(trace_.strings.size(), kNotAsked);
  }

  bool launches(std::uint32_t thread) const {
    const HostThread& t = tree_.threads[thread];
    const auto begin = out_.of_call.begin() + t.first;
    return std::find(begin, begin + t.count, kLaunches) != begin + t.count;
  }

  void add(std::uint32_t thread, const std::vector<Cut>& cuts, std::vector<Tie>* ties) {
    const HostThread& t = tree_.threads[thread];
    const auto first = static_cast<std::uint32_t>(graph_.size());
    first_ = first;
    cuts_ = &cuts, ties_ = ties, next_cut_ = 0;
    at_ns_ = tree_.start_ns[t.first];
    std::int64_t end_ns = at_ns_;
    std::uint32_t call_node = StepGraph::kNone;
    for (std::uint32_t n = t.first; n < t.first + t.count; ++n) {
      end_ns = std::max(end_ns, tree_.end_ns[n]);
      if (tree_.event_class[n] != EventClass::launch) continue;
      const bool launches = out_.of_call[n] == kLaunches;
      const WaitFor what = wait_of(trace_.events.name(tree_.event[n]));
      if (!launches && what == WaitFor::nothing) continue;
      if (tree_.start_ns[n] < at_ns_) {  // inside of another call
        if (launches) out_.of_call[n] = call_node;
        continue;
      }
      own_work_until(tree_.start_ns[n]);
      if (launches) {
        call_node = out_.of_call[n] = launch(n, what);
      } else {
        wait(n, what, tree_.start_ns[n]);
      }
    }
    own_work_until(end_ns, true);
    graph_.lanes.push_back({.first = first, .count = static_cast<std::uint32_t>(graph_.size()) - first, .thread = thread});
  }

 private:
  static constexpr std::uint32_t kLaunches = StepGraph::kNone - 1;
  static constexpr std::uint8_t kNotAsked = 0xFF;

  WaitFor wait_of(StringId name) {
    std::uint8_t& known = waits_[name.value];
    if (known == kNotAsked) known = static_cast<std::uint8_t>(waits_for(trace_.text(name)));
    return static_cast<WaitFor>(known);
  }

  std::uint32_t push(StepKind kind, std::int64_t start, std::int64_t duration, std::uint32_t source) {
    graph_.start_ns.push_back(start);
    graph_.duration_ns.push_back(duration);
    graph_.source.push_back(source);
    graph_.kind.push_back(kind);
    at_ns_ = std::max(at_ns_, start);
    return static_cast<std::uint32_t>(graph_.size() - 1);
  }

  // What the thread did by itself from where its nodes end; at the end of a lane there is always such a node.
  void own_work_until(std::int64_t until, bool at_end = false) {
    for (; next_cut_ < cuts_->size(); ++next_cut_) {
      const Cut& cut = (*cuts_)[next_cut_];
      if (cut.at_ns > until || (cut.at_ns == until && !cut.wait && !at_end)) break;
      if (cut.at_ns < at_ns_) continue;
      if (cut.at_ns > at_ns_ || (cut.wait && graph_.size() > first_)) work(cut.at_ns);
      if (!cut.wait) continue;
      const std::uint32_t node = push(StepKind::wait, cut.at_ns, 0, StepGraph::kNone);
      at_ns_ = std::max(at_ns_, std::min(cut.until_ns, until));
      if (cut.handover != StepGraph::kNone) note(cut, node);
    }
    if (until > at_ns_ || at_end) work(std::max(until, at_ns_));
  }
  void work(std::int64_t until) {
    push(StepKind::host, at_ns_, until - at_ns_, StepGraph::kNone);
    at_ns_ = until;
  }
  void note(const Cut& cut, std::uint32_t node) {
    Tie& tie = (*ties_)[cut.handover / 2];
    (cut.handover % 2 == 0 ? tie.wait : tie.wakes) = node;
  }

  std::uint32_t launch(std::uint32_t n, WaitFor what) {
    const auto blocking = std::lower_bound(blocking_.begin(), blocking_.end(), std::pair(n, 0U));
    const bool waits = blocking != blocking_.end() && blocking->first == n;
    if (!waits && what == WaitFor::nothing) {
      if (std::ranges::binary_search(queued_, n)) return launch_at_a_full_queue(n);
      if (const auto slow = slow_.find(n); slow != slow_.end()) return slow_launch(n, slow->second);
      const std::uint32_t node = push(StepKind::launch, tree_.start_ns[n], tree_.duration_ns(NodeId{n}), n);
      at_ns_ = tree_.end_ns[n];
      return node;
    }
    // A blocking copy: it is issued, then waited for.
    std::int64_t issued = tree_.start_ns[n] + kIssueNs;
    if (waits) issued = std::min(issued, trace_.events.ts_ns(trace_.of(EventClass::device_work)[blocking->second]));
    issued = std::clamp(issued, tree_.start_ns[n], tree_.end_ns[n]);
    const std::uint32_t node = push(StepKind::launch, tree_.start_ns[n], issued - tree_.start_ns[n], n);
    wait(n, what, issued, waits ? blocking->second : StepGraph::kNone);
    return node;
  }
  // It waits for a place, then issues.
  std::uint32_t launch_at_a_full_queue(std::uint32_t n) {
    const std::int64_t start = tree_.start_ns[n], issues = tree_.end_ns[n] - kIssueNs;
    out_.waits.push_back({push(StepKind::wait, start, issues - start, n), WaitFor::event, StepGraph::kNone});
    const std::uint32_t node = push(StepKind::launch, issues, kIssueNs, n);
    at_ns_ = tree_.end_ns[n];
    return node;
  }
  // It does what takes it so long, then issues.
  std::uint32_t slow_launch(std::uint32_t n, std::int64_t issues) {
    const std::int64_t start = tree_.start_ns[n], end = tree_.end_ns[n];
    push(StepKind::host, start, issues - start, n);
    const std::uint32_t node = push(StepKind::launch, issues, end - issues, n);
    at_ns_ = end;
    return node;
  }
  // Slow launches whose work a free stream began when they issued it: no earlier than shortly before, whatever the call took.
  void find_slow(const Model& model) {
    std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> free_ns;  // by device and stream: when it was done
    for (const Device& device : model.timeline().devices) {
      for (const WorkRow& row : device.work) {
        std::int64_t& free = free_ns.try_emplace({device.id, row.stream}, INT64_MIN).first->second;
        const std::int64_t was_free = std::exchange(free, std::max(free, row.end_ns));
        const NodeId call = links_.launch[row.row];
        if (call == kNoNode || call.value >= tree_.recorded || tree_.duration_ns(call) < kSlowLaunchNs) continue;
        const std::int64_t issues = std::min(row.start_ns, tree_.end_ns[call.value]) - kIssueNs;
        // Of several pieces of work the first tells, whether or not its stream was free.
        const bool tells = was_free < issues && issues > tree_.start_ns[call.value] + kSlowLaunchNs / 2;
        const auto [at, is_first] = slow_.try_emplace(call.value, tells ? issues : tree_.start_ns[call.value]);
        if (!is_first) at->second = std::min(at->second, tells ? issues : tree_.start_ns[call.value]);
      }
    }
    std::erase_if(slow_, [&](const auto& slow) { return slow.second <= tree_.start_ns[slow.first]; });
  }
  void wait(std::uint32_t n, WaitFor what, std::int64_t from, std::uint32_t copy = StepGraph::kNone) {
    out_.waits.push_back({push(StepKind::wait, from, tree_.end_ns[n] - from, n), what, copy});
    at_ns_ = tree_.end_ns[n];
  }

  const Trace& trace_;
  const CallTree& tree_;
  const LaunchLinks& links_;
  StepGraph& graph_;
  HostLanes& out_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> blocking_;  // (call, row of its copy)
  std::vector<std::uint32_t> queued_;                              // launches that waited for a place in the queue
  std::unordered_map<std::uint32_t, std::int64_t> slow_;           // slow launches: when they issued their work
  std::vector<std::uint8_t> waits_;                                // WaitFor by name
  const std::vector<Cut>* cuts_ = nullptr;
  std::vector<Tie>* ties_ = nullptr;
  std::size_t next_cut_ = 0;
  std::size_t first_ = 0;   // node of the lane
  std::int64_t at_ns_ = 0;  // where the nodes of the lane end
};

// When the last outermost slice of a thread before `time_ns` ended; the time itself when there is none.
std::int64_t idle_since(const std::vector<std::int64_t>& ends, std::int64_t time_ns) {
  const auto it = std::upper_bound(ends.begin(), ends.end(), time_ns);
  return it == ends.begin() ? time_ns : *std::prev(it);
}

std::vector<std::int64_t> root_ends(const CallTree& tree, const HostThread& thread) {
  std::vector<std::int64_t> ends;
  for (std::uint32_t n = thread.first; n < thread.first + thread.count; ++n) {
    if (tree.parent[n] == kNoNode) ends.push_back(ends.empty() ? tree.end_ns[n] : std::max(ends.back(), tree.end_ns[n]));
  }
  return ends;
}

// A host node that ends at that time by its own work; kNone when there is none.
std::uint32_t ending_at(const StepGraph& graph, const StepLane& lane, std::int64_t time_ns) {
  const std::uint32_t last = graph.node_at(lane, time_ns);
  for (std::uint32_t back = 0; last != StepGraph::kNone && back < 4 && last - back >= lane.first; ++back) {
    const std::uint32_t node = last - back;
    if (graph.kind[node] == StepKind::host && graph.start_ns[node] + graph.duration_ns[node] == time_ns) return node;
    if (node == 0) break;
  }
  return StepGraph::kNone;
}

// The threads of one process: that which runs the program, and others that launch.
class ProcessLanes {
 public:
  ProcessLanes(const Model& model, std::uint32_t main, std::vector<std::uint32_t> workers, bool marks)
      : model_(model), tree_(model.tree()), main_(main), workers_(std::move(workers)) {
    handovers_ = find_handovers(model, main_, workers_);
    ties_.resize(handovers_.size());
    if (marks) cut_at_iterations();
    for (const std::uint32_t worker : workers_) cut_worker(worker);
    cut_main();
  }

  // Its lanes, the main thread's first.
  void add(LaneBuilder* builder, StepGraph* graph, HostLanes* out) {
    const auto first = static_cast<std::uint32_t>(graph->lanes.size());
    builder->add(main_, cuts_[main_], &ties_);
    for (const std::uint32_t worker : workers_) {
      lane_of_[worker] = static_cast<std::uint32_t>(graph->lanes.size());
      builder->add(worker, cuts_[worker], &ties_);
    }
    tie_handovers(graph->lanes[first], graph, out);
    std::vector<std::uint32_t> handed;
    for (const Tie& tie : ties_) handed.push_back(tie.wakes);
    std::sort(handed.begin(), handed.end());
    for (const auto& [worker, lane] : lane_of_) tie_wakes(graph->lanes[first], graph->lanes[lane], handed, graph, out);
  }

 private:
  void cut_at_iterations() {
    for (const Iteration& it : model_.iterations().list) {
      cuts_[main_].push_back({.at_ns = it.start_ns});
      cuts_[main_].push_back({.at_ns = it.end_ns});
    }
  }
  void cut_main() {
    for (std::uint32_t h = 0; h < handovers_.size(); ++h)
      cuts_[main_].push_back({handovers_[h].start_ns, handovers_[h].end_ns, true, 2 * h});
    std::sort(cuts_[main_].begin(), cuts_[main_].end(), is_before);
  }
  // A worker waits until it is woken: by a handover, or by what is not known.
  void cut_worker(std::uint32_t worker) {
    const HostThread& thread = tree_.threads[worker];
    const std::vector<std::int64_t> ends = root_ends(tree_, thread);
    std::vector<Cut>& cuts = cuts_[worker];
    std::vector<Interval> handed;
    // Handovers stand by worker, in the workers' order.
    for (std::uint32_t& h = next_handover_; h < handovers_.size() && handovers_[h].working == worker; ++h) {
      handed.push_back({handovers_[h].start_ns, handovers_[h].end_ns});
      cuts.push_back({idle_since(ends, handed.back().start_ns), handed.back().start_ns, true, 2 * h + 1});
      cuts.push_back({.at_ns = handovers_[h].end_ns});
    }
    // A pause while it is worked for is its own.
    auto is_handed = [&, next = handed.begin()](std::int64_t time) mutable {
      while (next != handed.end() && next->end_ns <= time) ++next;
      return next != handed.end() && next->start_ns <= time;
    };
    std::int64_t end = tree_.start_ns[thread.first];
    for (std::uint32_t n = thread.first; n < thread.first + thread.count; ++n) {
      if (tree_.parent[n] != kNoNode) continue;
      const std::int64_t start = tree_.start_ns[n];
      const bool pauses = start - end >= kPauseNs || n == thread.first;
      if (pauses && !is_handed(start)) cuts.push_back({end, start, true});
      end = std::max(end, tree_.end_ns[n]);
    }
    std::sort(cuts.begin(), cuts.end(), is_before);
  }

  void tie_handovers(const StepLane& main, StepGraph* graph, HostLanes* out) {
    for (std::size_t h = 0; h < handovers_.size(); ++h) {
      const Tie& tie = ties_[h];
      if (tie.wait == StepGraph::kNone || tie.wakes == StepGraph::kNone || tie.wait == main.first) continue;
      const std::uint32_t done = ending_at(*graph, graph->lanes[lane_of_[handovers_[h].working]], handovers_[h].end_ns);
      if (done == StepGraph::kNone) continue;
      out->thread_edges.push_back({tie.wakes, tie.wait - 1, 0});
      out->thread_edges.push_back({tie.wait, done, 0});
      ++graph->evidence.thread_handovers;
    }
  }

  // A thread that was woken by something unknown starts as long after what the main thread did last as it did.
  void tie_wakes(const StepLane& main, const StepLane& lane, const std::vector<std::uint32_t>& handed, StepGraph* graph,
                 HostLanes* out) {
    for (std::uint32_t node = lane.first; node < lane.first + lane.count; ++node) {
      if (graph->kind[node] != StepKind::wait || graph->source[node] != StepGraph::kNone) continue;
      if (std::binary_search(handed.begin(), handed.end(), node)) continue;
      const std::int64_t woke = graph->recorded_end_ns(node);
      std::uint32_t by = graph->node_at(main, woke);
      if (by == StepGraph::kNone) continue;
      if (graph->kind[by] != StepKind::launch) {
        if (by == main.first) continue;
        --by;
      }
      out->thread_edges.push_back({node, by, woke - graph->passed_ns(by)});
      ++graph->evidence.inferred_wakes;
    }
  }

  const Model& model_;
  const CallTree& tree_;
  std::uint32_t main_;
  std::vector<std::uint32_t> workers_;
  std::vector<Handover> handovers_;
  std::uint32_t next_handover_ = 0;  // whose worker is not cut yet
  std::vector<Tie> ties_;
  std::map<std::uint32_t, std::vector<Cut>> cuts_;  // by thread
  std::map<std::uint32_t, std::uint32_t> lane_of_;  // of workers
};

// Waits for another thread that nothing was tied to take what they took.
void keep_untied_waits(StepGraph* graph, const HostLanes& lanes) {
  std::vector<bool> tied(graph->size());
  for (const PendingEdge& edge : lanes.thread_edges) tied[edge.to] = true;
  for (std::uint32_t node = 0; node < graph->size(); ++node) {
    if (graph->kind[node] == StepKind::wait && graph->source[node] == StepGraph::kNone && !tied[node])
      graph->duration_ns[node] = graph->recorded_end_ns(node) - graph->start_ns[node];
  }
}

}  // namespace

WaitFor waits_for(std::string_view call) {
  const auto has = [&](std::string_view part) { return call.find(part) != std::string_view::npos; };
  if (call == "cudaFree" || call == "hipFree") return WaitFor::device;
  if (call == "urQueueFinish" || has("StreamSynchronize")) return WaitFor::stream;
  if (call == "urEventWait" || call == "piEventsWait" || has("EventSynchronize")) return WaitFor::event;
  return has("Synchronize") || call.starts_with("synchronize") ? WaitFor::device : WaitFor::nothing;
}

HostLanes add_host_lanes(const Model& model, StepGraph* graph) {
  HostLanes out;
  const CallTree& tree = model.tree();
  const std::vector<Track>& tracks = model.trace().forms.tracks();
  LaneBuilder builder(model, graph, &out);
  std::map<TrackPart, std::vector<std::uint32_t>> launching;
  for (std::uint32_t t = 0; t < tree.threads.size(); ++t) {
    if (builder.launches(t)) launching[tracks[tree.threads[t].track.value].pid].push_back(t);
  }
  bool first = true;
  for (const std::uint32_t main : main_threads(model)) {
    std::vector<std::uint32_t> workers = launching[tracks[tree.threads[main].track.value].pid];
    if (workers.empty() && !first) continue;
    std::erase(workers, main);
    if (first) graph->main_lane = static_cast<std::uint32_t>(graph->lanes.size());
    ProcessLanes(model, main, std::move(workers), first).add(&builder, graph, &out);
    first = false;
  }
  keep_untied_waits(graph, out);
  return out;
}

}  // namespace ridge
