// FlopSum: FLOPs of device work, some of which may be unknown. Unknown as a whole where the known ones say nothing.
#pragma once

#include <cstdint>
#include <optional>

#include "facts/cost_sum.h"

namespace ridge {

class FlopSum {
 public:
  void add(const std::optional<double>& flops, std::int64_t time_ns);
  void add(const FlopSum& other);
  std::optional<double> value() const { return known_.speaks_for(whole_ns_) ? known_.value() : std::nullopt; }

 private:
  KnownSum known_;
  std::int64_t whole_ns_ = 0;
};

}  // namespace ridge
