// The parallel load: every thread takes the next window (reading it, or one that was inflated ahead), parses it, and hands it
// over in order. No thread is set apart for reading, so that two cores stay busy both when inflating is the longer part and
// when parsing is.
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
  ArrayOptions array;
  bool keep_places = false;
  bool inflating = false;  // the source is compressed: a window takes about as long to read as to parse
  ProgressFunction progress;
  std::uint64_t file_bytes = 0;
};

Result<void> run_pipeline(Source* source, WindowFeed* feed, EventJoiner* joiner, Trace* trace, const PipelineOptions& options);

}  // namespace ridge
