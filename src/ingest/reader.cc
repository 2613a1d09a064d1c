// A file is opened, its container unpacked, its format found by the first bytes; the format's reader fills the trace, and what
// can be told only when all events are in is done here for every format.
#include "ingest/reader.h"

#include <algorithm>
#include <utility>

#include "base/try.h"
#include "ingest/class_lists.h"
#include "ingest/finish.h"

namespace ridge {
namespace {

Result<std::string> read_head(Source* source) {
  std::string head(TraceInput::kHeadBytes, '\0');
  TRY(const std::size_t got, source->read(head.data(), head.size()));
  head.resize(got);
  return head;
}

void finish(Trace* trace, const ClassLists& lists) {
  for (GrowArray<EventId>& events : trace->by_class) events.fit();
  trace->storage->forms.order_tracks(trace->strings);
  name_tracks(trace);
  const bool paired = pair_begins_and_ends(trace);
  find_window(trace, paired ? extent_of(*trace, activity_classes()) : lists.activity());
}

Result<std::unique_ptr<Trace>> read(OpenedSource opened, const std::string& name, const ReadOptions& options) {
  TRY(std::string head, read_head(opened.source.get()));
  const auto format = std::ranges::find_if(options.formats, [&](const TraceFormat& each) { return each.recognise(head); });
  if (format == options.formats.end()) return fail(ErrorCode::not_a_trace, "not a trace of a known format", name);
  auto trace = std::make_unique<Trace>();
  trace->path = name;
  trace->container = opened.container;
  trace->format = format->name;
  trace->file_bytes = opened.file_bytes;
  ClassLists lists(trace.get());
  TraceInput input{std::move(opened), name, std::move(head)};
  if (auto done = format->read(&input, options, trace.get(), &lists); !done) return tl::unexpected(done.error());
  if (trace->file_bytes == 0) trace->file_bytes = input.opened.source->file_position();
  trace->diagnostics.add_all(input.opened.source->damage());
  finish(trace.get(), lists);
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
