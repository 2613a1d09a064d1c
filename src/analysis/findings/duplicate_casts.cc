// duplicate_casts: a tensor is cast and, right behind or with only pointwise arithmetic of the same size between, cast back; or
// with a norm between, where the program itself casts (autocast takes norms to float32 by its own rule). One stream at a time;
// the dtypes and sizes are those of the casting copy_, else only the target that the kernel's name tells.
//
// What runs between in the wider type moves twice the bytes; kernels of the narrower compute in the wider all the same.
#include <map>

#include "analysis/findings/catalog.h"

namespace ridge {
namespace {

// Pointwise kernels between two casts of a round trip: a few operations that were wanted in the wider type.
constexpr std::size_t kMostBetweenCasts = 3;
constexpr std::size_t kMostOpen = 4;  // casts: of a norm's input and of its weights
// Of what runs between in the wider type: gelu 0.28, layer_norm 0.22 of its time was saved in the narrower (H200).
constexpr double kOfBetween = 0.25;

struct Cast {
  DType from = DType::unknown;  // unknown: the trace has no shapes
  DType to = DType::unknown;
  double elements = 0;
  std::size_t slot = 0;
  std::vector<std::size_t> between = {};  // kernels since, by slot
  std::optional<std::size_t> iteration = {};
  bool by_program = false;  // not by an op for itself
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
    std::map<std::int64_t, std::vector<Cast>> open;  // by stream: casts that may be taken back
    for (std::size_t i = 0; i < slots.size(); ++i) {
      std::vector<Cast>& before = open[slots[i].work.stream];
      Cast cast = cast_of(slots[i], i);
      if (cast.to == DType::unknown) {
        std::erase_if(before, [&](Cast& there) {
          there.between.push_back(i);
          return there.between.size() > kMostBetweenCasts || !stays_open(slots[i], there);
        });
        continue;
      }
      // Where sizes are not told, the longest of those that fit: weights of a norm are cast behind what is normed.
      const Cast* there = nullptr;
      for (const Cast& each : before) {
        if (goes_back(each, cast) && (there == nullptr || slots[each.slot].owned_ns >= slots[there->slot].owned_ns))
          there = &each;
      }
      if (there == nullptr) {
        // Of casts that are not the program's (autograd's of gradients) only the last may be taken back.
        std::erase_if(before, [](const Cast& each) { return !each.by_program; });
        if (before.size() == kMostOpen) before.erase(before.begin());
        before.push_back(std::move(cast));
        continue;
      }
      take(device, there->slot);
      take(device, i);
      if (width(there->to) > width(cast.to)) take_between(device, *there);
      ++pairs_;
      before.clear();  // a round trip is over: what casts next begins another
    }
  }

  std::int64_t pairs() const { return pairs_; }
  const WorkTally& tally() const { return tally_; }

 private:
  void take(std::size_t device, std::size_t slot) {
    tally_.add(facts_.ledger().devices()[device].work[slot].work.row, claim_.take_work(device, slot));
  }

  // In half the bytes; at most none of it is left, where these fit in a cache that the others did not.
  void take_between(std::size_t device, const Cast& there) {
    for (const std::size_t i : there.between) {
      const WorkSlot& slot = facts_.ledger().devices()[device].work[i];
      claim_.take_work(device, i, slot.open_ns / 2, static_cast<std::int64_t>(kOfBetween * static_cast<double>(slot.open_ns)));
      claim_.reach_work(device, i, INT64_MAX, 0);
    }
  }

  static double width(DType t) { return item_bytes(t); }

  bool stays_open(const WorkSlot& slot, const Cast& there) {
    if (is_pointwise(slot, there.elements)) return true;
    if (slot.work.sort != WorkSort::compute || facts_.identity(slot.work.row).category != Category::norm) return false;
    return there.by_program && (there.elements == 0 || facts_.elements(slot.work.row) == there.elements);
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
    const NodeId known_as = facts_.known_as(facts_.launch(row));
    cast.by_program = facts_.name(known_as) == "aten::to" && facts_.phase(known_as) != Phase::backward;
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
