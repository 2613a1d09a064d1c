// The table of compiled code's CPU kernels, the same for `ops` and `graphs`: they are no ops, and take the time of both.
#pragma once

#include <optional>

#include <ridge/table.h>

#include "facts/scope.h"

namespace ridge {

// Nothing where the trace shows none.
std::optional<Table> cpu_kernels_table(const Scope& scope);

}  // namespace ridge
