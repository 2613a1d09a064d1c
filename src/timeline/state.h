// What a Timeline keeps between questions: lanes, unions of busy time, and the ends of flows. Each is made once, by whoever asks first.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include <ridge/timeline.h>

#include <tbb/task_arena.h>

#include "base/interval_set.h"
#include "cost/cost_model.h"
#include "model/model.h"
#include "timeline/flows.h"
#include "timeline/lanes.h"

namespace ridge {

template <class T>
class MadeOnce {
 public:
  template <class Make>
  const T& get(Make make) {
    // Isolated: a thread that waits inside make() must not pick up a task that asks for this very value.
    std::call_once(once_, [&] { tbb::this_task_arena::isolate([&] { value_.emplace(make()); }); });
    return *value_;
  }

 private:
  std::once_flag once_;
  std::optional<T> value_;
};

struct BusySets {
  IntervalSet host;                                           // any thread runs an op or a runtime call
  std::vector<std::pair<std::int64_t, IntervalSet>> devices;  // any stream of the device works
};

struct Timeline::State {
  const Model& model;
  const CostModel& costs;
  std::function<std::vector<Mark>()> more_marks;

  MadeOnce<Lanes> lanes_once;
  MadeOnce<BusySets> busy_once;
  MadeOnce<Flows> flows_once;
  MadeOnce<std::vector<Mark>> marks_once;

  const Trace& trace() const { return model.trace(); }
  const Lanes& lanes() {
    return lanes_once.get([&] { return build_lanes(model); });
  }
  const Flows& flows() {
    return flows_once.get([&] { return Flows(model, lanes()); });
  }
  const BusySets& busy();

  TimeRange window() const { return trace().window.value_or(TimeRange{}); }
  std::int64_t origin_ns() const { return window().start_ns; }

  SliceRef ref(const Place& place) const;
  std::optional<SliceRef> ref(EventId event);
  Result<Place> place(std::uint32_t id);  // an error when the event is no slice
};

// [from, to) as a client gives it: ordered, and not so far away that sums overflow.
Result<TimeRange> checked_range(std::int64_t from_ns, std::int64_t to_ns, std::int64_t origin_ns);

}  // namespace ridge
