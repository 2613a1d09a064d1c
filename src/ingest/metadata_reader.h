// Metadata from the texts that stand around traceEvents.
#pragma once

#include <vector>

#include "ingest/top_level.h"
#include "trace/diagnostics.h"
#include "trace/metadata.h"

namespace ridge {

// What cannot be parsed is counted as damaged and kept as text.
Metadata read_metadata(const std::vector<TopLevel::Item>& items, Diagnostics* diagnostics);

}  // namespace ridge
