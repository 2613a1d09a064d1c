// Autotuning and the compiler's own work count neither as compiled nor as eager.
#include "analysis/graphs/compiled_share.h"

namespace ridge {

std::optional<double> compiled_pct(const Graphs& graphs) {
  const auto part = [&](CoveragePart p) { return graphs.coverage[static_cast<std::size_t>(p)].gpu_ns; };
  const std::int64_t whole = graphs.gpu_ns() - part(CoveragePart::autotune) - part(CoveragePart::compiler);
  if (!graphs.calls_recorded() || whole <= 0) return std::nullopt;
  const double inside =
      static_cast<double>(part(CoveragePart::graph)) + static_cast<double>(part(CoveragePart::inductor_kernel));
  return 100.0 * inside / static_cast<double>(whole);
}

}  // namespace ridge
