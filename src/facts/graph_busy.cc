// Prefix sums over busy intervals, so that each call asks for its share in logarithmic time.
#include "facts/graph_busy.h"

#include <algorithm>
#include <utility>

#include "base/interval_set.h"
#include "base/saturating.h"

namespace ridge {
namespace {

// Sums of the length of a set up to any moment.
class Clock {
 public:
  explicit Clock(IntervalSet set) : set_(std::move(set)) {
    std::int64_t sum = 0;
    for (const Interval& interval : set_.intervals()) {
      before_.push_back(sum);
      saturating_add(&sum, interval.length());
    }
  }
  std::int64_t within(const Interval& time) const { return until(time.end_ns) - until(time.start_ns); }

 private:
  std::int64_t until(std::int64_t time_ns) const {
    const auto list = set_.intervals();
    const auto it =
        std::upper_bound(list.begin(), list.end(), time_ns, [](std::int64_t t, const Interval& i) { return t < i.start_ns; });
    if (it == list.begin()) return 0;
    const auto i = static_cast<std::size_t>(it - list.begin() - 1);
    return before_[i] + std::min(time_ns - list[i].start_ns, list[i].length());
  }
  IntervalSet set_;
  std::vector<std::int64_t> before_;
};

// When the device is done with what was launched before a moment. Work without a launch counts as launched when it starts.
class Queue {
 public:
  Queue(const Model& model, const Device& device) {
    until_.reserve(device.work.size());
    for (const WorkRow& work : device.work) {
      const NodeId launch = model.links().launch[work.row];
      until_.push_back({launch == kNoNode ? work.start_ns : model.tree().start_ns[launch.value], work.end_ns});
    }
    std::sort(until_.begin(), until_.end());
    for (std::size_t i = 1; i < until_.size(); ++i) until_[i].end_ns = std::max(until_[i].end_ns, until_[i - 1].end_ns);
  }
  std::int64_t end_before(std::int64_t time_ns) const {
    const auto it = std::lower_bound(until_.begin(), until_.end(), time_ns,
                                     [](const Interval& i, std::int64_t t) { return i.start_ns < t; });
    return it == until_.begin() ? INT64_MIN : (it - 1)->end_ns;
  }

 private:
  std::vector<Interval> until_;  // by launch: when, and the latest end of all work launched up to it
};

}  // namespace

void GraphBusy::add(std::uint32_t graph, NodeId call, const WorkRow& work) {
  const auto [it, added] = calls_.try_emplace(call.value, Call{graph, work.start_ns, work.end_ns});
  if (!added) it->second.last_ns = std::max(it->second.last_ns, work.end_ns);
  work_of_graph_[graph].push_back({work.start_ns, work.end_ns});
}

std::vector<GraphBusy::Share> GraphBusy::shares(TimeRange window) const {
  std::vector<Share> shares;
  if (calls_.empty()) return shares;
  const CallTree& tree = model_.tree();
  const Queue queue(model_, device_);
  std::unordered_map<std::uint32_t, std::vector<Interval>> runs;
  for (const auto& [node, call] : calls_) {
    const std::int64_t called_ns = tree.start_ns[node], returned_ns = tree.end_ns[node];
    const std::int64_t start_ns = std::min(call.first_ns, std::max(called_ns, queue.end_before(called_ns)));
    runs[call.graph].push_back(
        {std::max(start_ns, window.start_ns), std::min(std::max(returned_ns, call.last_ns), window.end_ns)});
  }
  const Clock all(busy_time(device_, window));
  for (auto& [graph, list] : runs) {
    const Clock own{IntervalSet(work_of_graph_.at(graph))};
    Share share{.graph = graph};
    const IntervalSet ran(std::move(list));
    for (const Interval& run : ran.intervals()) {
      const std::int64_t busy_ns = own.within(run);
      saturating_add(&share.busy_ns, busy_ns);
      saturating_add(&share.span_ns, run.length() - (all.within(run) - busy_ns));
    }
    shares.push_back(share);
  }
  return shares;
}

}  // namespace ridge
