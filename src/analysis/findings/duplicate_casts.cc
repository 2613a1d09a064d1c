// duplicate_casts: a tensor is cast and, right behind or with only pointwise arithmetic of the same size between, cast back.
// One stream at a time; the dtypes and sizes are those of the casting copy_, else only the target that the kernel's name tells.
#include <map>

#include "analysis/findings/catalog.h"

namespace ridge {
namespace {

// Pointwise kernels between two casts of a round trip: a few operations that were wanted in the wider type.
constexpr int kMostBetweenCasts = 3;

struct Cast {
  DType from = DType::unknown;  // unknown: the trace has no shapes
  DType to = DType::unknown;
  double elements = 0;
  std::size_t slot = 0;
  int between = 0;  // kernels since
  std::optional<std::size_t> iteration = {};
};

bool is_float(DType t) { return t >= DType::f64 && t <= DType::f4; }

// From the functor that the label names: "copy bfloat16_copy_kernel_cuda<float>" writes bfloat16.
DType target_by_name(std::string_view label) {
  if (label.find("bfloat16_copy") != label.npos) return DType::bf16;
  if (label.find("float16_copy") != label.npos) return DType::f16;
  if (label.find("float8_copy") != label.npos) return DType::f8;
  return label.find("direct_copy") != label.npos && label.find("<float>") != label.npos ? DType::f32 : DType::unknown;
}

class RoundTrips {
 public:
  RoundTrips(Facts& facts, Claim& claim) : facts_(facts), claim_(claim), tally_(facts) {}

  void walk(std::size_t device) {
    const std::vector<WorkSlot>& slots = facts_.ledger().devices()[device].work;
    std::map<std::int64_t, Cast> last;  // by stream
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const WorkSlot& slot = slots[i];
      Cast& before = last[slot.work.stream];
      const Cast cast = cast_of(slot, i);
      if (cast.to == DType::unknown) {
        if (++before.between > kMostBetweenCasts || !is_pointwise(slot, before.elements)) before.to = DType::unknown;
        continue;
      }
      if (!goes_back(before, cast)) {
        before = cast;
        continue;
      }
      take(device, before.slot);
      take(device, i);
      ++pairs_;
      before = Cast{};  // a round trip is over: what casts next begins another
    }
  }

  std::int64_t pairs() const { return pairs_; }
  const WorkTally& tally() const { return tally_; }

 private:
  void take(std::size_t device, std::size_t slot) {
    tally_.add(facts_.ledger().devices()[device].work[slot].work.row, claim_.take_work(device, slot));
  }

  bool is_pointwise(const WorkSlot& slot, double elements) const {
    if (slot.work.sort != WorkSort::compute || facts_.identity(slot.work.row).category != Category::elementwise) return false;
    return elements == 0 || facts_.elements(slot.work.row) == elements;
  }

  // What an iteration ends with and what the next begins with are two tensors.
  static bool goes_back(const Cast& there, const Cast& back) {
    if (there.to == DType::unknown || there.elements != back.elements || there.iteration != back.iteration) return false;
    if (there.from == DType::unknown) return there.to != back.to;
    return there.to == back.from && there.from == back.to;
  }

  Cast cast_of(const WorkSlot& slot, std::size_t index) {
    Cast cast{.slot = index};
    const std::uint32_t row = slot.work.row;
    if (slot.open_ns == 0 || slot.work.sort != WorkSort::compute || facts_.identity(row).category != Category::layout)
      return cast;
    const NodeId op = facts_.op(row);
    if (op == kNoNode || facts_.name(op) != "aten::copy_") return cast;
    const OpCall& call = facts_.call(op);
    if (call.has_shapes) {
      if (call.arguments.size() < 2) return cast;
      const DType to = call.arguments[0].tensor.dtype, from = call.arguments[1].tensor.dtype;
      if (to == from || !is_float(to) || !is_float(from)) return cast;
      cast.from = from;
      cast.to = to;
      cast.elements = facts_.elements(row);
      if (cast.elements <= 1) return Cast{.slot = index};  // a scale or a loss: the wider type is wanted, and costs nothing
    } else if (under_to_copy(op)) {
      cast.to = target_by_name(facts_.identity(row).label);
    }
    cast.iteration = facts_.iteration(row);
    return cast;
  }

  bool under_to_copy(NodeId op) const {
    const NodeId parent = facts_.tree().parent[op.value];
    const NodeId around = parent == kNoNode ? kNoNode : facts_.nearest_op(parent);
    return around != kNoNode && facts_.name(around) == "aten::_to_copy";
  }

  Facts& facts_;
  Claim& claim_;
  WorkTally tally_;
  std::int64_t pairs_ = 0;
};

}  // namespace

std::optional<Finding> find_duplicate_casts(Facts& facts) {
  Claim claim(facts.ledger());
  RoundTrips trips(facts, claim);
  for (std::size_t d = 0; d < facts.ledger().devices().size(); ++d) trips.walk(d);
  if (trips.pairs() == 0 || !claim.keep()) return std::nullopt;
  return Finding{
      .finding = "tensors are cast to another dtype and straight back: " + per_iteration(facts, trips.pairs(), "round trip"),
      .at_most_ns = claim.ns(),
      .confidence = Confidence::medium,
      .evidence = trips.tally().text(),
      .action =
          "stay in one dtype between these ops (remove .float() and .to() pairs, or use autocast), or fuse the casts with "
          "torch.compile",
      .event = trips.tally().event()};
}

}  // namespace ridge
