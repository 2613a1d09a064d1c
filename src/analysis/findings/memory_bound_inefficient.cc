// memory_bound_inefficient: kernels that memory traffic must bound and that reach only a small part of the device's bandwidth.
// Why is told from their launch: occupancy, a grid too small for the device, a last wave that is nearly empty.
//
// Few kernels reach the full bandwidth. Held against it are what such work takes on this device with its tensors in order
// (predict/would_take.h): only what is slower than that has something to gain, and that is what is expected. The bandwidth
// bounds it. Where nothing is known of such work, nothing is claimed. A tensor is put in order only where the program chooses
// how it lies: not rows of another, not what autograd hands on, not images that all lie in one order for the convolutions
// beside them. A column of rows counts: a plane for each column is the program's choice, and its traffic is what is used of it.
//
// Kernels that Inductor wrote are tiled already: of those, what their launch tells is wrong (too few blocks, low occupancy) is
// claimed. That others of their size are faster says nothing about what these could be.
//
// Kernels that draw random numbers are left out: Philox takes some sixty integer instructions a number, which no FLOP count
// holds, and takes longer than writing the number (a dropout in bfloat16 reaches a quarter of an H200's bandwidth at best).
#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "analysis/findings/catalog.h"
#include "analysis/findings/least_time.h"
#include "base/units.h"
#include "cost/roof/launch_occupancy.h"
#include "predict/strided_views.h"

namespace ridge {
namespace {

constexpr double kFarBelow = 0.4;                // of the peak; good kernels reach 0.7 to 0.95
constexpr std::int64_t kLeastKernelNs = 10'000;  // below, start and end of a kernel weigh more than its traffic
constexpr double kLowOccupancyPct = 25;
constexpr double kFewWaves = 4;  // with more, the last one matters little

// Time of the compulsory traffic at the full bandwidth; nothing where it is not known or arithmetic is what bounds the kernel.
std::optional<double> traffic_ns(const Facts& facts, std::uint32_t row, std::int64_t device) {
  const CostModel& costs = facts.scope().costs();
  const LaunchCost& cost = costs[row];
  const DeviceSpec* spec = costs.device(device);
  if (spec == nullptr || !spec->bandwidth.known() || !cost.bytes_read || !cost.bytes_written) return std::nullopt;
  if (cost.estimate == Estimate::none || cost.estimate == Estimate::ambiguous) return std::nullopt;
  const double ns = (*cost.bytes_read + *cost.bytes_written) / spec->bandwidth.high * 1e9;
  const double flops = cost.flops.value_or(0) + cost.flops_pointwise.value_or(0);
  const Figure peak = peak_flops(*spec, cost.dtype, MathUnit::vector);
  if (peak.known() && flops / peak.high * 1e9 > ns) return std::nullopt;
  return ns;
}

// The same, with columns as planes: of sectors that are read for one element only that counts.
std::optional<double> used_traffic_ns(Facts& facts, std::uint32_t row, std::int64_t device) {
  const auto whole = traffic_ns(facts, row, device);
  const ExpectedCall* ran = whole ? facts.ran(row) : nullptr;
  if (ran == nullptr || !has_apart(ran->call->call)) return whole;
  double bytes = facts.scope().costs()[row].bytes_written.value_or(0);
  for (const OpArgument& argument : ran->call->call.arguments) {
    if (argument.kind == OpArgument::Kind::tensor) bytes += numel(argument.tensor) * item_bytes(argument.tensor.dtype);
  }
  return std::min(*whole, bytes / facts.scope().costs().device(device)->bandwidth.high * 1e9);
}

// In names of generated kernels: ops that draw. native_dropout_backward does not, it reads the mask.
constexpr std::string_view kDrawingOps[] = {"rand",   "randn",   "randint",    "bernoulli", "native_dropout", "inductor_random",
                                            "normal", "uniform", "exponential"};
// In names of ATen's kernels.
constexpr std::string_view kDrawingKernels[] = {"distribution_", "fused_dropout_kernel", "philox"};

bool draws_numbers(const Facts& facts, std::uint32_t row) {
  const std::vector<std::string>& fused = facts.identity(row).fused_ops;
  const std::string_view kernel = facts.kernel(row);
  return std::any_of(std::begin(kDrawingOps), std::end(kDrawingOps),
                     [&](std::string_view op) { return std::find(fused.begin(), fused.end(), op) != fused.end(); }) ||
         std::any_of(std::begin(kDrawingKernels), std::end(kDrawingKernels),
                     [&](std::string_view part) { return kernel.find(part) != kernel.npos; });
}

// Ops that copy because the program asks for it.
constexpr std::string_view kCopyingOps[] = {"aten::contiguous", "aten::clone", "aten::copy_",   "aten::to",    "aten::_to_copy",
                                            "aten::reshape",    "aten::cat",   "aten::flatten", "aten::repeat"};

// A copy that an op makes of its own argument, because the order in which it lies does not suit it: none is needed of a tensor
// that lies in order. How gradients lie is not the program's choice.
bool is_ops_own_copy(Facts& facts, const OpCall& call, std::uint32_t row) {
  if (facts.phase(facts.launch(row)) == Phase::backward) return false;
  if (call.op != "aten::copy_" || call.arguments.size() < 2) return false;
  const TensorShape &to = call.arguments[0].tensor, &from = call.arguments[1].tensor;
  if (to.dtype != from.dtype || to.strides == from.strides || from.strides.size() < 2) return false;
  const NodeId known = facts.known_as(facts.launch(row));
  return known != kNoNode && std::ranges::find(kCopyingOps, facts.name(known)) == std::end(kCopyingOps);
}

// Every element of its storage is its own: nothing is left out between rows, nothing is repeated.
bool is_dense(const TensorShape& t) {
  if (t.strides.size() != t.sizes.size()) return true;  // not recorded
  double last = 0;
  for (std::size_t i = 0; i < t.sizes.size(); ++i) {
    if (t.strides[i] == 0 && t.sizes[i] > 1) return false;
    last += static_cast<double>(t.sizes[i] - 1) * static_cast<double>(t.strides[i]);
  }
  return last + 1 == numel(t);
}

// Images in one order, whichever it is: the convolutions beside it have chosen it.
bool are_images_alike(const OpCall& call) {
  const TensorShape* first = nullptr;
  for (const OpArgument& argument : call.arguments) {
    const TensorShape& t = argument.tensor;
    if (argument.kind != OpArgument::Kind::tensor || t.sizes.size() < 4) continue;
    if (first != nullptr && t.strides != first->strides) return false;
    first = &t;
  }
  return first != nullptr;
}

bool lies_in_order(const TensorShape& t) {
  if (t.strides.size() != t.sizes.size()) return true;  // not recorded
  std::int64_t at = 1;
  for (std::size_t i = t.strides.size(); i-- > 0;) {
    if (t.sizes[i] > 1 && t.strides[i] != at) return false;
    at *= std::max<std::int64_t>(1, t.sizes[i]);
  }
  return true;
}

// The call with its tensors in order; nothing where the program does not choose how they lie.
std::optional<OpCall> in_order(Facts& facts, const OpCall& call, std::uint32_t row) {
  const bool chosen = facts.phase(facts.launch(row)) != Phase::backward && !are_images_alike(call);
  for (const OpArgument& argument : call.arguments) {
    const auto stays = [&](const TensorShape& t) { return !lies_in_order(t) && !(chosen && (is_dense(t) || lies_apart(t))); };
    if (stays(argument.tensor) || std::ranges::any_of(argument.list, stays)) return std::nullopt;
  }
  return contiguous(call);
}

// How a kernel was launched, as far as the trace tells.
struct LaunchShape {
  LaunchOccupancy occupancy;
  std::optional<double> blocks, multiprocessors;

  bool is_low() const { return occupancy.pct && *occupancy.pct < kLowOccupancyPct; }
  bool leaves_idle() const { return blocks && multiprocessors && *blocks < *multiprocessors; }
};

LaunchShape launch_shape(const Facts& facts, std::uint32_t row, std::int64_t device_id) {
  const DeviceWorkTable& work = facts.work();
  const EventId event = work.events[row];
  LaunchShape out{
      .occupancy = occupancy_of(facts.scope().costs(), work, event, device_id), .blocks = {}, .multiprocessors = {}};
  const auto text = work.grid.text(event);
  if (const auto grid = text ? parse_dim3(facts.trace().text(*text)) : std::nullopt)
    out.blocks = static_cast<double>(grid->x) * static_cast<double>(grid->y) * static_cast<double>(grid->z);
  const DeviceProperties* device = facts.properties(device_id);
  if (device != nullptr && device->multiprocessors) out.multiprocessors = static_cast<double>(*device->multiprocessors);
  return out;
}

// What is left when it is mended; nothing where that is not known, or as much as now.
std::optional<LeftOver> left_of(Facts& facts, std::uint32_t row, std::int64_t device) {
  const ExpectedCall* call = facts.expected().call(row);
  if (call == nullptr) return std::nullopt;
  std::optional<LeftOver> left;
  if (call->call != nullptr) {
    if (is_ops_own_copy(facts, call->call->call, row)) return LeftOver{0, 0, 0};
    const auto other = in_order(facts, call->call->call, row);
    if (other) left = facts.would_take().left_of(*call, *other, false);
  } else if (call->expected && facts.would_take().is_measured(call->device)) {
    const LaunchShape launch = launch_shape(facts, row, device);
    if (!launch.is_low() && !launch.leaves_idle()) return std::nullopt;
    const double mean = call->time_ns / static_cast<double>(call->count);
    left = LeftOver{call->expected->ns / mean, call->expected->low_ns / mean, call->expected->high_ns / mean};
  }
  return left && left->high < 1 ? left : std::nullopt;
}

bool moves_data(Category category) {
  return category != Category::gemm && category != Category::conv && category != Category::attention &&
         category != Category::triton_template && category != Category::comm && category != Category::memcpy &&
         category != Category::memset && category != Category::other;
}

using Slots = std::set<std::pair<std::size_t, std::size_t>>;  // a device and one of its work

// Tensors that lie in order are so for all that reads them: what is no finding by itself may become faster too.
void reach_same_tensors(Facts& facts, const Slots& found, Claim* claim) {
  const auto across = [](const TensorShape& t) { return !lies_in_order(t); };
  for_each_open_work(facts.ledger(), [&](std::size_t d, std::size_t i, const WorkSlot& slot) {
    if (found.contains({d, i})) return;
    const ExpectedCall* ran = moves_data(facts.identity(slot.work.row).category) ? facts.ran(slot.work.row) : nullptr;
    if (ran == nullptr) return;
    for (const OpArgument& argument : ran->call->call.arguments) {
      if (!across(argument.tensor) && std::ranges::none_of(argument.list, across)) continue;
      claim->reach_work(d, i, most_gain_ns(facts, slot, facts.ledger().devices()[d].device), 0);
      return;
    }
  });
}

// "occupancy 12 %; 64 blocks for 132 multiprocessors", as far as the trace tells.
std::string launch_text(const Facts& facts, std::uint32_t row, std::int64_t device_id) {
  const LaunchShape launch = launch_shape(facts, row, device_id);
  std::string out;
  if (launch.occupancy.pct)
    out += fmt::format(", occupancy {:.0f} %{}", *launch.occupancy.pct, launch.is_low() ? " (low)" : "");
  if (!launch.blocks || !launch.multiprocessors) return out;
  out += fmt::format(", {:.0f} blocks for {:.0f} multiprocessors", *launch.blocks, *launch.multiprocessors);
  if (launch.leaves_idle()) return out + " (some are idle)";
  if (!launch.occupancy.resident_blocks) return out;
  const double waves = *launch.blocks / *launch.occupancy.resident_blocks;
  if (waves > 1 && waves < kFewWaves) out += fmt::format(", {:.1f} waves (the last is not full)", waves);
  return out;
}

}  // namespace

std::optional<Finding> find_memory_bound_inefficient(Facts& facts) {
  Claim claim(facts.ledger());
  Tally tally;
  Slots found;
  for_each_open_work(facts.ledger(), [&](std::size_t d, std::size_t i, const WorkSlot& slot) {
    const std::uint32_t row = slot.work.row;
    const std::int64_t duration = slot.work.end_ns - slot.work.start_ns;
    if (duration < kLeastKernelNs || !facts.is_kernel(row) || !moves_data(facts.identity(row).category)) return;
    if (draws_numbers(facts, row)) return;
    const std::int64_t device = facts.ledger().devices()[d].device;
    const auto traffic = used_traffic_ns(facts, row, device);
    if (!traffic || *traffic >= kFarBelow * static_cast<double>(duration)) return;
    const auto left = left_of(facts, row, device);
    if (!left) return;
    const auto saved = static_cast<std::int64_t>((1 - left->part) * static_cast<double>(duration));
    const std::int64_t got = claim.take_work(d, i, std::max(duration - static_cast<std::int64_t>(*traffic), saved), saved);
    claim.reach_work(d, i, most_gain_ns(facts, slot, device) - got, 0);  // in a cache it may be faster than by its traffic
    found.insert({d, i});
    tally.add(facts.kernel_id(row), sort_of_device(facts, device), row, got);
  });
  if (!claim.keep()) return std::nullopt;
  reach_same_tensors(facts, found, &claim);
  const auto device_of = [&](std::uint32_t row) {
    for (const Device& device : facts.model().timeline().devices) {
      for (const WorkRow& work : device.work) {
        if (work.row == row) return device.id;
      }
    }
    return std::int64_t{0};
  };
  return Finding{
      .finding = "memory-bound kernels run far below peak bandwidth",
      .at_most_ns = claim.ns(),
      .confidence = Confidence::medium,
      .evidence = evidence_of(facts, tally,
                              [&](std::uint32_t row) {
                                const std::int64_t device = device_of(row);
                                const auto duration =
                                    static_cast<double>(facts.trace().events.dur_ns(facts.work().events[row]).value_or(0));
                                const double pct =
                                    100 * used_traffic_ns(facts, row, device).value_or(0) / std::max(1.0, duration);
                                return fmt::format("{} at {:.0f} % of peak bandwidth{}", facts.identity(row).label, pct,
                                                   launch_text(facts, row, device));
                              }),
      .action =
          "give the kernel contiguous tensors and enough blocks: .contiguous() before strided access, larger batches, or a "
          "compiled or hand-written kernel with different tiling",
      .event = facts.event_of_work(tally.largest())};
}

}  // namespace ridge
