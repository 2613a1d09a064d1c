// The parallel load: every thread takes the next window (reading or inflating it), parses it, and hands it over in order.
// No thread is set apart for reading, so that two cores stay busy both when inflating is the longer part and when parsing is.
#pragma once

#include <cstdint>

#include <ridge/result.h>

#include "base/progress.h"
#include "ingest/joiner.h"
#include "ingest/windows.h"
#include "trace/trace.h"

namespace ridge {

struct PipelineOptions {
  unsigned threads = 1;
  bool by_rote = true;
  bool keep_places = false;
  ProgressFunction progress;
  std::uint64_t file_bytes = 0;
};

Result<void> run_pipeline(Source* source, WindowFeed* feed, EventJoiner* joiner, Trace* trace, const PipelineOptions& options);

}  // namespace ridge
