// The rule of each family, and from parts to costs: shares, types, how well it is known.
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

// What a family's kernels tell by their grids, their order and each other.
struct FamilyRule {
  OpFamily family;
  void (*assign)(CallParts& c);
};
constexpr FamilyRule kFamilyRules[] = {
    {OpFamily::gemm, assign_gemm_roles},
    {OpFamily::convolution, assign_convolution_roles},
    {OpFamily::attention, assign_attention_roles},
    {OpFamily::pointwise, assign_pointwise_roles},
    {OpFamily::reduction, assign_reduction_roles},
    {OpFamily::softmax, assign_softmax_roles},
    {OpFamily::norm, assign_norm_roles},
    {OpFamily::gather, assign_gather_roles},
    {OpFamily::copy, assign_cat_roles},
    {OpFamily::pooling, assign_pooling_roles},
    {OpFamily::loss, assign_loss_roles},
    {OpFamily::recurrent, assign_recurrent_roles},
    {OpFamily::sort, assign_sort_roles},
    {OpFamily::optimizer, assign_list_roles},
    {OpFamily::experts, assign_experts_roles},
};

// Products of vectors count with those of matrices here: they run kernels of the same library.
bool on_matrix_units(OpFamily family) {
  return family == OpFamily::gemm || family == OpFamily::convolution || family == OpFamily::attention ||
         family == OpFamily::experts;
}

// From parts to costs.
class PartCosts {
 public:
  explicit PartCosts(const CallParts& c) : c_(c) {}

  std::vector<LaunchCost> to_costs() {
    std::vector<LaunchCost> out(c_.parts.size());
    count_shares();
    const bool matrix = on_matrix_units(c_.row.family);
    for (std::size_t i = 0; i < c_.parts.size(); ++i) {
      OpWork work = c_.work(c_.parts[i]);
      if (c_.launches[i].facts->sparse) work = {.dtype = work.dtype};
      LaunchCost& cost = out[i];
      const bool main = computes(c_.parts[i].role);
      if (!main && c_.parts[i].role != KernelRole::unknown) work.flops = 0;
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
  double share_of(std::size_t i) const {
    const auto* own = std::get_if<AttentionPart>(&c_.parts[i].of);
    if (own == nullptr) return 1 / same_role_[static_cast<std::size_t>(c_.parts[i].role)];
    // A server's kernels for requests that are read and for those that make tokens have nothing in common.
    const auto same = std::count_if(c_.parts.begin(), c_.parts.end(), [&](const Part& part) {
      const auto* other = std::get_if<AttentionPart>(&part.of);
      return part.role == c_.parts[i].role && other != nullptr && other->tokens == own->tokens;
    });
    return 1 / static_cast<double>(same);
  }
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
         role == KernelRole::grad_weight || role == KernelRole::grad_query || role == KernelRole::grad_key_value ||
         role == KernelRole::up || role == KernelRole::down;
}

bool has_roles(OpFamily family) {
  return std::any_of(std::begin(kFamilyRules), std::end(kFamilyRules), [&](const FamilyRule& r) { return r.family == family; });
}

double volume(const std::optional<Dim3>& d) {
  return d ? static_cast<double>(d->x) * static_cast<double>(d->y) * static_cast<double>(d->z) : 0;
}

std::int64_t blocks(std::int64_t n) { return std::clamp<std::int64_t>(n, 0, std::int64_t{1} << 40); }

std::vector<LaunchCost> call_costs(const OpFormula& row, const OpCall& call, std::span<const CallLaunch> launches,
                                   const CallContext& context) {
  if (launches.empty()) return {};
  CallParts c{row, call, launches, context};
  for (std::size_t i = 0; i < launches.size(); ++i) c.parts[i].role = role_of(row.family, launches[i].kernel);
  for (const FamilyRule& rule : kFamilyRules) {
    if (rule.family == row.family) rule.assign(c);
  }
  return PartCosts(c).to_costs();
}

}  // namespace ridge
