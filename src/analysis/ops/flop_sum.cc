// Beside the sum of what is known, the time of all.
#include "analysis/ops/flop_sum.h"

#include "base/saturating.h"

namespace ridge {

void FlopSum::add(const std::optional<double>& flops, std::int64_t time_ns) {
  saturating_add(&whole_ns_, time_ns);
  if (flops) known_.add(*flops, time_ns);
}

void FlopSum::add(const FlopSum& other) {
  saturating_add(&whole_ns_, other.whole_ns_);
  known_.add(other.known_);
}

}  // namespace ridge
