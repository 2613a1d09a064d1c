// The whole reader on any bytes: never a crash, never out of bounds, and one result whatever the threads, windows and path.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "ingest/reader.h"
#include "trace/args.h"

namespace {

using namespace ridge;

struct Way {
  unsigned threads;
  std::size_t window_bytes;
  bool fast_path;
};

Result<std::unique_ptr<Trace>> read(std::string_view bytes, const Way& way) {
  ReadOptions options;
  options.threads = way.threads;
  options.window_bytes = way.window_bytes;
  options.fast_path = way.fast_path;
  options.max_bytes = std::uint64_t{16} << 20;
  options.max_memory = std::uint64_t{256} << 20;
  return read_trace_bytes(bytes, "fuzz", options);
}

void add_part(const Trace& trace, const TrackPart& part, std::string* out) {
  *out += std::to_string(static_cast<int>(part.type));
  *out += part.type == TrackPart::Type::text ? trace.text(StringId{static_cast<std::uint32_t>(part.value)})
                                             : std::to_string(part.value);
}

// Everything that must be equal, as text.
std::string summary(const Result<std::unique_ptr<Trace>>& reading) {
  if (!reading) return "error " + reading.error().message;
  const Trace& trace = **reading;
  std::string out = std::to_string(trace.elements) + ' ' + std::to_string(trace.json_bytes) + '\n';
  for (std::uint32_t i = 0; i < trace.events.size(); ++i) {
    const EventId event{i};
    const Kind& kind = trace.kind(event);
    const Track& track = trace.forms.track(trace.track(event));
    out += trace.text(kind.ph);
    out += '|';
    out += trace.text(kind.cat);
    out += '|';
    out += trace.text(trace.events.name(event));
    out += '|';
    add_part(trace, track.pid, &out);
    add_part(trace, track.tid, &out);
    out += std::to_string(trace.events.ts_ns(event)) + ' ' + std::to_string(trace.events.dur_ns(event).value_or(-1));
    for (const Slot& slot : trace.forms.schema(trace.events.form(event)).slots) {
      const ArgValue value = value_of(trace, slot, trace.events.words(event));
      out += '|';
      out += trace.text(slot.key);
      out += std::to_string(static_cast<int>(value.type)) + (slot.member ? "." : "") + std::to_string(value.integer) +
             std::to_string(value.large_integer) + std::to_string(value.real);
      out += value.text;
    }
    out += '\n';
  }
  for (std::size_t i = 0; i < kProblems; ++i) {
    const Diagnostics::Entry& entry = trace.diagnostics[static_cast<Problem>(i)];
    if (entry.count == 0) continue;
    out += std::string(row_of(static_cast<Problem>(i)).code) + ' ' + std::to_string(entry.count);
    for (const std::uint64_t offset : entry.offsets) out += ' ' + std::to_string(offset);
    out += '\n';
  }
  if (trace.window) out += std::to_string(trace.window->duration_ns());
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string expected = summary(read(bytes, {1, 1 << 20, false}));
  // One thread keeps a run reproducible; windows decide how the text is cut whatever the threads.
  for (const Way& way : {Way{1, 1 << 20, true}, Way{1, 61, false}, Way{1, 509, true}}) {
    const std::string found = summary(read(bytes, way));
    if (found == expected) continue;
    std::fprintf(stderr, "windows of %zu, by rote %d:\n%s\ninstead of\n%s\n", way.window_bytes, way.fast_path, found.c_str(),
                 expected.c_str());
    std::abort();
  }
  return 0;
}
