// The host's side is a subtraction of intervals; the device's is looked up from the first launch behind the stretch.
#include "facts/break_costs.h"

#include <algorithm>
#include <tuple>

namespace ridge {

BreakCosts::BreakCosts(const Scope& scope) : scope_(scope), model_(scope.model()) { collect_launches(); }

void BreakCosts::collect_launches() {
  const CallTree& tree = model_.tree();
  launches_.resize(tree.threads.size());
  const auto& devices = model_.timeline().devices;
  for (std::uint32_t d = 0; d < devices.size(); ++d) {
    busy_.push_back(busy_time(devices[d], scope_.trace().window.value_or(TimeRange{})));
    if (!scope_.has_device(devices[d].id)) continue;
    for (const WorkRow& work : devices[d].work) {
      const NodeId launch = model_.links().launch[work.row];
      if (launch == kNoNode || model_.compiler_work().holds_work(work.row)) continue;
      launches_[thread_of(tree, launch)].push_back({tree.start_ns[launch.value], tree.end_ns[launch.value], &work, d});
    }
  }
  for (auto& list : launches_) {
    std::sort(list.begin(), list.end(), [](const Launch& a, const Launch& b) {
      return std::tuple(a.start_ns, a.work->start_ns, a.work->row) < std::tuple(b.start_ns, b.work->start_ns, b.work->row);
    });
  }
}

IntervalSet BreakCosts::own_time(const BreakStretch& stretch) const {
  return subtract(IntervalSet(std::vector<Interval>{stretch.time}), stretch.left_out);
}

std::int64_t BreakCosts::host_ns(const BreakStretch& stretch) const { return own_time(stretch).length(); }

std::vector<BreakCosts::Idle> BreakCosts::idle(const BreakStretch& stretch) const {
  const std::vector<Launch>& list = launches_[stretch.thread];
  const auto after = std::lower_bound(list.begin(), list.end(), stretch.time.end_ns,
                                      [](const Launch& l, std::int64_t t) { return l.start_ns < t; });
  if (after == list.end() || after->start_ns >= stretch.until_ns) return {};
  const auto busy = busy_[after->device].intervals();
  const auto starts_before = [](const Interval& i, std::int64_t t) { return i.start_ns < t; };
  const auto resumed = std::lower_bound(busy.begin(), busy.end(), after->work->start_ns, starts_before);
  if (resumed != busy.begin() && (resumed - 1)->end_ns > after->end_ns) return {};  // busy when the launch came: hidden
  std::vector<Interval> during;
  for (auto b = std::lower_bound(busy.begin(), busy.end(), stretch.time.end_ns, starts_before);
       b != busy.begin() && (b - 1)->end_ns > stretch.time.start_ns;)
    during.push_back(*--b);
  const TimeRange window = scope_.window();
  const IntervalSet inside(std::vector<Interval>{{window.start_ns, window.end_ns}});
  const IntervalSet left = intersect(subtract(own_time(stretch), IntervalSet(std::move(during))), inside);
  std::vector<Idle> out;
  for (const Interval& piece : left.intervals()) out.push_back({model_.timeline().devices[after->device].id, piece});
  return out;
}

}  // namespace ridge
