// The time that a finding claims as tables: `claim`, every piece of it, and `claim_iterations`, its sums by device and
// iteration.
#pragma once

#include <span>
#include <vector>

#include <ridge/table.h>

#include "analysis/findings/ledger.h"

namespace ridge {

// `parts` are of that ledger. Sums of a device over its iterations are what the finding claims on it.
std::vector<Table> claim_tables(const Scope& scope, const Ledger& ledger, std::span<const ClaimPart> parts);

}  // namespace ridge
