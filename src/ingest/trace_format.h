// TraceFormat: a notation of events, one row each; told by the first bytes, uncompressed, and never by the name. What the bytes
// are packed in is a Container's business: any format may come in any container.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <ridge/result.h>

#include "ingest/class_lists.h"
#include "ingest/source.h"
#include "trace/trace.h"

namespace ridge {

struct ReadOptions;

// A trace that was opened and not yet read: `head` was taken from the source and comes before what the source still has.
struct TraceInput {
  OpenedSource opened;
  std::string name;  // the path, or what stands for it in errors
  std::string head;  // the first kHeadBytes, uncompressed; fewer: they are all
  bool is_whole() const { return head.size() < kHeadBytes; }

  static constexpr std::size_t kHeadBytes = std::size_t{64} << 10;
};

struct TraceFormat {
  std::string_view name;
  bool (*recognise)(std::string_view head);
  // Fills the trace's events, diagnostics, metadata, `elements` and `json_bytes`, and lists every run of events that the table
  // took. What every format shares is the caller's: path and container, names of tracks, B/E pairs, the window.
  Result<void> (*read)(TraceInput* input, const ReadOptions& options, Trace* trace, ClassLists* lists);
};

// In the order in which they are asked. The last one, JSON, takes what no other does, and says what it is that is no trace.
std::span<const TraceFormat> trace_formats();

// Kineto's JSON: an object with `traceEvents`, or the bare list of events.
Result<void> read_json_format(TraceInput* input, const ReadOptions& options, Trace* trace, ClassLists* lists);

}  // namespace ridge
