// Waits of the host where the recorder's own cost hides them: in the trace the device idles for the recorder, and would for
// these. By replay of the step without the recorder.
#pragma once

#include <optional>

#include "analysis/findings/facts.h"
#include "analysis/findings/finding.h"

namespace ridge {

class StepSavings;

// host_sync: where that step is notably shorter without the host's waits for the device, and surely so.
std::optional<Finding> find_hidden_host_sync(const Facts& facts, const StepSavings& savings);
// dataloader: where it is notably shorter without what is thought to be waiting for its workers.
std::optional<Finding> find_hidden_dataloader(const Facts& facts, const StepSavings& savings);

}  // namespace ridge
