// The compile id of a call of compiled code, "Torch-Compiled Region": in its name (PyTorch 2.6), in its argument `context`
// (2.5), or nowhere.
#pragma once

#include <string_view>

#include "model/compile_id.h"
#include "trace/trace.h"

namespace ridge {

inline constexpr std::string_view kCacheLookup = "TorchDynamo Cache Lookup";  // the slice before a region: finds its code

bool is_region(std::string_view name);
CompileId region_id(const Trace& trace, EventId region);  // not known where the trace does not give it

}  // namespace ridge
