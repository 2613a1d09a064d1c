// What stands behind <ridge/trace_table.h>.
#pragma once

#include <memory>
#include <string_view>

#include <ridge/result.h>
#include <ridge/trace_table.h>

#include "base/threads.h"
#include "trace/trace.h"

namespace ridge {

// Both are kept by the table.
Result<std::shared_ptr<const TraceTable>> make_trace_table(std::shared_ptr<const Trace> trace, std::string_view name,
                                                           std::shared_ptr<Threads> threads);

}  // namespace ridge
