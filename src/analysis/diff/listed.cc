// Filters groups by every name that a user may know them by.
#include "analysis/diff/listed.h"

#include <algorithm>

#include "base/saturating.h"

namespace ridge::diff {
namespace {

// The names that a user may know a group by: its own, its ops' and its kernels', as the trace has them and as they are shown.
bool is_named(const Scope& scope, std::span<const TypicalIteration> typical, const Group& group) {
  if (scope.matches(group.name)) return true;
  for (std::size_t t = 0; t < typical.size(); ++t) {
    for (const std::uint32_t p : group.sides[t].positions) {
      if (const std::string_view op = typical[t].kind(p).op_text; !op.empty() && scope.matches(op)) return true;
      for (const SlotTime& slot : typical[t].positions[p].slots) {
        if (scope.matches(slot.kernel.text) || scope.matches(slot.kernel.identity->label)) return true;
      }
    }
  }
  return false;
}

ListedTime time_of_groups(const TypicalIteration& iteration, std::size_t t, std::span<const Group> groups) {
  ListedTime listed;
  listed.gpu_time.count = iteration.gpu_time.count;
  for (const Group& group : groups) {
    const GroupSide& side = group.sides[t];
    saturating_add(&listed.gpu_ns, side.time_ns);
    listed.work += side.count;
    listed.gpu_time.variance += side.estimate.variance;
    for (const std::uint32_t p : side.positions) {
      for (const SlotTime& slot : iteration.positions[p].slots)
        saturating_add(&listed.category_ns[static_cast<std::size_t>(slot.category)], slot.per_iteration_ns);
    }
  }
  listed.gpu_time.mean = static_cast<double>(listed.gpu_ns);
  return listed;
}

}  // namespace

void keep_matching_groups(const Scope& scope, std::span<const TypicalIteration> typical, Diff& diff) {
  diff.filtered = scope.filtered();
  if (diff.filtered) std::erase_if(diff.groups, [&](const Group& group) { return !is_named(scope, typical, group); });
}

void add_listed_time(std::span<const TypicalIteration> typical, Diff& diff) {
  for (std::size_t t = 0; t < typical.size(); ++t) {
    const SideTotals& all = diff.sides[t];
    diff.listed.push_back(diff.filtered ? time_of_groups(typical[t], t, diff.groups)
                                        : ListedTime{all.gpu_ns, all.work, all.category_ns, all.gpu_time});
  }
}

}  // namespace ridge::diff
