// Kineto's JSON to a Trace: what surrounds the events is read first, then the events in parallel, window by window.
#include <algorithm>
#include <thread>

#include "base/try.h"
#include "ingest/joiner.h"
#include "ingest/metadata_reader.h"
#include "ingest/not_a_trace.h"
#include "ingest/pipeline.h"
#include "ingest/reader.h"
#include "ingest/top_level.h"
#include "ingest/trace_format.h"
#include "ingest/windows.h"

namespace ridge {
namespace {

// Reads up to the start of the array; the bytes behind it are left in the input's head. Returns the array's offset.
Result<std::uint64_t> find_events(TraceInput* input, TopLevel* top, std::uint64_t max_bytes) {
  std::string& head = input->head;
  for (std::uint64_t offset = 0;;) {
    const char* stop = top->read(head.data(), head.data() + head.size());
    offset += static_cast<std::uint64_t>(stop - head.data());
    if (offset > max_bytes) return tl::unexpected(over_max_bytes(max_bytes));
    if (top->at_events() || input->is_whole()) {
      head.erase(0, static_cast<std::size_t>(stop - head.data()));
      return offset;
    }
    TRY(const std::size_t got, input->opened.source->read(head.data(), TraceInput::kHeadBytes));
    head.resize(got);
  }
}

// An array of which not one element is an event is some other JSON.
bool holds_no_event(const Trace& trace) {
  const Diagnostics& d = trace.diagnostics;
  return trace.events.size() == 0 && d[Problem::no_phase].count + d[Problem::not_an_object].count > 0 &&
         d[Problem::no_timestamp].count == 0;
}

// A text that opens with a bracket: a log, a list of Python's.
bool is_no_json(const Trace& trace, const TopLevel& top) {
  const Diagnostics& d = trace.diagnostics;
  return top.bare_array() && trace.events.size() == 0 && d[Problem::garbage_between_events].count > 0 &&
         d[Problem::no_timestamp].count == 0;
}

// One per core, as far as that helps: bytes are read or inflated by one thread at a time, which keeps seven or three others
// busy. More only get into each other's way, and each learns the texts anew.
unsigned threads_for(const ReadOptions& options, bool inflating) {
  constexpr unsigned kMostThreads = 256, kMostUseful = 8, kMostUsefulInflating = 4;
  if (options.threads != 0) return std::min(kMostThreads, options.threads);
  return std::clamp(std::thread::hardware_concurrency(), 1U, inflating ? kMostUsefulInflating : kMostUseful);
}

}  // namespace

Result<void> read_json_format(TraceInput* input, const ReadOptions& options, Trace* trace, ClassLists* lists) {
  const OpenedSource& opened = input->opened;
  TopLevel top(&trace->diagnostics);
  TRY(const std::uint64_t offset, find_events(input, &top, options.max_bytes));
  if (!top.at_events()) return tl::unexpected(not_a_trace(opened, input->name, top));

  WindowFeed feed(opened.source.get(), std::move(input->head), offset, options.window_bytes, options.max_bytes);
  const ArrayOptions array{.fast_path = options.fast_path, .bare = top.bare_array()};
  EventJoiner joiner(trace, lists, &top, options.max_memory, array, options.keep_places);
  PipelineOptions pipeline;
  pipeline.threads = threads_for(options, opened.compressed());
  pipeline.array = array;
  pipeline.keep_places = options.keep_places;
  pipeline.inflating = opened.compressed();
  pipeline.progress = options.progress;
  pipeline.file_bytes = opened.file_bytes;
  if (auto done = run_pipeline(opened.source.get(), &feed, &joiner, trace, pipeline); !done) return done;
  trace->json_bytes = feed.bytes_read();
  top.finish(trace->json_bytes);
  if (holds_no_event(*trace)) {
    return fail(ErrorCode::not_a_trace, "JSON without trace events: no element of its array has a \"ph\"", input->name,
                std::string(kRecordOne));
  }
  if (is_no_json(*trace, top)) {
    const std::string_view seems = describe_content(opened.prefix);
    return fail(ErrorCode::not_a_trace,
                "not a trace: it " + (seems.empty() ? "starts like a JSON array, but what follows is not JSON"
                                                    : "looks like " + std::string(seems)),
                input->name, std::string(kRecordOne));
  }
  trace->elements += trace->diagnostics.dropped_events();
  trace->metadata = read_metadata(top.items(), &trace->diagnostics);
  if (options.keep_places) {
    for (const TopLevel::Item& item : top.items()) trace->metadata.texts.emplace_back(item.key, item.value);
  }
  return {};
}

}  // namespace ridge
