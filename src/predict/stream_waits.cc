// Which work waits for another stream. Recorded waits name both streams and the event's place in its own. Without them a call
// of StreamWaitEvent tells that the next launch may wait, and work that starts right when another stream's ends, with nothing
// else to explain the time, does. So does work that starts while the last blocks of another stream's run: it had no place on
// the device before.
#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "model/name_flags.h"
#include "predict/device_lanes.h"
#include "trace/tables.h"

namespace ridge {
namespace {

// From the end of what was waited for to the start of what waited: an event between two streams takes 5 to 9 us on an H200.
constexpr std::int64_t kRightBehindNs = 12'000;
constexpr std::int64_t kUnexplainedNs = 15'000;  // behind launch and stream: what a launch takes and a little more
constexpr std::size_t kStreamsRemembered = 8;

class StreamWaits {
 public:
  StreamWaits(const Model& model, const DeviceLanes& lanes, const StepGraph& graph)
      : model_(model), trace_(model.trace()), lanes_(lanes), graph_(graph), work_(device_work(trace_)) {
    for (const StepLane& lane : graph.lanes) {
      if (lane.device) lane_of_[{lane.device_id, lane.stream}] = &lane;
    }
  }

  std::vector<StreamWait> find() {
    if (lane_of_.size() < 2) return {};
    if (!add_recorded()) add_after_calls();
    add_all_observed();
    std::sort(found_.begin(), found_.end());
    const auto same = [](const StreamWait& a, const StreamWait& b) { return a.node == b.node && a.for_node == b.for_node; };
    found_.erase(std::unique(found_.begin(), found_.end(), same), found_.end());
    return std::move(found_);
  }

 private:
  std::int64_t end_of(std::uint32_t node) const { return graph_.start_ns[node] + graph_.duration_ns[node]; }

  // Work that was launched long before it started: without a reason on the device it would stand at its launch for good.
  void add_observed(std::uint32_t node, std::uint32_t for_node) { found_.push_back({node, for_node, false}); }

  void add(std::uint32_t node, std::uint32_t for_node, bool recorded) {
    if (graph_.start_ns[node] >= end_of(for_node)) found_.push_back({node, for_node, recorded});
  }

  // The first node of a lane whose correlation is at least this: CUPTI numbers calls in their order.
  std::uint32_t first_from(const StepLane& lane, std::int64_t correlation) const {
    std::uint32_t low = lane.first, high = lane.first + lane.count;
    while (low < high) {
      const std::uint32_t middle = low + (high - low) / 2;
      const EventId event = work_.events[graph_.source[middle]];
      if (work_.correlation.integer(event).value_or(-1) < correlation) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  bool add_recorded() {
    const ArgColumn on_stream(trace_, ArgKey::wait_on_stream), record(trace_, ArgKey::wait_on_cuda_event_record_corr_id);
    const ArgColumn stream(trace_, ArgKey::stream), device(trace_, ArgKey::device), correlation(trace_, ArgKey::correlation);
    bool any = false;
    for (const EventId event : trace_.of(EventClass::sync)) {
      const auto waited_for = on_stream.integer(event), recorded = record.integer(event), own = correlation.integer(event);
      const auto waiting = stream.integer(event);
      if (!waited_for || !recorded || !own || !waiting || *recorded < 0) continue;
      const std::int64_t id = device.integer(event).value_or(0);
      const auto from = lane_of_.find({id, *waited_for}), to = lane_of_.find({id, *waiting});
      if (from == lane_of_.end() || to == lane_of_.end() || from == to) continue;
      any = true;
      const std::uint32_t behind = first_from(*from->second, *recorded), node = first_from(*to->second, *own);
      if (behind == from->second->first || node == to->second->first + to->second->count) continue;
      add(node, behind - 1, true);
    }
    return any;
  }

  // Behind a call of StreamWaitEvent the next launch of its thread waits for the stream that was launched to last before, other
  // than its own.
  void add_after_calls() {
    const NameFlags waits(trace_, [](std::string_view name) { return name.find("StreamWaitEvent") != std::string_view::npos; });
    if (!waits.any()) return;
    const CallTree& tree = model_.tree();
    std::vector<std::pair<std::uint32_t, std::uint32_t>> launched;  // (launch node, work)
    for (std::uint32_t i = 0; i < lanes_.launch_of.size(); ++i) {
      if (lanes_.launch_of[i] != StepGraph::kNone) launched.emplace_back(lanes_.launch_of[i], graph_.first_device + i);
    }
    std::sort(launched.begin(), launched.end());
    std::size_t next = 0;
    for (const StepLane& lane : graph_.lanes) {
      if (lane.device) break;
      recent_.clear();
      const HostThread& thread = tree.threads[lane.thread];
      std::uint32_t call = thread.first;
      for (; next < launched.size() && launched[next].first < lane.first + lane.count; ++next) {
        const std::uint32_t launch = graph_.source[launched[next].first];
        bool waited = false;
        for (; call < launch; ++call)
          waited = waited || (tree.event_class[call] == EventClass::launch && waits[trace_.events.name(tree.event[call])]);
        after_call(launched[next].second, waited);
      }
    }
  }
  void after_call(std::uint32_t node, bool waited) {
    const StepLane* own = lane_of_.at(stream_of(node));
    if (waited) {
      const auto other = std::find_if(recent_.begin(), recent_.end(), [&](const auto& entry) { return entry.first != own; });
      if (other != recent_.end()) add(node, other->second, false);
    }
    std::erase_if(recent_, [&](const auto& entry) { return entry.first == own; });
    recent_.insert(recent_.begin(), {own, node});
    if (recent_.size() > kStreamsRemembered) recent_.pop_back();
  }
  std::pair<std::int64_t, std::int64_t> stream_of(std::uint32_t node) const {
    const StepLane& lane = graph_.lane_of(node);
    return {lane.device_id, lane.stream};
  }

  // Work that starts long after its launch and its stream would have let it, and right behind work of another stream.
  void add_all_observed() {
    std::map<std::int64_t, std::vector<std::pair<std::int64_t, std::uint32_t>>> ends;  // by device: (end, node)
    for (const auto& [stream, lane] : lane_of_) {
      for (std::uint32_t node = lane->first; node < lane->first + lane->count; ++node)
        ends[stream.first].emplace_back(end_of(node), node);
    }
    for (auto& [device, list] : ends) std::sort(list.begin(), list.end());
    for (const auto& [stream, lane] : lane_of_) {
      const auto& list = ends[stream.first];
      for (std::uint32_t node = lane->first; node < lane->first + lane->count; ++node) {
        const std::int64_t start = graph_.start_ns[node];
        const std::uint32_t launch = lanes_.launch_of[node - graph_.first_device];
        std::int64_t ready = node == lane->first ? INT64_MIN : end_of(node - 1);
        if (launch != StepGraph::kNone) ready = std::max(ready, graph_.start_ns[launch]);
        if (ready == INT64_MIN || start - ready < kUnexplainedNs) continue;
        const auto after = std::upper_bound(list.begin(), list.end(), std::pair(start, StepGraph::kNone));
        if (after != list.begin()) {
          const auto& [end, other] = *std::prev(after);
          if (start - end <= kRightBehindNs && end > ready && other != node) {
            add_observed(node, other);
            continue;
          }
        }
        if (const std::uint32_t other = makes_room(*lane, start, after, list.end()); other != StepGraph::kNone)
          add_observed(node, other);
      }
    }
  }

  // What was in its second half when the work started, of another stream; of several the one that ended first.
  template <class It>
  std::uint32_t makes_room(const StepLane& own, std::int64_t start, It running, It end) const {
    for (std::size_t looked = 0; running != end && looked < kStreamsRemembered; ++running, ++looked) {
      const auto& [until, other] = *running;
      const bool ours = other >= own.first && other < own.first + own.count;
      if (!ours && start - graph_.start_ns[other] > until - start) return other;
    }
    return StepGraph::kNone;
  }

  const Model& model_;
  const Trace& trace_;
  const DeviceLanes& lanes_;
  const StepGraph& graph_;
  const DeviceWorkTable work_;
  std::map<std::pair<std::int64_t, std::int64_t>, const StepLane*> lane_of_;  // by device and stream
  std::vector<std::pair<const StepLane*, std::uint32_t>> recent_;             // streams, the last launched to first
  std::vector<StreamWait> found_;
};

}  // namespace

std::vector<StreamWait> find_stream_waits(const Model& model, const DeviceLanes& lanes, const StepGraph& graph) {
  return StreamWaits(model, lanes, graph).find();
}

}  // namespace ridge
