// Recurrent networks: which of the library's products is a time step's, which one takes all steps, and of which layer and weights.
#include <map>
#include <utility>

#include "cost/call_parts.h"
#include "ops/recurrent.h"

namespace ridge {
namespace {

constexpr int kMostCells = 1024;  // layers and directions that anyone builds

bool is_product(std::string_view kernel) {
  return kernel.find("gemm") != std::string_view::npos || kernel.starts_with("nvjet") ||
         kernel.find("splitK") != std::string_view::npos;
}

}  // namespace

// A product that is launched at least once for each step is a step's. Of the others there is one for each cell (layer and direction), the
// backward ones from the last layer down, and three for its weights; where the numbers differ nothing is claimed.
void tell_recurrent(CallParts& c) {
  const auto sizes = recurrent_sizes(c.call);
  constexpr double kFewestSteps = 3;  // below, products of steps and of layers cannot be told apart
  if (!sizes || sizes->steps < kFewestSteps || sizes->cells() > kMostCells) return;
  std::map<std::pair<const char*, double>, double> launched;
  const auto key = [&](std::size_t i) { return std::pair(c.launches[i].kernel.data(), volume(c.launches[i].grid)); };
  for (std::size_t i = 0; i < c.launches.size(); ++i) launched[key(i)] += 1;
  std::vector<std::size_t> inputs, weights, sums;
  for (std::size_t i = 0; i < c.parts.size(); ++i) {
    if (c.parts[i].role == KernelRole::combine) sums.push_back(i);
    if (c.parts[i].role != KernelRole::main || !is_product(c.launches[i].kernel)) continue;
    if (launched[key(i)] >= sizes->steps) {
      c.parts[i].role = KernelRole::step;
    } else if (c.backward() && c.launches[i].kernel.find("_nt_") != std::string_view::npos) {
      c.parts[i].role = KernelRole::grad_weight;
      weights.push_back(i);
    } else {
      if (c.backward()) c.parts[i].role = KernelRole::grad_input;
      inputs.push_back(i);
    }
  }
  const auto cells = static_cast<std::size_t>(sizes->cells()), directions = static_cast<std::size_t>(sizes->directions);
  if (inputs.size() == cells) {
    for (std::size_t k = 0; k < cells; ++k) c.parts[inputs[k]].operand = static_cast<int>(c.backward() ? cells - 1 - k : k);
  }
  if (weights.size() == 3 * cells) {
    for (std::size_t k = 0; k < weights.size(); ++k) {
      c.parts[weights[k]].operand = static_cast<int>(k / 3);
      c.parts[weights[k]].first = static_cast<std::int64_t>(k % 3);
    }
  }
  if (sums.size() * directions == cells) {
    for (std::size_t k = 0; k < sums.size(); ++k) c.parts[sums[k]].operand = static_cast<int>(cells - 1 - k * directions);
  }
}

}  // namespace ridge
