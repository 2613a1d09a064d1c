// How much of the device time compiled code took: one answer for `graphs` and `summary`.
#pragma once

#include <optional>

#include "analysis/graphs/graphs.h"

namespace ridge {

// Percent of the device time without the compiler's own and its autotuner's, which is neither eager nor compiled work. Nothing
// where the compiled calls were not recorded: then library kernels of compiled code cannot be told from eager ones.
std::optional<double> compiled_pct(const Graphs& graphs);

}  // namespace ridge
