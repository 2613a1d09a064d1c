// Iterations of two traces brought into line. A rule that guesses (the period of the kernels, or the whole window) takes
// repeats inside a step for steps, and loses them all when one iteration differs; the other trace often knows better.
#pragma once

#include "analysis/diff/sequence.h"
#include "model/iterations.h"

namespace ridge::diff {

// May cut either sequence anew. `rule_a` and `rule_b` say how their iterations were found.
void reconcile_iterations(CallSequence& a, IterationRule rule_a, CallSequence& b, IterationRule rule_b);

}  // namespace ridge::diff
