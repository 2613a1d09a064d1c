// host_sync where the recorder's own cost hides it: in the trace the device idles for the recorder, and would for the sync.
#pragma once

#include <optional>

#include "analysis/findings/facts.h"
#include "analysis/findings/finding.h"

namespace ridge {

class StepSavings;

// By replay of the step without the recorder: a finding where it is notably shorter without the host's waits, and surely so.
std::optional<Finding> find_hidden_host_sync(const Facts& facts, const StepSavings& savings);

}  // namespace ridge
