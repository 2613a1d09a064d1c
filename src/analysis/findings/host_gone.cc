// Stretches in order of time, and a walk of each device's idle time beside them.
#include "analysis/findings/host_gone.h"

#include <algorithm>
#include <tuple>

#include "facts/break_costs.h"
#include "model/host_stalls.h"

namespace ridge {

void HostGone::add(NodeId slice) {
  if (slice == kNoNode || slice.value >= facts_.tree().recorded) return;
  stretches_.push_back({static_cast<std::uint32_t>(thread_of(facts_.tree(), slice)), facts_.time(slice), slice});
}

void HostGone::add_wait(NodeId call) {
  if (call != kNoNode && call.value < facts_.tree().recorded) waits_.push_back(call);
}

void HostGone::add(NodeId on_thread_of, Interval time) {
  if (on_thread_of == kNoNode || on_thread_of.value >= facts_.tree().recorded || time.length() <= 0) return;
  stretches_.push_back({static_cast<std::uint32_t>(thread_of(facts_.tree(), on_thread_of)), time, kNoNode});
}

std::vector<HostGone::Stretch> HostGone::in_order() const {
  std::vector<Stretch> all = stretches_;
  std::sort(all.begin(), all.end(), [](const Stretch& a, const Stretch& b) {
    return std::tuple(a.thread, a.time.start_ns, -a.time.end_ns) < std::tuple(b.thread, b.time.start_ns, -b.time.end_ns);
  });
  std::vector<Stretch> out;
  for (const Stretch& one : all) {
    if (!out.empty() && out.back().thread == one.thread && one.time.start_ns < out.back().time.end_ns) {
      out.back().time.end_ns = std::max(out.back().time.end_ns, one.time.end_ns);
    } else {
      out.push_back(one);
    }
  }
  return out;
}

std::int64_t HostGone::ns() const {
  std::int64_t sum = 0;
  for (const Stretch& one : in_order()) sum += one.time.length();
  return sum;
}

// Those of the process that launches a device's work: of several ranks in one trace each holds up its own.
std::vector<HostGone::Stretch> HostGone::of_program(const std::vector<Stretch>& all, const DeviceLedger& device) const {
  const Trace& trace = facts_.trace();
  const auto process = [&](std::uint32_t node) { return trace.forms.track(trace.track(facts_.tree().event[node])).pid; };
  for (const WorkSlot& slot : device.work) {
    const NodeId launch = facts_.launch(slot.work.row);
    if (launch == kNoNode) continue;
    std::vector<Stretch> out;
    for (const Stretch& one : all) {
      if (process(facts_.tree().threads[one.thread].first) == process(launch.value)) out.push_back(one);
    }
    return out;
  }
  return all;
}

void HostGone::reach(Claim* claim) const {
  std::vector<Stretch> gone = in_order();
  std::sort(gone.begin(), gone.end(), [](const Stretch& a, const Stretch& b) { return a.time.start_ns < b.time.start_ns; });
  const std::vector<DeviceLedger>& devices = facts_.ledger().devices();
  for (std::size_t d = 0; d < devices.size(); ++d) {
    const std::vector<Stretch> mine = of_program(gone, devices[d]);
    std::int64_t credit = -claim->ns(d);
    const auto walk = [&](bool again) {
      auto next = mine.begin();
      for (std::size_t i = 0; i < devices[d].idle.size(); ++i) {
        const IdleSlot& slot = devices[d].idle[i];
        for (; !again && next != mine.end() && next->time.start_ns < slot.piece.end_ns; ++next) credit += next->time.length();
        if (is_late(slot.piece.cause) && slot.next_work != kNoWork && credit > 0) credit -= claim->reach_idle(d, i, credit);
      }
      for (; !again && next != mine.end(); ++next) credit += next->time.length();
    };
    walk(false);
    walk(true);
  }
}

void HostGone::reach_all_late(Claim* claim) const {
  if (stretches_.empty()) return;
  const std::vector<DeviceLedger>& devices = facts_.ledger().devices();
  for (std::size_t d = 0; d < devices.size(); ++d) {
    for (std::size_t i = 0; i < devices[d].idle.size(); ++i) {
      if (is_late(devices[d].idle[i].piece.cause)) claim->reach_idle(d, i);
    }
  }
}

Removal HostGone::removal() const {
  Removal out;
  for (const Stretch& one : in_order()) out.host.push_back({one.thread, one.time, 1});
  const CallTree& tree = facts_.tree();
  // Each call once: slices may lie in each other, and every one of them may be given.
  std::vector<Stretch> slices;
  for (const Stretch& one : stretches_) {
    if (one.slice != kNoNode) slices.push_back(one);
  }
  std::ranges::sort(slices, {}, [](const Stretch& one) { return one.slice.value; });
  std::uint32_t next = 0;
  for (const Stretch& one : slices) {
    const HostThread& thread = tree.threads[one.thread];
    const std::uint32_t end = std::min(thread.first + thread.count, tree.recorded);
    for (next = std::max(next, one.slice.value); next < end && tree.start_ns[next] < one.time.end_ns; ++next) {
      if (tree.event_class[next] == EventClass::launch) out.waits.push_back(NodeId{next});
    }
  }
  out.waits.insert(out.waits.end(), waits_.begin(), waits_.end());
  return out;
}

}  // namespace ridge
