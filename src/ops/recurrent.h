// Sizes of a recurrent network's call, which its formula and the telling apart of its kernels share.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ops/op_call.h"

namespace ridge {

struct RecurrentSizes {
  double batch = 0, steps = 0, input = 0, hidden = 0;
  double gates = 1;  // LSTM 4, GRU 3, plain 1
  double layers = 1, directions = 1;
  double rows = 0;               // of all steps
  std::vector<double> of_steps;  // packed sequences: sequences that reach each step, which only get fewer; else empty
  double cells() const { return layers * directions; }
  // Features that the cell at that position (layer by layer, the directions of one beside each other) takes.
  double input_of(double cell) const { return cell < directions ? input : hidden * directions; }
};

// Nothing for projections, nor for packed sequences whose steps the call does not tell.
std::optional<RecurrentSizes> recurrent_sizes(const OpCall& call);

}  // namespace ridge
