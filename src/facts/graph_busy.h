// How busy a device was while compiled graphs ran on it.
//
// A call runs from its start on the host, or from the end of the work that was queued before it if that is later (a host that
// is ahead does not make a busy device look idle), to its end or to the end of its last work, whichever is later. Time in which
// the device did only the work of others (another stream's, the compiler's own) is left out, so that what is not busy is idle.
// A call that launched nothing on the device does not count.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/interval_set.h"
#include "model/model.h"

namespace ridge {

class GraphBusy {
 public:
  GraphBusy(const Model& model, const Device& device) : model_(model), device_(device) {}

  // A piece of the device's work that one call of a graph launched, in order of start.
  void add(std::uint32_t graph, NodeId call, const WorkRow& work);

  struct Share {
    std::uint32_t graph = 0;
    std::int64_t span_ns = 0;  // in which its calls ran
    std::int64_t busy_ns = 0;  // of it, with their work
  };
  // Of each graph that work was added for, within `window`.
  std::vector<Share> shares(TimeRange window) const;

 private:
  struct Call {
    std::uint32_t graph;
    std::int64_t first_ns, last_ns;  // of its work
  };

  const Model& model_;
  const Device& device_;
  std::unordered_map<std::uint32_t, Call> calls_;  // by node
  std::unordered_map<std::uint32_t, std::vector<Interval>> work_of_graph_;
};

}  // namespace ridge
