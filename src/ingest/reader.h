// read_trace: bytes to Trace. The one entrance of src/ingest; container and format are told by the content.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <ridge/result.h>

#include "base/progress.h"
#include "ingest/trace_format.h"
#include "trace/trace.h"

namespace ridge {

struct ReadOptions {
  unsigned threads = 0;                               // 0: one per core, as far as that helps
  std::uint64_t max_bytes = UINT64_MAX;               // of uncompressed JSON
  std::uint64_t max_memory = UINT64_MAX;              // of the Trace
  std::size_t window_bytes = std::size_t{256} << 10;  // what a thread takes at a time; the result does not depend on it
  bool fast_path = true;     // false: every event takes the general path (tests hold the two against each other)
  bool keep_places = false;  // for rewrites and check: fills Trace::places and Metadata::texts
  std::span<const TraceFormat> formats = trace_formats();  // those that are known; must outlive the call
  ProgressFunction progress;
};

// `path` may be "-" for standard input.
Result<std::unique_ptr<Trace>> read_trace(const std::string& path, const ReadOptions& options);

// The same over bytes in memory; `name` stands for the path.
Result<std::unique_ptr<Trace>> read_trace_bytes(std::string_view bytes, const std::string& name, const ReadOptions& options);

}  // namespace ridge
