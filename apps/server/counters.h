// What the timeline draws as curves: memory, queue depth and memory bandwidth of a trace, from the analyses that know them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <ridge/result.h>

#include "site.h"

namespace ridge::server {

// {"counters": [{"name", "unit", "group": "memory"|"queue"|"bandwidth", "device", "peak", "known_pct", "at": [], "value":
// []}]}: a value holds from its time to the next.
Result<std::string> counters_json(const Site& site, std::size_t trace, std::uint32_t px);

}  // namespace ridge::server
