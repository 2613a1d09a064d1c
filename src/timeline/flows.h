// Flows: which slices are tied together: a launch and the work it started, an op and its backward op, and the ends of any other
// flow that the trace records. For both directions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/heap_bytes.h"
#include "base/ids.h"
#include "model/model.h"
#include "timeline/lanes.h"

namespace ridge {

class Flows {
 public:
  struct Edge {
    EventId from, to;  // slices
    enum class Kind : std::uint8_t { launch, fwdbwd, async } kind = Kind::launch;
  };

  Flows(const Model& model, const Lanes& lanes);

  // Calls `see(edge)` for up to `most` edges that start at or lead to the slice.
  template <class See>
  void each_of(EventId slice, std::size_t most, See see) const {
    each(by_from_, slice, &Edge::from, most, see);
    each(by_to_, slice, &Edge::to, most, see);
  }

  std::uint64_t heap_bytes() const { return ridge::heap_bytes(edges_, by_from_, by_to_); }

 private:
  void add_launches(const Model& model);
  void add_forward_backward(const Model& model);
  void add_recorded(const Model& model, const Lanes& lanes);

  template <class See>
  void each(const std::vector<std::uint32_t>& order, EventId slice, EventId Edge::* end, std::size_t most, See see) const {
    auto it = std::lower_bound(order.begin(), order.end(), slice,
                               [&](std::uint32_t i, EventId wanted) { return edges_[i].*end < wanted; });
    for (std::size_t n = 0; it != order.end() && edges_[*it].*end == slice && n < most; ++it, ++n) see(edges_[*it]);
  }

  std::vector<Edge> edges_;
  std::vector<std::uint32_t> by_from_, by_to_;  // edges in order of that end
};

std::string_view name_of(Flows::Edge::Kind kind);

}  // namespace ridge
