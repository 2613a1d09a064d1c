// Marks: places worth a look on the lanes. Waits of the host for the device, the longest gaps of each device, the iterations,
// graph breaks and recompiles, the critical path.
#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "model/host_stalls.h"
#include "model/idle.h"
#include "timeline/break_marks.h"
#include "timeline/critical_marks.h"
#include "timeline/state.h"

namespace ridge {
namespace {

constexpr std::size_t kMostOfAKind = 200;
constexpr std::size_t kMostOfThePath = 2000;  // which is drawn as one line

void add_syncs(const Model& model, std::vector<Mark>* marks) {
  const HostStalls& stalls = model.host_stalls();
  for (std::size_t t = 0; t < stalls.of_thread.size(); ++t) {
    for (const HostStall& stall : stalls.of_thread[t]) {
      if (stall.node == kNoNode || (stall.cause != IdleCause::sync && stall.cause != IdleCause::copy_wait)) continue;
      const EventId event = model.tree().event[stall.node.value];
      marks->push_back({.kind = "sync",
                        .start_ns = stall.start_ns,
                        .dur_ns = stall.end_ns - stall.start_ns,
                        .track = model.tree().threads[t].track.value,
                        .id = event.value,
                        .label = std::string(model.trace().text(model.trace().events.name(event)))});
    }
  }
}

void add_gaps(const Model& model, std::vector<Mark>* marks) {
  if (!model.trace().window) return;
  const std::span<const EventId> work = model.trace().of(EventClass::device_work);
  for (const DeviceIdle& idle : split_idle(model, *model.trace().window)) {
    for (const IdleGap& gap : idle.gaps) {
      Mark mark{.kind = "gap", .start_ns = gap.start_ns, .dur_ns = gap.length(), .track = {}, .id = {}, .label = {}};
      if (gap.next_work != kNoWork) {
        mark.id = work[gap.next_work].value;
        mark.track = model.trace().track(work[gap.next_work]).value;
      }
      if (gap.piece_count > 0) mark.label = meaning_of(idle.dominant(gap).cause);
      marks->push_back(std::move(mark));
    }
  }
}

void add_iterations(const Model& model, std::vector<Mark>* marks) {
  for (const Iteration& it : model.iterations().list) {
    marks->push_back({.kind = "iteration",
                      .start_ns = it.start_ns,
                      .dur_ns = it.end_ns - it.start_ns,
                      .track = {},
                      .id = {},
                      .label = std::to_string(it.number)});
  }
}

// The longest of each kind, in order of time.
std::vector<Mark> bounded(std::vector<Mark> all) {
  std::map<std::string_view, std::vector<Mark>> kinds;
  for (Mark& mark : all) kinds[mark.kind].push_back(std::move(mark));
  std::vector<Mark> kept;
  for (auto& [kind, marks] : kinds) {
    std::stable_sort(marks.begin(), marks.end(), [](const Mark& a, const Mark& b) { return a.dur_ns > b.dur_ns; });
    const std::size_t most = kind == "critical" ? kMostOfThePath : kMostOfAKind;
    if (marks.size() > most) marks.resize(most);
    std::move(marks.begin(), marks.end(), std::back_inserter(kept));
  }
  std::stable_sort(kept.begin(), kept.end(),
                   [](const Mark& a, const Mark& b) { return std::tie(a.start_ns, a.kind) < std::tie(b.start_ns, b.kind); });
  return kept;
}

}  // namespace

std::vector<Mark> Timeline::marks() const {
  const Threads::Use use(state_->threads.get());
  return state_->marks_once.get([&] {
    std::vector<Mark> all;
    add_syncs(state_->model, &all);
    add_gaps(state_->model, &all);
    add_iterations(state_->model, &all);
    for (Mark& mark : all) mark.start_ns -= state_->origin_ns();
    std::vector<Mark> breaks = break_marks(state_->costs);
    std::move(breaks.begin(), breaks.end(), std::back_inserter(all));
    std::vector<Mark> path = critical_marks(state_->costs);
    std::move(path.begin(), path.end(), std::back_inserter(all));
    return bounded(std::move(all));
  });
}

}  // namespace ridge
