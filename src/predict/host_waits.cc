// What a waiting call waited for: a blocking copy its copy, a device's synchronisation all that was launched before it, a
// stream's the last that its thread launched, an event's what ended while it waited. Where that cannot have been it, the work
// that ended last while it waited.
#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "predict/device_lanes.h"

namespace ridge {
namespace {

constexpr std::int64_t kOwnCostNs = 2'000;  // of a call that waits: what it takes when all is done
constexpr std::int64_t kReturnNs = 5'000;   // from the end of work to the return of the call that waited for it; usual
constexpr int kLookedBack = 16;

class HostWaits {
 public:
  HostWaits(const Model& model, const DeviceLanes& lanes, const std::vector<std::uint32_t>& position, StepGraph* graph)
      : tracks_(model.trace().forms.tracks()), tree_(model.tree()), lanes_(lanes), position_(position), graph_(*graph) {
    for (std::uint32_t node = graph_.first_device; node < graph_.size(); ++node) {
      const std::uint32_t launch = lanes_.launch_of[node - graph_.first_device];
      if (launch != StepGraph::kNone) launched_.push_back({graph_.start_ns[launch], launch, node});
      ends_.emplace_back(end_of(node), node);
    }
    std::sort(launched_.begin(), launched_.end());
    std::sort(ends_.begin(), ends_.end());
  }

  std::vector<PendingEdge> find(std::vector<DeviceWait> waits) {
    std::sort(waits.begin(), waits.end(), [&](const DeviceWait& a, const DeviceWait& b) {
      return std::pair(graph_.start_ns[a.node], a.node) < std::pair(graph_.start_ns[b.node], b.node);
    });
    for (const DeviceWait& wait : waits) {
      see_launches_before(graph_.start_ns[wait.node]);
      tie(wait);
    }
    return std::move(edges_);
  }

 private:
  struct Launched {
    std::int64_t called_ns;
    std::uint32_t launch, node;
    auto operator<=>(const Launched&) const = default;
  };

  std::int64_t end_of(std::uint32_t node) const { return graph_.start_ns[node] + graph_.duration_ns[node]; }
  std::uint32_t lane_index(std::uint32_t node) const {
    return static_cast<std::uint32_t>(&graph_.lane_of(node) - graph_.lanes.data());
  }
  TrackPart process_of(std::uint32_t node) const { return tracks_[tree_.threads[graph_.lane_of(node).thread].track.value].pid; }

  void see_launches_before(std::int64_t time_ns) {
    for (; next_ < launched_.size() && launched_[next_].called_ns < time_ns; ++next_) {
      const Launched& it = launched_[next_];
      auto [latest, fresh] = latest_.try_emplace(process_of(it.launch), it.node);
      if (!fresh && end_of(it.node) >= end_of(latest->second)) latest->second = it.node;
      // Nodes of one graph end in any order.
      auto [last, first] = last_.try_emplace(lane_index(it.launch), it);
      if (!first && (last->second.launch != it.launch || end_of(it.node) >= end_of(last->second.node))) last->second = it;
    }
  }

  std::optional<std::uint32_t> presumed(const DeviceWait& wait) const {
    if (wait.copy_row != StepGraph::kNone) {
      const std::uint32_t node = lanes_.of_row[wait.copy_row];
      return node == StepGraph::kNone ? std::nullopt : std::optional(node);
    }
    if (wait.what == WaitFor::device) {
      const auto latest = latest_.find(process_of(wait.node));
      return latest == latest_.end() ? std::nullopt : std::optional(latest->second);
    }
    if (wait.what != WaitFor::stream) return std::nullopt;
    const auto last = last_.find(lane_index(wait.node));
    return last == last_.end() ? std::nullopt : std::optional(last->second.node);
  }

  // The work that ended last in (from, to] and was launched before.
  std::optional<std::uint32_t> ended_in(std::int64_t from, std::int64_t to) const {
    auto it = std::upper_bound(ends_.begin(), ends_.end(), std::pair(to, StepGraph::kNone));
    for (int looked = 0; looked < kLookedBack && it != ends_.begin(); ++looked) {
      --it;
      if (it->first <= from) return std::nullopt;
      const std::uint32_t launch = lanes_.launch_of[it->second - graph_.first_device];
      if (launch == StepGraph::kNone || graph_.start_ns[launch] < from) return it->second;
    }
    return std::nullopt;
  }

  void tie(const DeviceWait& wait) {
    const std::int64_t start = graph_.start_ns[wait.node], end = graph_.recorded_end_ns(wait.node);
    std::optional<std::uint32_t> work = presumed(wait);
    if (!work || end_of(*work) > end) work = ended_in(start, end);
    if (!work) {
      ++graph_.evidence.unexplained_waits;
      return;
    }
    if (position_[*work] >= position_[wait.node]) {
      ++graph_.evidence.contradictions;
      return;
    }
    ++graph_.evidence.host_waits;
    const std::int64_t lag = end - end_of(*work);
    const bool waited = end_of(*work) > start;
    if (waited) graph_.duration_ns[wait.node] = std::min(end - start, kOwnCostNs);
    edges_.push_back({wait.node, *work, waited ? lag : std::min(lag, kReturnNs)});
  }

  const std::vector<Track>& tracks_;
  const CallTree& tree_;
  const DeviceLanes& lanes_;
  const std::vector<std::uint32_t>& position_;
  StepGraph& graph_;
  std::vector<Launched> launched_;                            // in order of call
  std::vector<std::pair<std::int64_t, std::uint32_t>> ends_;  // of all device work
  std::size_t next_ = 0;
  std::map<TrackPart, std::uint32_t> latest_;  // by process: of what was launched, the work that ends last
  std::map<std::uint32_t, Launched> last_;     // by lane of the launching thread: the last that it launched
  std::vector<PendingEdge> edges_;
};

}  // namespace

std::vector<PendingEdge> host_wait_edges(const Model& model, const HostLanes& host, const DeviceLanes& lanes,
                                         const std::vector<std::uint32_t>& position, StepGraph* graph) {
  return HostWaits(model, lanes, position, graph).find(host.waits);
}

}  // namespace ridge
