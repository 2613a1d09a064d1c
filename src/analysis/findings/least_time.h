// The least that a piece of work takes, whoever does it, as a bound.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/findings/facts.h"

namespace ridge {

// What it may lose of its owned time: all above the roof (cost/cost_model.h), and above a quarter of it where memory is what
// bounds it and its tensors fit in the L2, which is that much faster. All of it where no roof is known.
std::int64_t most_gain_ns(const Facts& facts, const WorkSlot& slot, std::int64_t device);

// What may go of it in code that torch.compile makes: all but what is compiled already, exchanged or sent, and products, but
// for another kernel for them; of a convolution, which may be laid out otherwise, what is above its least.
std::int64_t most_gain_compiled_ns(const Facts& facts, const WorkSlot& slot, std::int64_t device);

// That of all work, and the idle time beside it: who compiles a part may compile all. `taken`: by row, whether the claim has
// taken time of it (empty: of none); all that is open of these.
void reach_compiled(const Facts& facts, const std::vector<bool>& taken, Claim* claim);

}  // namespace ridge
