// inductor_fallback: ATen's ops inside graphs of Inductor's for which it has no code of its own. They cannot be fused; by how
// much a kernel of Inductor's own would be faster cannot be told. Custom ops are called because their author wants them to be.
#include <map>

#include <fmt/format.h>

#include "analysis/findings/catalog.h"
#include "base/saturating.h"
#include "base/units.h"

namespace ridge {

std::optional<Finding> find_inductor_fallback(Facts& facts) {
  std::map<std::string_view, FallbackOp> by_op;
  std::int64_t gpu_ns = 0, cpu_ns = 0;
  Largest longest;
  for (const GraphCost& graph : facts.graphs().graphs) {
    for (const FallbackOp& fallback : graph.fallbacks) {
      if (fallback.custom) continue;
      FallbackOp& sum = by_op[fallback.op];
      sum.calls += fallback.calls;
      saturating_add(&sum.cpu_ns, fallback.cpu_ns);
      saturating_add(&sum.gpu_ns, fallback.gpu_ns);
      longest.see(fallback.longest.value, facts.tree().duration_ns(fallback.longest));
      saturating_add(&gpu_ns, fallback.gpu_ns);
      saturating_add(&cpu_ns, fallback.cpu_ns);
    }
  }
  if (std::max(gpu_ns, cpu_ns) < facts.ledger().least_ns()) return std::nullopt;
  std::string list;
  std::size_t shown = 0;
  for (const auto& [op, sum] : by_op) {
    if (shown == kShown) continue;
    list += fmt::format("{}{}: {}, {} on the device, {} on the host", shown++ == 0 ? "" : "; ", op,
                        per_iteration(facts, sum.calls, "call"), duration_text(facts, sum.gpu_ns),
                        duration_text(facts, sum.cpu_ns));
  }
  if (by_op.size() > kShown) list += and_more(by_op.size() - kShown);
  return Finding{
      .finding = "Inductor falls back to ATen for " + counted(static_cast<std::int64_t>(by_op.size()), "op"),
      .at_most_ns = std::nullopt,
      .confidence = Confidence::high,
      .evidence = list,
      .action =
          "replace the op with ones that Inductor can generate, move it out of the hot path, or write a Triton kernel for it",
      .event = facts.event_of(longest.id())};
}

}  // namespace ridge
