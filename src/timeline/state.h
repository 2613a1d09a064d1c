// What a Timeline keeps between questions: lanes, unions of busy time, and the ends of flows. Each is made once, by whoever
// asks first, with the threads of the engine: every question of the Timeline begins with a Threads::Use.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <ridge/timeline.h>

#include "base/interval_set.h"
#include "base/threads.h"
#include "cost/cost_model.h"
#include "model/model.h"
#include "model/once.h"
#include "timeline/flows.h"
#include "timeline/lanes.h"

namespace ridge {

struct BusySets {
  IntervalSet host;                                           // any thread runs an op or a runtime call
  std::vector<std::pair<std::int64_t, IntervalSet>> devices;  // any stream of the device works
};

struct Timeline::State {
  State(std::shared_ptr<const CostModel> of, std::shared_ptr<Threads> by)
      : threads(std::move(by)), costs(std::move(of)), model(costs->model()) {}

  std::shared_ptr<Threads> threads;  // that work for whoever asks; none: no limit
  std::shared_ptr<const CostModel> costs;
  const Model& model;

  Once<Lanes> lanes_once;
  Once<BusySets> busy_once;
  Once<Flows> flows_once;
  Once<std::vector<Mark>> marks_once;

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

// A name as slices of a window have it: cut to some 120 bytes, at the end of a character.
std::string short_name(std::string_view text);

// [from, to) as a client gives it: ordered, and not so far away that sums overflow.
Result<TimeRange> checked_range(std::int64_t from_ns, std::int64_t to_ns, std::int64_t origin_ns);

}  // namespace ridge
