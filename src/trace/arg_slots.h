// Where the argument of one key lies in the words of an event, for each form of a trace: what readers of a column look up once.
#pragma once

#include <vector>

#include "trace/arg_key.h"
#include "trace/trace.h"

namespace ridge {

// By FormId; type null where the form lacks the key. `member`: of the event itself (id, bp) and not of its args.
std::vector<Slot> slots_by_form(const Trace& trace, ArgKey key, bool member);

}  // namespace ridge
