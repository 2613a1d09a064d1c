// What every door of the engine needs to load a trace: the reader's options, the capture of its graphs, and what was found
// wrong, as a report says it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <ridge/engine.h>
#include <ridge/report.h>
#include <ridge/result.h>

#include "ingest/reader.h"
#include "trace/trace.h"

namespace ridge {

// `options` must outlive the result.
ReadOptions read_options(const OpenOptions& options);

// The trace, with what the capture of its graphs lends it. `capture`: a path; "" or "-": none.
Result<std::unique_ptr<Trace>> load_trace(const std::string& path, const std::string& capture, const ReadOptions& read);
// The capture of the trace of that index. More captures than traces are an error.
Result<void> check_captures(const OpenOptions& options, std::size_t traces);
std::string capture_of(const OpenOptions& options, std::size_t trace);

std::vector<Diagnostic> diagnostics_of(const Diagnostics& found);
// How well the capture fits; nothing where none was given.
std::vector<Diagnostic> capture_diagnostics(const Trace& trace);

}  // namespace ridge
