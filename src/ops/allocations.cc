// The list of them, and where their type stands; sizes stand first. "aten::empty_like" calls one of these.
#include "ops/allocations.h"

#include <algorithm>
#include <iterator>

#include "ops/operands.h"

namespace ridge {
namespace {

struct Allocation {
  std::string_view op;
  std::size_t dtype_at;
};
constexpr Allocation kAllocations[] = {{"aten::empty", 1}, {"aten::empty_strided", 2}, {"aten::zeros", 1}};

const Allocation* find_allocation(std::string_view op) {
  const auto* found =
      std::find_if(std::begin(kAllocations), std::end(kAllocations), [&](const Allocation& a) { return a.op == op; });
  return found == std::end(kAllocations) ? nullptr : found;
}

}  // namespace

bool asks_for_allocations(const OpFormula& row) {
  const auto* at = std::get_if<ExpertsPositions>(&row.positions);
  return at != nullptr && at->up < 0 && at->down < 0;
}

bool is_allocation(std::string_view op) { return find_allocation(op) != nullptr; }

std::optional<TensorShape> allocated(const OpCall& call) {
  const Allocation* allocation = find_allocation(call.op);
  const auto sizes = integers_at(call, 0);
  if (allocation == nullptr || !sizes) return std::nullopt;
  return TensorShape{.sizes = *sizes, .strides = {}, .dtype = scalar_type(call, allocation->dtype_at, DType::unknown)};
}

}  // namespace ridge
