// Annotations: the user's annotation (record_function) that a slice of a host thread runs in. A call of backward() waits inside
// its annotation while another thread runs the backward ops, which no annotation of their own thread encloses: these have the
// one that waits for them.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "model/model.h"
#include "model/phases.h"

namespace ridge {

// Remembers what it found: not for several threads at once.
class Annotations {
 public:
  explicit Annotations(const Model& model);

  // The innermost annotation around `n` on its thread. A backward op without one has the innermost that is open for the whole
  // of its thread's outermost op, on the thread of its forward op; where that has none or is not known, on the only other
  // thread of the process that has one. kNoNode when there is none or several could be meant.
  NodeId of(NodeId n);

 private:
  bool is_backward(NodeId n);
  NodeId waiting_for(NodeId n, NodeId root) const;
  NodeId open_on(const HostThread& thread, NodeId root) const;
  const HostThread& thread_of(NodeId n) const;

  const Model& model_;
  const CallTree& tree_;
  std::vector<NodeId> own_;   // of each node: the innermost annotation at or around it on its thread
  std::vector<NodeId> root_;  // the outermost op at or around it
  std::optional<std::vector<Phase>> phases_;
  std::unordered_map<std::uint32_t, NodeId> of_root_;  // by the outermost op
};

}  // namespace ridge
