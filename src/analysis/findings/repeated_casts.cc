// repeated_casts: parameters are cast to the type of a product at every use, though they have not changed since the last one
// (facts/weight_casts.h). Claimed are the casts, and the device's waiting for their launches: all of it goes when they are cast
// once, and with it the ops that cast. A program that only infers then computes in that type throughout: what its ops cast for
// themselves (autocast: the inputs of each product, of each norm) goes too.
#include <algorithm>

#include <fmt/format.h>

#include "analysis/findings/catalog.h"
#include "analysis/findings/host_gone.h"
#include "base/units.h"
#include "facts/weight_casts.h"

namespace ridge {
namespace {

constexpr std::string_view kCastOnceToInfer =
    "cast the parameters once, before the loop (model.to(torch.bfloat16) or model.half()), and not at every call: under "
    "autocast "
    "that is every iteration";
constexpr std::string_view kCastOnceAStep =
    "cast each parameter once a step: keep the cast tensor for its other uses, or enter autocast once around the whole forward "
    "pass with its cache on (cache_enabled=True)";

// The op that casts, with those that it is made of: aten::to around aten::_to_copy around aten::copy_.
NodeId casting_op(const Facts& facts, std::uint32_t row) {
  constexpr std::string_view kCasting[] = {"aten::copy_", "aten::_to_copy", "aten::to"};
  NodeId found = kNoNode;
  constexpr int kMostLevels = 8;  // that are climbed: a stack may be as deep as a trace is long
  NodeId op = facts.op(row);
  for (int level = 0; op != kNoNode && level < kMostLevels; op = facts.tree().op_above(op), ++level) {
    if (std::ranges::find(kCasting, facts.name(op)) == std::end(kCasting)) break;
    found = op;
  }
  return found;
}

// A cast that an op makes of its own argument.
bool is_ops_own_cast(const Facts& facts, const WorkSlot& slot) {
  if (slot.work.sort != WorkSort::compute || facts.identity(slot.work.row).category != Category::layout) return false;
  const NodeId op = casting_op(facts, slot.work.row);
  return op != kNoNode && facts.name(op) == "aten::to" && facts.tree().op_above(op) != kNoNode;
}

// A program that computes in the narrow type throughout moves half the bytes wherever it moves float32 now (autocast's norms,
// and the sums behind them): at most none of that is left, where it fits in a cache then.
void reach_wide_work(const Facts& facts, Claim* claim) {
  for_each_open_work(facts.ledger(), [&](std::size_t d, std::size_t i, const WorkSlot& slot) {
    const DType dtype = facts.scope().costs()[slot.work.row].dtype;
    if (slot.work.sort == WorkSort::compute && (dtype == DType::f32 || dtype == DType::unknown))
      claim->reach_work(d, i, INT64_MAX, 0);
  });
}

}  // namespace

std::optional<Finding> find_repeated_casts(Facts& facts) {
  const std::vector<std::uint32_t> casts = repeated_weight_casts(facts.scope(), facts.program());
  if (casts.empty()) return std::nullopt;
  const auto is_one = [&](std::uint32_t row) { return std::binary_search(casts.begin(), casts.end(), row); };
  const bool infers = facts.program() == ProgramKind::infers;
  Claim claim(facts.ledger());
  WorkTally tally(facts);
  HostGone gone(facts);
  bool by_ops = false;  // autocast, in a program that only infers
  for_each_open_work(facts.ledger(), [&](std::size_t d, std::size_t i, const WorkSlot& slot) {
    const bool own = infers && is_ops_own_cast(facts, slot);
    if (!is_one(slot.work.row) && !own) return;
    by_ops = by_ops || own;
    const std::int64_t got = claim.take_work(d, i);
    if (is_one(slot.work.row)) tally.add(slot.work.row, got);
    gone.add(casting_op(facts, slot.work.row));
  });
  std::int64_t waited_ns = 0;
  for_each_open_idle(facts.ledger(), [&](std::size_t d, std::size_t i, const IdleSlot& slot) {
    const bool before = is_late(slot.piece.cause) || slot.piece.cause == IdleCause::kernel_gap;
    if (before && slot.next_work != kNoWork && is_one(slot.next_work)) waited_ns += claim.take_idle(d, i);
  });
  if (!claim.keep()) return std::nullopt;
  gone.reach(&claim);
  if (by_ops) reach_wide_work(facts, &claim);
  const std::string waits =
      waited_ns == 0 ? "" : ", and the device waits " + duration_text(facts, waited_ns) + " for their launches";
  return Finding{
      .finding = "parameters are cast to another dtype at every use: " + per_iteration(facts, tally.tally().count(), "cast"),
      .at_most_ns = claim.ns(),
      .confidence = Confidence::medium,
      .evidence = tally.text() + waits,
      .action = std::string(facts.program() == ProgramKind::trains ? kCastOnceAStep : kCastOnceToInfer),
      .event = tally.event(),
      .gone = gone.removal()};
}

}  // namespace ridge
