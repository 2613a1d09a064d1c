// The spans of iterations, as model/iteration_spans.cc has them, with replayed times.
#include "predict/step_length.h"

#include <algorithm>

#include "model/iteration_spans.h"

namespace ridge {
namespace {

constexpr std::uint32_t kInherited = StepGraph::kNone - 1;  // queued before the recording

const StepLane* reference_lane(const StepGraph& graph) {
  if (graph.main_lane != StepGraph::kNone && graph.lanes[graph.main_lane].count > 0) return &graph.lanes[graph.main_lane];
  const auto largest = std::max_element(graph.lanes.begin(), graph.lanes.end(),
                                        [](const StepLane& a, const StepLane& b) { return a.count < b.count; });
  return largest == graph.lanes.end() || largest->count == 0 ? nullptr : &*largest;
}

}  // namespace

StepLength::StepLength(const Scope& scope, const StepGraph& graph, const Replayed& recorded)
    : graph_(graph), recorded_(iteration_time(scope)), lane_(reference_lane(graph)) {
  if (lane_ == nullptr || !scope.trace().window) {
    why_not_ = "the trace holds neither host slices nor device work";
    return;
  }
  if (recorded_.count == 0) {
    why_not_ = "no whole iteration lies in the chosen time";
    return;
  }
  cut_ = are_cut(scope.model().iterations());
  find_parts(scope);
  find_first_launch(scope);
  if (const std::vector<std::size_t> counted = scope.iterations(); !counted.empty() && counted.front() > 0) {
    const Iteration& first = scope.model().iterations().list[counted.front()];
    begins_behind_ = first.begins_ns > first.start_ns;
  }
  const IntervalSet own = iteration_spans(recorded);
  const IntervalSet besides = subtract(recorded_.spans, own);
  for (const Interval& time : besides.intervals()) held_up_.emplace_back(instant_at(time.start_ns), instant_at(time.end_ns));
}

void StepLength::find_parts(const Scope& scope) {
  const Model& model = scope.model();
  const Iterations& iterations = model.iterations();
  for (const Iteration& it : iterations.list) parts_.push_back({instant_at(it.start_ns), instant_at(it.end_ns)});
  for (const std::size_t i : scope.iterations()) parts_[i].counts = true;
  part_of_.resize(graph_.size() - graph_.first_device, StepGraph::kNone);
  for (std::uint32_t i = 0; i < part_of_.size(); ++i) {
    const std::uint32_t row = graph_.source[graph_.first_device + i];
    if (model.links().is_inherited(row)) {
      part_of_[i] = kInherited;
      begins_behind_ = true;
    } else if (const auto at = iteration_of_work(model.trace(), model.tree(), model.links(), iterations, row)) {
      part_of_[i] = static_cast<std::uint32_t>(*at);
      parts_[*at].has_work = true;
    }
  }
}

// Of the first iteration: when its first work was launched, and whether the device was still busy with what came before it.
void StepLength::find_first_launch(const Scope& scope) {
  const Model& model = scope.model();
  std::int64_t called = INT64_MAX, started = INT64_MAX;
  std::uint32_t first = StepGraph::kNone;
  NodeId call = kNoNode;
  for (std::uint32_t i = 0; i < part_of_.size(); ++i) {
    if (part_of_[i] != 0) continue;
    const std::uint32_t node = graph_.first_device + i;
    const NodeId launch = model.links().launch[graph_.source[node]];
    const std::int64_t time = launch == kNoNode ? graph_.start_ns[node] : model.tree().start_ns[launch.value];
    started = std::min(started, graph_.start_ns[node]);
    if (time >= called) continue;
    called = time, first = node, call = launch;
  }
  if (first == StepGraph::kNone) return;
  host_was_ahead_ = started >= model.iterations().list.front().end_ns;
  begins_behind_ = begins_behind_ || host_was_ahead_;
  first_launch_ = {first, called - graph_.start_ns[first]};
  for (const StepLane& lane : graph_.lanes) {
    if (call == kNoNode || lane.device) continue;
    const HostThread& thread = model.tree().threads[lane.thread];
    if (call.value >= thread.first && call.value < thread.first + thread.count) first_launch_ = instant_at(lane, called);
  }
}

StepLength::Instant StepLength::instant_at(const StepLane& lane, std::int64_t time_ns) const {
  const std::uint32_t node = graph_.node_at(lane, time_ns);
  const std::uint32_t known = node == StepGraph::kNone ? lane.first : node;
  return {known, time_ns - graph_.start_ns[known]};
}

// Within a node, time passes as fast as the node is replayed; before and behind it as recorded.
std::int64_t StepLength::time_of(const Instant& instant, const Replayed& replayed) const {
  const std::int64_t start = replayed.start_ns[instant.node], end = replayed.end_ns[instant.node];
  const std::int64_t length = graph_.recorded_end_ns(instant.node) - graph_.start_ns[instant.node];
  if (instant.offset_ns <= 0) return start + instant.offset_ns;
  if (instant.offset_ns >= length) return end + (instant.offset_ns - length);
  return start + static_cast<std::int64_t>(static_cast<double>(end - start) * static_cast<double>(instant.offset_ns) /
                                           static_cast<double>(length));
}

IntervalSet StepLength::iteration_spans(const Replayed& replayed) const {
  std::vector<std::int64_t> ends(parts_.size(), INT64_MIN);
  std::int64_t done = INT64_MIN, first_work = INT64_MAX;
  for (std::uint32_t i = 0; i < part_of_.size(); ++i) {
    const std::uint32_t node = graph_.first_device + i;
    if (part_of_[i] == kInherited) done = std::max(done, replayed.end_ns[node]);
    if (part_of_[i] >= parts_.size()) continue;
    ends[part_of_[i]] = std::max(ends[part_of_[i]], replayed.end_ns[node]);
    if (part_of_[i] == 0) first_work = std::min(first_work, replayed.start_ns[node]);
  }
  if (host_was_ahead_) done = std::max(done, first_work);
  std::vector<Interval> spans;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    std::int64_t from = time_of(parts_[i].start, replayed), to = time_of(parts_[i].end, replayed);
    if (cut_ && i == 0 && first_launch_.node != StepGraph::kNone) from = std::max(from, time_of(first_launch_, replayed));
    if (cut_ && i + 1 == parts_.size() && parts_[i].has_work) to = std::min(to, ends[i]);
    from = std::max(from, done);
    to = std::max({from, to, ends[i]});
    if (parts_[i].counts) spans.push_back({from, to});
    done = std::max(done, ends[i]);
  }
  return IntervalSet(std::move(spans));
}

std::int64_t StepLength::host_ns() const {
  const auto recorded = [&](const Instant& instant) { return graph_.start_ns[instant.node] + instant.offset_ns; };
  std::int64_t sum = 0;
  for (const Part& part : parts_) {
    if (part.counts) sum += std::max<std::int64_t>(0, recorded(part.end) - recorded(part.start));
  }
  return per_iteration(sum);
}

SteadyStep StepLength::steady() const {
  std::vector<bool> inside(graph_.size());
  if (parts_.empty()) return {graph_, std::move(inside), 0, 1};
  // Recorded times: from the first of the iterations to the last; where the window was cut into them, from launch to launch.
  const auto recorded = [&](const Instant& instant) { return graph_.start_ns[instant.node] + instant.offset_ns; };
  std::int64_t from = INT64_MAX, to = INT64_MIN, last_launch = INT64_MIN;
  for (const Part& part : parts_) {
    if (!part.counts) continue;
    from = std::min(from, recorded(part.start));
    to = std::max(to, recorded(part.end));
  }
  for (std::uint32_t i = 0; i < part_of_.size(); ++i) {
    const std::uint32_t node = graph_.first_device + i;
    inside[node] = part_of_[i] < parts_.size() && parts_[part_of_[i]].counts;
  }
  for (std::uint32_t node = 0; node < graph_.first_device; ++node) {
    if (graph_.kind[node] == StepKind::launch && graph_.start_ns[node] < to)
      last_launch = std::max(last_launch, graph_.start_ns[node] + graph_.duration_ns[node]);
  }
  if (cut_ && parts_.front().counts && first_launch_.node != StepGraph::kNone) from = std::max(from, recorded(first_launch_));
  const bool ends_cut = cut_ && parts_.back().counts && last_launch > from;
  if (ends_cut) to = std::min(to, last_launch);
  for (std::uint32_t node = 0; node < graph_.first_device; ++node) {
    const std::int64_t start = graph_.start_ns[node];
    inside[node] =
        start >= from && (start < to || (start == to && graph_.duration_ns[node] == 0 && graph_.kind[node] == StepKind::host));
  }
  if (ends_cut) add_waited_for(&inside);
  // A thread that has waited since an iteration before is woken in one of these: autograd's waits from one backward to the
  // next.
  for (const StepLane& lane : graph_.lanes) {
    if (lane.device || &lane == lane_) continue;
    const std::uint32_t node = graph_.node_at(lane, from);
    if (node != StepGraph::kNone && graph_.kind[node] == StepKind::wait && graph_.recorded_end_ns(node) > from)
      inside[node] = true;
  }
  return {graph_, std::move(inside), from, iterations()};
}

// Behind the last launch autograd's thread still works, and the one that runs the program waits for it: it goes on from there.
void StepLength::add_waited_for(std::vector<bool>* inside) const {
  for (std::uint32_t node = lane_->first; node < lane_->first + lane_->count; ++node) {
    if (!(*inside)[node] || graph_.kind[node] != StepKind::wait) continue;
    for (std::uint32_t e = graph_.first_edge[node]; e < graph_.first_edge[node + 1]; ++e) {
      std::uint32_t done = graph_.edge_from[e];
      if (graph_.is_device(done)) continue;
      for (; !(*inside)[done] && graph_.recorded_end_ns(done) > graph_.start_ns[node]; --done) {
        (*inside)[done] = true;
        if (graph_.leads[done]) break;
      }
    }
  }
}

IntervalSet StepLength::spans(const Replayed& replayed) const {
  std::vector<Interval> besides;
  for (const auto& [from, to] : held_up_) besides.push_back({time_of(from, replayed), time_of(to, replayed)});
  return unite(iteration_spans(replayed), IntervalSet(std::move(besides)));
}

}  // namespace ridge
