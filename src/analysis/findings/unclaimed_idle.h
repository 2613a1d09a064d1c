// Idle time that no finding claims. A trace may show that a device waits most of the time, and not what the program could do
// about it: then the cause that `gaps` has is at least said.
#pragma once

#include <cstdint>
#include <vector>

#include <ridge/report.h>

#include "analysis/findings/ledger.h"

namespace ridge {

struct UnclaimedIdle {
  IdleCause cause = IdleCause::unknown;
  double pct = 0;  // of the iterations' time
};

// Causes but late launches that a fifth of the time or more is left to, on the device with most of it; longest first. Rules
// must have run.
std::vector<UnclaimedIdle> find_unclaimed_idle(const Ledger& ledger);

// "the device idles 97.8 % of the time without a finding: dependency 97.8 % (...)".
std::string text_of(const std::vector<UnclaimedIdle>& idle);

}  // namespace ridge
