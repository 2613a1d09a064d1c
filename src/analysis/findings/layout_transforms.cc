// layout_transforms: kernels that only turn NCHW into NHWC or back around convolutions. Libraries launch them for tensors in
// the order that their kernels do not take; Inductor writes them as copies named after the convolution alone.
//
// Norms and pools between the convolutions go over the same tensors, and in channels_last order most are faster: what they take
// above their roof is claimed, and what such calls take in that order is expected of them, of images: pools and resizing of
// volumes have no kernels for that order, and copy what they get. They, the convolutions themselves and what else goes over
// such tensors become faster at most; whether they do is not counted on.
#include <algorithm>

#include "analysis/findings/catalog.h"
#include "analysis/findings/least_time.h"
#include "cost/grid_size.h"
#include "ops/operands.h"

namespace ridge {
namespace {

bool has_any(std::string_view name, std::initializer_list<std::string_view> parts) {
  for (const std::string_view part : parts) {
    if (name.find(part) != name.npos) return true;
  }
  return false;
}

bool is_pool(std::string_view name) { return has_any(name, {"pool", "Pool", "upsample", "Upsample"}); }

bool is_transform(const KernelIdentity& kernel, std::string_view name) {
  if (kernel.category == Category::layout && kernel.helper)
    return has_any(name, {"nchwTo", "nhwcTo", "foldedNhwc", "FoldedNhwc", "batched_transpose", "NCHW2", "CNHW2"});
  if (kernel.category != Category::triton_pointwise || kernel.fused_ops.empty()) return false;
  for (const std::string& op : kernel.fused_ops) {
    if (op != "convolution" && op != "convolution_backward") return false;
  }
  return true;
}

// The tensor that a norm or a pool goes over, in NCHW order: of four dimensions or more, with channels that do not lie dense.
bool is_channels_first(const OpCall& call) {
  for (const OpArgument& argument : call.arguments) {
    const TensorShape& t = argument.tensor;
    if (argument.kind != OpArgument::Kind::tensor || t.sizes.size() < 4) continue;
    return t.sizes[1] > 1 && (t.strides.size() != t.sizes.size() || t.strides[1] != 1);
  }
  return false;
}

bool is_volume(const OpCall& call) {
  for (const OpArgument& argument : call.arguments) {
    if (argument.kind == OpArgument::Kind::tensor && argument.tensor.sizes.size() >= 4) return argument.tensor.sizes.size() > 4;
  }
  return false;
}

// What is known of how many dimensions its tensors have: sequences, of three, have no such order to ask for.
enum class Order : std::uint8_t { none, unknown, known };

Order order_by_name(std::string_view op) {
  if (op.find("conv") == std::string_view::npos) return Order::unknown;
  if (op.ends_with("1d")) return Order::none;
  return op.ends_with("2d") || op.ends_with("3d") ? Order::known : Order::unknown;
}

// Of all convolutions of the program that say it: the backward pass and compiled code call them by a name for all.
Order order_of_program(const Facts& facts) {
  bool images = false, sequences = false;
  const NameFlags of_images(facts.trace(), [](std::string_view name) { return order_by_name(name) == Order::known; });
  const NameFlags of_sequences(facts.trace(), [](std::string_view name) { return order_by_name(name) == Order::none; });
  for (std::uint32_t n = 0; n < facts.tree().recorded; ++n) {
    if (facts.tree().event_class[n] != EventClass::op) continue;
    images = images || of_images[facts.name_id(NodeId{n})];
    sequences = sequences || of_sequences[facts.name_id(NodeId{n})];
  }
  return images == sequences ? Order::unknown : images ? Order::known : Order::none;
}

constexpr int kMostLevelsOfOrder = 64;  // that are climbed: a stack may be as deep as a trace is long

// Where no op tells, as in the replay of a graph, it may have one: that bounds what there is to gain, and nothing is expected.
// The outermost op decides: inside, a sequence is made an image of one row.
Order order_of(Facts& facts, std::uint32_t row) {
  Order order = Order::unknown;
  NodeId n = facts.op(row);
  for (int level = 0; n != kNoNode && level < kMostLevelsOfOrder; n = facts.tree().op_above(n), ++level) {
    if (const Order told = order_by_name(facts.name(n)); told != Order::unknown) return told;
    const OpCall& call = facts.call(n);
    if (!call.has_shapes || call.arguments.empty()) continue;
    const std::size_t dimensions = call.arguments[0].tensor.sizes.size();
    if (dimensions >= 3) order = dimensions == 3 ? Order::none : Order::known;
  }
  return order;
}

bool is_of_convolution(const Facts& facts, std::uint32_t row) {
  NodeId n = facts.op(row);
  for (int level = 0; n != kNoNode && level < kMostLevelsOfOrder; n = facts.tree().op_above(n), ++level) {
    if (facts.name(n).find("conv") != std::string_view::npos) return true;
  }
  return false;
}

// What channels_last changes of a launch besides: `follows` is expected to be faster, `may` only bounded.
enum class Beside : std::uint8_t { none, follows, may };

bool has_sizes(const ExpectedCall* ran) {
  if (ran == nullptr || !ran->call->call.has_shapes) return false;
  return std::ranges::any_of(ran->call->call.arguments,
                             [](const OpArgument& argument) { return !argument.tensor.sizes.empty(); });
}

Beside beside(Facts& facts, const ExpectedCall* ran, std::uint32_t row) {
  const Category category = facts.identity(row).category;
  if (!has_sizes(ran)) {  // element by element any order is as fast as another
    constexpr Category kByOrder[] = {Category::conv, Category::norm, Category::layout, Category::reduction};
    const bool by_order = std::ranges::find(kByOrder, category) != std::end(kByOrder) || is_pool(facts.kernel(row));
    return by_order || is_of_convolution(facts, row) ? Beside::may : Beside::none;
  }
  if (!is_channels_first(ran->call->call)) return Beside::none;
  const std::string_view kind = ran->features.kind;
  const bool pools = kind == "pooling" && !is_volume(ran->call->call);
  const bool follows = category != Category::conv && (pools || kind.starts_with("norm"));
  return follows ? Beside::follows : Beside::may;
}

// What ATen's norms and pools of images leave of their time in channels_last order, where no sizes tell. A norm in the other
// order gives each channel one block, and few channels leave most of the device idle; in channels_last order all of it works:
// `a_channel` of the time is left for each channel. Training on an H200, 64 to 512 channels, 28 to 256 pixels a side.
struct PartLeft {
  std::string_view kernel;
  double a_channel;
  double unknown;  // where the trace has no grids
};
constexpr PartLeft kByName[] = {{"batch_norm_backward_kernel<", 0.0022, 0.4},
                                {"batch_norm_collect_statistics_kernel<", 0.0045, 0.7},
                                {"batch_norm_transform_input_kernel<", 0, 0.8},
                                {"max_pool_backward_nchw<", 0, 0.5},
                                {"max_pool_forward_nchw<", 0, 0.9}};

double left_by_name(std::string_view kernel, const std::optional<Dim3>& grid) {
  const auto* found =
      std::ranges::find_if(kByName, [&](const PartLeft& part) { return kernel.find(part.kernel) != kernel.npos; });
  if (found == std::end(kByName)) return 1;
  return grid && grid->x > 0 && found->a_channel > 0 ? std::min(1.0, found->a_channel * static_cast<double>(grid->x))
                                                     : found->unknown;
}

// What its neighbours take above their least; what they take in the other order is expected.
void take_besides(Facts& facts, Claim* claim) {
  const bool of_images = order_of_program(facts) == Order::known;
  const GridSizes grids(facts.model());
  for_each_open_work(facts.ledger(), [&](std::size_t d, std::size_t i, const WorkSlot& slot) {
    if (slot.work.sort != WorkSort::compute) return;
    const ExpectedCall* ran = facts.ran(slot.work.row);
    const Beside sort = beside(facts, ran, slot.work.row);
    if (sort == Beside::none) return;
    const std::int64_t most = most_gain_ns(facts, slot, facts.ledger().devices()[d].device);
    if (const double left = left_by_name(facts.kernel(slot.work.row), grids.grid(slot.work.row));
        !has_sizes(ran) && of_images && left < 1) {
      const auto saved = static_cast<std::int64_t>((1 - left) * static_cast<double>(slot.owned_ns));
      claim->take_work(d, i, std::max(most, saved), saved);
      return;
    }
    if (sort == Beside::may || !facts.scope().costs().roof(slot.work.row).roof_ns) {
      claim->reach_work(d, i, most, 0);
      return;
    }
    const auto left = facts.would_take().left_of(*ran, channels_last(ran->call->call), false);
    const double saved = left ? (1 - left->part) * static_cast<double>(slot.owned_ns) : 0;
    claim->take_work(d, i, std::max(most, static_cast<std::int64_t>(saved)), static_cast<std::int64_t>(saved));
  });
}

}  // namespace

std::optional<Finding> find_layout_transforms(Facts& facts) {
  // Asked once per identity, of which there are few.
  const KernelIdentities& all = facts.model().identities();
  std::vector<std::int8_t> known(all.identities.size(), -1);
  std::optional<Order> program;
  Claim claim(facts.ledger());
  WorkTally tally(facts);
  for_each_open_work(facts.ledger(), [&](std::size_t d, std::size_t i, const WorkSlot& slot) {
    if (slot.work.sort != WorkSort::compute) return;
    const std::uint32_t row = slot.work.row;
    std::int8_t& answer = known[all.of_row[row]];
    if (answer < 0) answer = is_transform(facts.identity(row), facts.kernel(row)) ? 1 : 0;
    if (answer != 1) return;
    Order order = order_of(facts, row);
    if (order == Order::unknown && facts.op(row) != kNoNode) order = program ? *program : *(program = order_of_program(facts));
    if (order == Order::none) return;
    const bool told = order == Order::known && is_of_convolution(facts, row);
    tally.add(row, claim.take_work(d, i, INT64_MAX, told ? INT64_MAX : 0));
  });
  if (tally.tally().empty()) return std::nullopt;
  take_besides(facts, &claim);
  if (!claim.keep()) return std::nullopt;
  return Finding{
      .finding = "layout transforms around convolutions: " + per_iteration(facts, tally.tally().count(), "transform"),
      .at_most_ns = claim.ns(),
      .confidence = Confidence::high,
      .evidence = tally.text(),
      .action =
          "keep model and inputs in channels_last: model.to(memory_format=torch.channels_last), and the same for each input",
      .event = tally.event()};
}

}  // namespace ridge
