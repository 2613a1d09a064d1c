// tf32_off: float32 matrix products and convolutions by plain multiply-adds on a device whose tensor cores take TF32 (NVIDIA
// from compute capability 8.0). The kernel's name tells. A convolution by Winograd's algorithm counts too: with TF32, the
// library computes the whole of it on tensor cores.
//
// PyTorch has a switch for products and one for cuDNN (convolutions and recurrent layers). A kernel on TF32 shows that its
// switch is on: plain kernels beside it are what the library chose for their shapes, and no switch changes them. Nor does any
// change a depthwise convolution, which has no product that a tensor core could do, or the products inside a solver (QR, SVD,
// ...), which keeps its own precision.
#include <algorithm>
#include <array>
#include <unordered_set>

#include "analysis/findings/catalog.h"
#include "base/saturating.h"
#include "kernel_names/plain_float32.h"

namespace ridge {
namespace {

bool has_tf32(const Facts& facts, std::int64_t device) {
  const DeviceProperties* d = facts.properties(device);
  const DeviceSpec* spec = facts.scope().costs().device(device);
  if (spec != nullptr) return spec->vendor == "NVIDIA" && spec->tf32.known();
  return d != nullptr && d->compute_major.value_or(0) >= 8 && d->name.find("AMD") == d->name.npos;
}

// How much faster the TF32 units are at most; nothing when the device's peaks are not known.
std::optional<double> speedup(const Facts& facts, std::int64_t device) {
  const DeviceSpec* spec = facts.scope().costs().device(device);
  if (spec == nullptr || !spec->tf32.known() || !spec->f32.known()) return std::nullopt;
  return spec->tf32.high / spec->f32.high;
}

// The time that stays: bounded below by the arithmetic at TF32's peak and by the memory traffic, where these are known. Where
// they are not, nothing bounds it: a kernel far below its own peak has more to gain than the units' ratio.
double least_ns(const Facts& facts, const WorkSlot& slot, std::int64_t device) {
  double least = 0;
  const LaunchCost& cost = facts.scope().costs()[slot.work.row];
  const DeviceSpec* spec = facts.scope().costs().device(device);
  if (cost.flops) least = *cost.flops / spec->tf32.high * 1e9;
  // What is read again by tiles is no bound: others read less.
  if (cost.estimate == Estimate::exact && cost.bytes_read && cost.bytes_written && spec->bandwidth.known())
    least = std::max(least, (*cost.bytes_read + *cost.bytes_written) / spec->bandwidth.high * 1e9);
  return std::min(least, static_cast<double>(slot.owned_ns));
}

// What is expected to stay: such a product takes that with TF32. Where its sizes are not told: of plain multiply-adds libraries
// reach 0.7 of the peak, of TF32 0.5, and no product takes less than a few microseconds.
double expected_ns(Facts& facts, const WorkSlot& slot, std::optional<double> factor) {
  constexpr double kReachedPlain = 0.7, kReachedTf32 = 0.5, kShortestNs = 6'000;
  const auto time = static_cast<double>(slot.owned_ns);
  if (const ExpectedCall* ran = facts.ran(slot.work.row)) {
    if (const auto left = facts.would_take().left_of(*ran, ran->call->call, true)) return left->part * time;
  }
  return factor ? kShortestNs + time / *factor * kReachedPlain / kReachedTf32 : 0;
}

bool is_tf32(std::string_view kernel) {
  const auto holds = [&](std::string_view part) { return kernel.find(part) != kernel.npos; };
  return holds("tf32") || (holds("s1688") && !holds("f16"));
}
bool is_depthwise(std::string_view kernel) { return kernel.find("depthwise") != kernel.npos; }

struct Switch {
  std::string_view action;
  bool on = false;    // some kernel uses TF32
  bool seen = false;  // plain kernels that it would change
};
constexpr std::size_t kProducts = 0, kCudnn = 1;

std::size_t switch_of(const Facts& facts, std::uint32_t row) {
  if (facts.identity(row).category == Category::conv) return kCudnn;
  const NodeId op = facts.op(row);
  return op != kNoNode && facts.name(op).find("rnn") != std::string_view::npos ? kCudnn : kProducts;
}

constexpr std::string_view kSolvers[] = {"linalg_", "cholesky",         "svd",  "geqrf", "ormqr", "inverse",
                                         "lu_",     "triangular_solve", "lstsq"};

bool is_solver(std::string_view op) {
  return std::any_of(std::begin(kSolvers), std::end(kSolvers), [&](std::string_view part) { return op.find(part) != op.npos; });
}

bool is_matrix_work(const Facts& facts, std::uint32_t row) {
  const Category category = facts.identity(row).category;
  return category == Category::gemm || category == Category::conv;
}

// What an op launches beside its plain product (Winograd's and Fourier's transforms, turned tensors, sums of parts): the kernel
// that takes its place may need none of it.
void reach_helpers(const Facts& facts, const std::vector<std::uint32_t>& plain, Claim* claim) {
  std::unordered_set<std::uint32_t> of_ops, rows(plain.begin(), plain.end());
  for (const std::uint32_t row : plain) {
    if (facts.op(row) != kNoNode) of_ops.insert(facts.op(row).value);
  }
  for_each_open_work(facts.ledger(), [&](std::size_t d, std::size_t i, const WorkSlot& slot) {
    const NodeId op = facts.op(slot.work.row);
    if (op != kNoNode && of_ops.contains(op.value) && !rows.contains(slot.work.row)) claim->reach_work(d, i, INT64_MAX, 0);
  });
}

}  // namespace

std::optional<Finding> find_tf32_off(Facts& facts) {
  if (facts.scope().costs().options().tf32) return std::nullopt;  // --tf32: the user knows that it is on
  const NameFlags plain(facts.trace(), [](std::string_view name) { return is_plain_float32(name) && !is_depthwise(name); });
  if (!plain.any()) return std::nullopt;
  const NameFlags fast(facts.trace(), is_tf32);
  std::array<Switch, 2> switches = {
      {{"torch.set_float32_matmul_precision(\"high\")"}, {"torch.backends.cudnn.allow_tf32 = True"}}};
  for (const DeviceLedger& device : facts.ledger().devices()) {
    for (const WorkSlot& slot : device.work) {
      if (fast[facts.kernel_id(slot.work.row)] && is_matrix_work(facts, slot.work.row))
        switches[switch_of(facts, slot.work.row)].on = true;
    }
  }
  Claim claim(facts.ledger());
  WorkTally tally(facts);
  std::vector<std::int64_t> times_ns(facts.ledger().devices().size());
  bool bounded = true;
  std::vector<std::uint32_t> rows;
  for_each_open_work(facts.ledger(), [&](std::size_t d, std::size_t i, const WorkSlot& slot) {
    const std::uint32_t row = slot.work.row;
    if (!is_matrix_work(facts, row) || !plain[facts.kernel_id(row)]) return;
    if (const NodeId op = facts.op(row); op != kNoNode && is_solver(facts.name(op))) return;
    Switch& its = switches[switch_of(facts, row)];
    if (its.on) return;
    // Narrower inputs already are tensor cores' food: a kernel that widens them within gains nothing from TF32. Nor does what
    // ran on TF32 units for all that `kernels` knows.
    const DType dtype = facts.scope().costs()[row].dtype;
    if (dtype != DType::unknown && dtype != DType::f32) return;
    const std::int64_t device = facts.ledger().devices()[d].device;
    if (!has_tf32(facts, device)) return;
    const auto factor = speedup(facts, device);
    bounded = bounded && factor.has_value();
    its.seen = true;
    rows.push_back(row);
    tally.add(row, slot.open_ns);
    saturating_add(&times_ns[d], slot.open_ns);
    if (!factor) return;
    const double stays = std::max(least_ns(facts, slot, device), expected_ns(facts, slot, factor));
    claim.take_work(d, i, slot.open_ns - static_cast<std::int64_t>(least_ns(facts, slot, device)),
                    slot.open_ns - static_cast<std::int64_t>(stays));
  });
  const std::int64_t time_ns = times_ns.empty() ? 0 : *std::max_element(times_ns.begin(), times_ns.end());
  if (time_ns < facts.ledger().least_ns() || (bounded && !claim.keep())) return std::nullopt;
  claim.keep_anyway();
  reach_helpers(facts, rows, &claim);
  for (const std::uint32_t row : rows) facts.replace(row);
  std::string action;
  for (const Switch& its : switches) {
    if (its.seen) action += (action.empty() ? "" : " and ") + std::string(its.action);
  }
  return Finding{.finding = "float32 matmuls and convolutions run without TF32",
                 .at_most_ns = bounded ? std::optional(claim.ns()) : std::nullopt,
                 .confidence = Confidence::high,
                 .evidence = tally.text(),
                 .action = action + " (10-bit mantissa), or " +
                           (facts.program() == ProgramKind::infers ? "cast the model to bfloat16" : "autocast to bfloat16"),
                 .event = tally.event()};
}

}  // namespace ridge
