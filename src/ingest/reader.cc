#include "ingest/reader.h"

#include <algorithm>
#include <thread>
#include <vector>

#include "base/try.h"
#include "ingest/class_lists.h"
#include "ingest/finish.h"
#include "ingest/joiner.h"
#include "ingest/json_text.h"
#include "ingest/metadata_reader.h"
#include "ingest/pipeline.h"
#include "ingest/top_level.h"
#include "ingest/windows.h"

namespace ridge {
namespace {

constexpr std::string_view kTruncated = "truncated before its events";

// Keys that tell which other JSON a user handed over.
struct Relative {
  std::string_view key;
  std::string_view meaning;
};
constexpr Relative kRelatives[] = {
    {"rocprofiler-sdk-tool", "a rocprofiler-sdk result"},
    {"nodes", "a PyTorch execution trace (a graph of operators without times)"},
    {"cells", "a Jupyter notebook"},
    {"segments", "a memory snapshot"},
};

Error not_a_trace(const OpenedSource& opened, const std::string& path, const TopLevel& top) {
  constexpr std::string_view kHint = "record one with torch.profiler and export_chrome_trace()";
  const auto error = [&](ErrorCode code, std::string message) {
    return Error{code, std::move(message), path, std::string(kHint)};
  };
  const bool damaged = opened.source->damage().any();
  if (opened.source->damage()[Problem::damaged_compression].count > 0)
    return error(ErrorCode::truncated, "the compressed data is damaged before the trace's events");
  if (opened.prefix.empty())
    return error(ErrorCode::truncated, "the file is empty: " + std::string(kTruncated) + ", or never written");
  if (!top.saw_anything()) {
    const std::string what =
        damaged || opened.container != "json" ? "the compressed trace is " : "the file holds only white space: ";
    return error(ErrorCode::truncated, what + std::string(kTruncated));
  }
  if (!top.is_json()) {
    if (opened.container == "json" && check_json(opened.prefix, SIZE_MAX) == JsonState::whole)
      return error(ErrorCode::not_a_trace, "JSON without trace events: it is a single value");
    std::string_view seems = describe_content(opened.prefix);
    if (opened.container != "json") seems = "something else than JSON, compressed";
    return error(ErrorCode::not_a_trace,
                 "not a trace" + (seems.empty() ? ": it is no JSON" : ": it seems to be " + std::string(seems)));
  }
  if (const auto lost = top.lost_at(); lost && !damaged) {
    const std::string_view seems = describe_content(opened.prefix);
    if (!seems.empty()) return error(ErrorCode::not_a_trace, "not a trace: it seems to be " + std::string(seems));
    return error(ErrorCode::not_a_trace,
                 "no trace events were found, and it is no JSON from byte " + std::to_string(*lost) + " on");
  }
  if (const auto& nested = top.nested_events()) {
    const std::string where =
        "\"traceEvents\" stands inside \"" + nested->member.substr(0, 40) + "\", at byte " + std::to_string(nested->offset);
    if (!top.complete())
      return error(ErrorCode::truncated,
                   "the trace is " + std::string(kTruncated) + ", or a brace before them is missing: " + where);
    return {ErrorCode::not_a_trace, "JSON without trace events of its own: " + where, path,
            "take that member out into a file of its own"};
  }
  if (!top.complete()) return error(ErrorCode::truncated, "the trace is " + std::string(kTruncated));
  constexpr std::string_view kEvents = "traceEvents";
  if (std::ranges::find(top.items(), kEvents, &TopLevel::Item::key) != top.items().end())
    return error(ErrorCode::not_a_trace, "JSON without trace events: its \"traceEvents\" is not a list");
  std::string keys;
  for (std::size_t i = 0; i < std::min<std::size_t>(top.items().size(), 6); ++i) {
    for (const Relative& relative : kRelatives) {
      if (top.items()[i].key == relative.key) {
        return error(ErrorCode::not_a_trace, "not a trace: it seems to be " + std::string(relative.meaning));
      }
    }
    keys += (i == 0 ? "" : ", ") + top.items()[i].key.substr(0, 40);
  }
  return error(ErrorCode::not_a_trace,
               "JSON without trace events: there is no \"traceEvents\"" + (keys.empty() ? "" : "; its keys are " + keys));
}

// Reads up to the start of the array; the bytes behind it are left in `rest`. Returns the array's offset.
Result<std::uint64_t> read_head(Source* source, TopLevel* top, std::uint64_t max_bytes, std::string* rest) {
  std::vector<char> buffer(std::size_t{64} << 10);
  std::uint64_t offset = 0;
  for (bool over = false; !over && !top->at_events();) {
    TRY(const std::size_t got, source->read(buffer.data(), buffer.size()));
    over = got < buffer.size();
    const char* stop = top->read(buffer.data(), buffer.data() + got);
    offset += static_cast<std::uint64_t>(stop - buffer.data());
    if (offset > max_bytes) return tl::unexpected(over_max_bytes(max_bytes));
    rest->assign(stop, static_cast<const char*>(buffer.data()) + got);
  }
  return offset;
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

Result<std::unique_ptr<Trace>> read(OpenedSource opened, const std::string& path, const ReadOptions& options) {
  auto trace = std::make_unique<Trace>();
  trace->path = path;
  trace->container = opened.container;
  trace->file_bytes = opened.file_bytes;
  TopLevel top(&trace->diagnostics);
  std::string rest;
  TRY(const std::uint64_t offset, read_head(opened.source.get(), &top, options.max_bytes, &rest));
  if (!top.at_events()) return tl::unexpected(not_a_trace(opened, path, top));

  WindowFeed feed(opened.source.get(), std::move(rest), offset, options.window_bytes, options.max_bytes);
  ClassLists lists(trace.get());
  const ArrayOptions array{.fast_path = options.fast_path, .bare = top.bare_array()};
  EventJoiner joiner(trace.get(), &lists, &top, options.max_memory, array, options.keep_places);
  PipelineOptions pipeline;
  pipeline.threads = threads_for(options, opened.container != "json");
  pipeline.array = array;
  pipeline.keep_places = options.keep_places;
  pipeline.inflating = opened.container != "json";
  pipeline.progress = options.progress;
  pipeline.file_bytes = opened.file_bytes;
  if (auto done = run_pipeline(opened.source.get(), &feed, &joiner, trace.get(), pipeline); !done)
    return tl::unexpected(done.error());
  trace->json_bytes = feed.bytes_read();
  top.finish(trace->json_bytes);
  if (trace->file_bytes == 0) trace->file_bytes = opened.source->file_position();
  trace->diagnostics.add_all(opened.source->damage());
  if (holds_no_event(*trace)) {
    return fail(ErrorCode::not_a_trace, "JSON without trace events: no element of its array has a \"ph\"", path,
                "record one with torch.profiler and export_chrome_trace()");
  }
  if (is_no_json(*trace, top)) {
    const std::string_view seems = describe_content(opened.prefix);
    return fail(ErrorCode::not_a_trace,
                "not a trace: it " + (seems.empty() ? "opens like a list of JSON, but what follows is none"
                                                    : "seems to be " + std::string(seems)),
                path, "record one with torch.profiler and export_chrome_trace()");
  }
  trace->elements += trace->diagnostics.dropped_events();
  trace->metadata = read_metadata(top.items(), &trace->diagnostics);
  if (options.keep_places) {
    for (const TopLevel::Item& item : top.items()) trace->metadata.texts.emplace_back(item.key, item.value);
  }
  trace->storage->forms.order_tracks(trace->strings);
  name_tracks(trace.get());
  const bool paired = pair_begins_and_ends(trace.get());
  find_window(trace.get(), paired ? extent_of(*trace, activity_classes()) : lists.activity());
  return trace;
}

// What reads bytes knows where in the input it stands, and not whose bytes they are.
Result<std::unique_ptr<Trace>> read_named(OpenedSource opened, const std::string& name, const ReadOptions& options) {
  return read(std::move(opened), name, options).map_error([&](Error error) {
    if (error.where.starts_with("byte ")) error.where = name + ", " + error.where;
    return error;
  });
}

}  // namespace

Result<std::unique_ptr<Trace>> read_trace(const std::string& path, const ReadOptions& options) {
  TRY(OpenedSource opened, open_source(path, options.progress));
  return read_named(std::move(opened), path == "-" ? std::string(kStandardInput) : path, options);
}

Result<std::unique_ptr<Trace>> read_trace_bytes(std::string_view bytes, const std::string& name, const ReadOptions& options) {
  return read_named(open_bytes(bytes), name, options);
}

}  // namespace ridge
