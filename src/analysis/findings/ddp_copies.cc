// By PyTorch's own code: the reducer marks what it copies from a bucket to a gradient. Buffers are broadcast as one flat tensor
// at the start of forward (_sync_buffers), taken apart, and copied one after the other.
#include "analysis/findings/ddp_copies.h"

#include <string_view>

#include "model/name_flags.h"

namespace ridge {
namespace {

constexpr std::string_view kToGradient = "torch.distributed.ddp.reducer::copy_bucket_to_grad";
constexpr std::string_view kForward = "DistributedDataParallel.forward";
constexpr std::string_view kApart = "aten::unflatten_dense_tensors";
constexpr std::string_view kCopy = "aten::copy_";
constexpr int kDeepest = 1'000;  // of a stack of frames

}  // namespace

DdpCopies::DdpCopies(const Facts& facts)
    : facts_(facts),
      any_(NameFlags(facts.trace(), [](std::string_view name) { return name == kToGradient || name == kForward; }).any()) {}

void DdpCopies::see(std::uint32_t row) {
  ++seen_;
  const Sort sort = sort_of(row);
  gradients_ += sort == Sort::gradient ? 1 : 0;
  buffers_ += sort == Sort::buffer ? 1 : 0;
}

DdpCopies::Sort DdpCopies::sort_of(std::uint32_t row) {
  if (!any_) return Sort::others;
  const CallTree& tree = facts_.tree();
  NodeId outermost = kNoNode, n = facts_.launch(row);
  for (int depth = 0; depth < kDeepest && n != kNoNode && n.value < tree.recorded; ++depth, n = tree.parent[n.value]) {
    const EventClass kind = tree.class_of(n);
    if (kind == EventClass::op) outermost = n;
    if (kind == EventClass::op && facts_.name(n) == kToGradient) return Sort::gradient;
    if (kind == EventClass::annotation && facts_.name(n) == kForward)
      return outermost != kNoNode && follows_broadcast(outermost) ? Sort::buffer : Sort::others;
  }
  return Sort::others;
}

// Nothing but such copies stands between it and the flat tensor: the model's own copies come later.
bool DdpCopies::follows_broadcast(NodeId copy) {
  constexpr std::uint32_t kMostLooked = 10'000;  // slices
  if (facts_.name(copy) != kCopy) return false;
  const CallTree& tree = facts_.tree();
  bool& follows = of_buffers_.try_emplace(copy.value, false).first->second;
  for (std::uint32_t n = copy.value, looked = 0; n > 0 && looked < kMostLooked; --n, ++looked) {
    const NodeId before{n - 1};
    if (tree.class_of(before) != EventClass::op || tree.op_above(before) != kNoNode) continue;
    const auto known = of_buffers_.find(before.value);
    follows = known != of_buffers_.end() ? known->second : facts_.name(before) == kApart;
    if (known != of_buffers_.end() || facts_.name(before) != kCopy) break;
  }
  return follows;
}

std::string DdpCopies::remedy() const {
  if ((gradients_ + buffers_) * 2 < seen_ || seen_ == 0) return "";
  std::string text = "they are DistributedDataParallel's own copies: ";
  if (gradients_ > 0) text += "create it with gradient_as_bucket_view=True (gradients stay in their buckets)";
  if (gradients_ > 0 && buffers_ > 0) text += ", and ";
  if (buffers_ > 0) text += "with broadcast_buffers=False if ranks need not share running statistics";
  return text;
}

}  // namespace ridge
