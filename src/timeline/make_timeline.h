// Makes the Timeline of <ridge/timeline.h>, which shows nothing of what it is made from.
#pragma once

#include <memory>

#include <ridge/timeline.h>

#include "base/threads.h"
#include "cost/cost_model.h"

namespace ridge {

// Keeps `costs`, whose model must live as long; what it does in parallel is done by `threads`.
std::unique_ptr<const Timeline> make_timeline(std::shared_ptr<const CostModel> costs, std::shared_ptr<Threads> threads = {});

}  // namespace ridge
