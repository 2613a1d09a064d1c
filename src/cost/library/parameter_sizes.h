// Sizes of a model's parameters, from the gradients that were accumulated before an optimizer's step: traces leave out lists of
// more than 30 tensors, and an optimizer's are longer.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "model/model.h"

namespace ridge {

class ParameterSizes {
 public:
  explicit ParameterSizes(const Model& model);

  // Elements of each parameter, the last gradient first (the order of the parameters, nearly), as they stood before that time.
  // Equal lists have equal ids.
  std::uint32_t before(std::int64_t time_ns);
  const std::vector<double>& sizes(std::uint32_t id) const { return lists_[id]; }

 private:
  struct Gradient {
    std::int64_t time_ns;
    double elements;
  };
  std::vector<Gradient> gradients_;                   // by time
  std::vector<std::int64_t> optimizer_times_ns_;      // starts of optimizer ops, by time
  std::vector<std::optional<std::uint32_t>> of_end_;  // ids, by how many gradients stand before the time
  std::vector<std::vector<double>> lists_;
  std::map<std::vector<double>, std::uint32_t> ids_;
};

}  // namespace ridge
