// AttentionShapes: what a fused call takes in the place of attention by hand, by the sizes of its first batched product.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>

#include "analysis/findings/facts.h"

namespace ridge {

class AttentionShapes {
 public:
  explicit AttentionShapes(Facts& facts) : facts_(facts) {}

  // `product`: the one before the softmax: scores of queries and keys, or their gradient. Nothing where its sizes are not told,
  // or no fused kernel of that type was measured on this device.
  std::optional<double> fused_ns(const WorkRow& product, std::int64_t device, bool backward);

 private:
  struct Sizes {
    std::int64_t batch = 1, heads = 1, queries = 0, keys = 0, depth = 0;
    DType dtype = DType::unknown;
  };
  std::optional<Sizes> sizes_of(const WorkRow& product, bool backward);

  Facts& facts_;
  std::map<std::int64_t, std::pair<std::int64_t, std::int64_t>> heads_of_;  // by products of a batch: images and heads
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, DType, bool>, std::optional<double>>
      known_;
};

}  // namespace ridge
