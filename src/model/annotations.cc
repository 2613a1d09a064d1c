#include "model/annotations.h"

namespace ridge {

NodeId Annotations::of(NodeId n) {
  if (n == kNoNode) return kNoNode;
  if (const NodeId own = tree_.nearest(n, EventClass::annotation); own != kNoNode) return own;
  NodeId root = kNoNode;
  for (NodeId at = n; at != kNoNode; at = tree_.parent[at.value]) {
    if (tree_.class_of(at) == EventClass::op) root = at;
  }
  if (root == kNoNode || !is_backward(n)) return kNoNode;
  const auto [it, is_new] = of_root_.try_emplace(root.value, kNoNode);
  if (is_new) it->second = waiting_for(n, root);
  return it->second;
}

bool Annotations::is_backward(NodeId n) {
  if (!phases_) phases_ = build_phases(model_.trace(), tree_);
  return (*phases_)[n.value] == Phase::backward;
}

NodeId Annotations::waiting_for(NodeId n, NodeId root) const {
  for (NodeId at = n; at != kNoNode; at = tree_.parent[at.value]) {
    const NodeId forward = model_.forward_backward().forward_of(at);
    if (forward == kNoNode || &thread_of(forward) == &thread_of(root)) continue;
    if (const NodeId open = open_on(thread_of(forward), root); open != kNoNode) return open;
  }
  const auto process = [&](const HostThread& thread) { return model_.trace().forms.track(thread.track).pid; };
  NodeId only = kNoNode;
  for (const HostThread& thread : tree_.threads) {
    if (&thread == &thread_of(root) || process(thread) != process(thread_of(root))) continue;
    const NodeId open = open_on(thread, root);
    if (open != kNoNode && only != kNoNode) return kNoNode;
    if (open != kNoNode) only = open;
  }
  return only;
}

// The innermost annotation of the thread that holds the whole of `root`.
NodeId Annotations::open_on(const HostThread& thread, NodeId root) const {
  NodeId n = tree_.innermost_at(thread, tree_.start_ns[root.value]);
  while (n != kNoNode && (tree_.class_of(n) != EventClass::annotation || tree_.end_ns[n.value] < tree_.end_ns[root.value]))
    n = tree_.parent[n.value];
  return n;
}

const HostThread& Annotations::thread_of(NodeId n) const {
  return *model_.tree().thread_of(model_.trace().track(tree_.event[n.value]));
}

}  // namespace ridge
