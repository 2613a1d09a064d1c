// What a reader must know about costs before he believes them: which device they are held against, and how much of them is
// known.
#pragma once

#include <optional>
#include <vector>

#include <ridge/report.h>

#include "facts/cost_sum.h"
#include "facts/scope.h"

namespace ridge {

// Of the costs of these kernels: an unknown device, a type that it has no peak for, a clock that changes nothing, no shapes.
// Empty when nothing.
std::vector<Diagnostic> cost_diagnostics(const Scope& scope, const CostSum& total);
// That the figures of a sum are of a minor part of it. Nothing where they are of most, or of none at all, which is said above.
std::optional<Diagnostic> partly_known(const CostSum& total);

}  // namespace ridge
