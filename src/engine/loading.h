// What every door of the engine needs to load a trace: the reader's options, and what it found wrong, as a report says it.
#pragma once

#include <vector>

#include <ridge/engine.h>
#include <ridge/report.h>

#include "ingest/reader.h"

namespace ridge {

// `options` must outlive the result.
ReadOptions read_options(const OpenOptions& options);

std::vector<Diagnostic> diagnostics_of(const Diagnostics& found);

}  // namespace ridge
