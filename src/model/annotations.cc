// Own annotation first; for backward ops the one open on the thread of the forward op, else the only one open anywhere.
#include "model/annotations.h"

namespace ridge {

Annotations::Annotations(const Model& model)
    : model_(model), tree_(model.tree()), own_(tree_.size(), kNoNode), root_(tree_.size(), kNoNode) {
  for (std::uint32_t n = 0; n < tree_.size(); ++n) {
    const NodeId parent = tree_.parent[n];
    if (parent != kNoNode) own_[n] = own_[parent.value];
    if (parent != kNoNode) root_[n] = root_[parent.value];
    if (tree_.event_class[n] == EventClass::annotation) own_[n] = NodeId{n};
    if (tree_.event_class[n] == EventClass::op && root_[n] == kNoNode) root_[n] = NodeId{n};
  }
}

NodeId Annotations::of(NodeId n) {
  if (n == kNoNode) return kNoNode;
  if (own_[n.value] != kNoNode) return own_[n.value];
  const NodeId root = root_[n.value];
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
  const auto own = [&](NodeId n) { return n == kNoNode ? kNoNode : own_[n.value]; };
  NodeId n = own(tree_.innermost_at(thread, tree_.start_ns[root.value]));
  while (n != kNoNode && tree_.end_ns[n.value] < tree_.end_ns[root.value]) n = own(tree_.parent[n.value]);
  return n;
}

const HostThread& Annotations::thread_of(NodeId n) const {
  return *model_.tree().thread_of(model_.trace().track(tree_.event[n.value]));
}

}  // namespace ridge
