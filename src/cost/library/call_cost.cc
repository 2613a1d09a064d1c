#include "cost/library/call_cost.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>

#include "cost/library/call_parts.h"
#include "ops/operands.h"

namespace ridge {
namespace {

// A value that can be shown: finite and not negative.
std::optional<double> sane(std::optional<double> v) {
  return v && std::isfinite(*v) && *v >= 0 && *v < 1e30 ? v : std::nullopt;
}

// What a launch's own name and grid tell.
void describe(CallParts& c, std::size_t i) {
  const CallLaunch& launch = c.launches[i];
  Part& part = c.parts[i];
  part.role = role_of(c.row.family, launch.kernel);
  part.cache = c.context.device.cache;
  const KernelFacts& facts = *launch.facts;
  part.item = facts.item;
  part.source = facts.source;
  part.inputs = facts.pointers > 0 ? facts.pointers - 1 : -1;
  part.accumulates = facts.accumulates;
  part.sums = facts.sums;
  part.lists = facts.lists;
  part.list_reads = facts.list_reads;
  if (c.row.family == OpFamily::gather && launch.grid &&
      launch.kernel.find("vectorized_gather_kernel") != std::string_view::npos) {
    const TensorShape* x = tensor_at(c.call, 0);  // a row of the grid for each row taken
    if (x != nullptr && !x->sizes.empty() && x->sizes[0] > 0) {
      part.count = blocks(launch.grid->x);
      part.elements = static_cast<double>(launch.grid->x) * numel(*x) / static_cast<double>(x->sizes[0]);
    }
  }
  if (facts.elements_per_block > 0 && launch.grid)
    part.elements = static_cast<double>(launch.grid->x) * facts.elements_per_block;
}

// What a family's kernels tell only together.
struct FamilyRule {
  OpFamily family;
  void (*tell)(CallParts& c);
};
constexpr FamilyRule kFamilyRules[] = {
    {OpFamily::gemm, assign_gemm_roles},   {OpFamily::convolution, tell_convolutions},
    {OpFamily::attention, tell_attention}, {OpFamily::norm, tell_norms},
    {OpFamily::copy, tell_cats},           {OpFamily::optimizer, tell_lists},
    {OpFamily::recurrent, tell_recurrent}, {OpFamily::softmax, tell_softmax},
    {OpFamily::sort, tell_selections},     {OpFamily::gather, tell_indices},
};

// From parts to costs.
class PartCosts {
 public:
  explicit PartCosts(const CallParts& c) : c_(c) {}

  std::vector<LaunchCost> to_costs() {
    std::vector<LaunchCost> out(c_.parts.size());
    count_shares();
    const bool matrix =
        c_.row.family == OpFamily::gemm || c_.row.family == OpFamily::convolution || c_.row.family == OpFamily::attention;
    for (std::size_t i = 0; i < c_.parts.size(); ++i) {
      OpWork work = c_.row.work(c_.call, c_.parts[i]);
      if (c_.launches[i].facts->sparse) work = {.dtype = work.dtype};
      LaunchCost& cost = out[i];
      const bool main = computes(c_.parts[i].role);
      if (!main) work.flops = 0;
      double share = 1;
      if (c_.parts.size() > 1 && matrix && main) share = share_of(i);
      if (c_.parts.size() > 1 && cut_by_grid()) share = share_of_grid(i);
      cost.flops = sane(times(work.flops, matrix ? share : 1));
      cost.flops_causal = sane(times(work.flops_causal, share));
      cost.bytes_read = sane(times(work.read, share));
      cost.bytes_written = sane(times(work.written, share));
      cost.dtype = dtype_of(work.dtype, *c_.launches[i].facts, matrix && main);
      cost.matrix = matrix && cost.flops.value_or(0) > 0;
      if (cost.bytes_read || cost.bytes_written || (cost.flops && main && matrix)) {
        const bool plain = c_.parts.size() == 1 && c_.parts[i].role == KernelRole::main;
        cost.estimate = work.ambiguous || c_.parts[i].guessed || (matrix && share != 1) ? Estimate::ambiguous
                        : plain                                                         ? Estimate::exact
                                                                                        : Estimate::shapes;
      }
    }
    return out;
  }

 private:
  // Where several kernels have the same part of the op, each has its share: of the FLOPs equal ones, so that the op is counted
  // once.
  void count_shares() {
    for (std::size_t i = 0; i < c_.parts.size(); ++i) {
      same_role_[static_cast<std::size_t>(c_.parts[i].role)] += 1;
      blocks_of_[c_.launches[i].kernel.data()] += volume(c_.launches[i].grid);
    }
  }
  double share_of(std::size_t i) const { return 1 / same_role_[static_cast<std::size_t>(c_.parts[i].role)]; }
  // A tensor too large for one launch is cut into several of the same kernel (whose name is one text: equal names have one
  // address).
  double share_of_grid(std::size_t i) const {
    const double all = blocks_of_.at(c_.launches[i].kernel.data());
    return all > 0 ? volume(c_.launches[i].grid) / all : 1;
  }
  bool cut_by_grid() const {
    return c_.row.family == OpFamily::pointwise || c_.row.family == OpFamily::reduction || c_.row.family == OpFamily::softmax ||
           c_.row.family == OpFamily::pooling ||
           (c_.row.family == OpFamily::copy && c_.launches[0].facts->item == DType::unknown);
  }

  DType dtype_of(DType of_op, const KernelFacts& facts, bool matrix) const {
    DType dtype = of_op;
    if (dtype == DType::unknown || facts.item_opaque) dtype = facts.dtype;
    if (facts.item_opaque) dtype = DType::unknown;
    if (dtype == DType::unknown) dtype = c_.context.dtype;
    if (dtype == DType::f32 && matrix && (facts.tensor_cores_only || c_.context.tf32)) dtype = DType::tf32;
    return dtype;
  }

  const CallParts& c_;
  std::array<double, 32> same_role_{};
  std::unordered_map<const char*, double> blocks_of_;
};

}  // namespace

bool computes(KernelRole role) {
  return role == KernelRole::main || role == KernelRole::step || role == KernelRole::grad_input ||
         role == KernelRole::grad_weight || role == KernelRole::grad_query || role == KernelRole::grad_key_value;
}

double volume(const std::optional<Dim3>& d) {
  return d ? static_cast<double>(d->x) * static_cast<double>(d->y) * static_cast<double>(d->z) : 0;
}

std::int64_t blocks(std::int64_t n) { return std::clamp<std::int64_t>(n, 0, std::int64_t{1} << 40); }

std::vector<LaunchCost> call_costs(const OpFormula& row, const OpCall& call, std::span<const CallLaunch> launches,
                                   const CallContext& context) {
  if (launches.empty()) return {};
  CallParts c{row, call, launches, context};
  for (std::size_t i = 0; i < launches.size(); ++i) describe(c, i);
  for (const FamilyRule& rule : kFamilyRules) {
    if (rule.family == row.family) rule.tell(c);
  }
  return PartCosts(c).to_costs();
}

}  // namespace ridge
