// Trace: everything that was read from one file, in memory, immutable after the load. Knows nothing of formats or of meaning:
// links, trees and iterations are built from it by src/model.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/grow_array.h"
#include "base/ids.h"
#include "base/string_pool.h"
#include "base/time_limits.h"
#include "trace/borrowed_calls.h"
#include "trace/diagnostics.h"
#include "trace/event_class.h"
#include "trace/event_places.h"
#include "trace/event_table.h"
#include "trace/form.h"
#include "trace/metadata.h"

namespace ridge {

struct TimeRange {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t duration_ns() const { return end_ns - start_ns; }
};

inline constexpr std::string_view kStandardInput = "standard input";  // the path of a trace that came from there

// The texts, the forms and the columns: nearly all the memory that a trace takes. The reader fills them.
struct TraceStorage {
  TraceStorage();

  StringPool strings;
  FormTable forms;
  EventTable events;
};

struct Trace {
  Trace() = default;
  // A part of another: the same events under the same ids, and of those the classes list what lies on the kept tracks.
  // Everything else is the whole's.
  Trace(const Trace& whole, const std::vector<bool>& keeps_track);
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  std::string path;
  std::string_view container;    // plain, gzip, zstd
  std::string_view format;       // json
  std::uint64_t file_bytes = 0;  // 0: not known (a pipe)
  std::uint64_t json_bytes = 0;  // uncompressed
  std::uint64_t elements = 0;    // of traceEvents, kept or not

  std::shared_ptr<TraceStorage> storage = std::make_shared<TraceStorage>();  // shared with its parts
  const StringPool& strings = storage->strings;
  const FormTable& forms = storage->forms;
  const EventTable& events = storage->events;
  Metadata metadata;
  Diagnostics diagnostics;

  // Where each event stands in the JSON, by EventId; empty unless the reader was asked to keep them.
  EventPlaces places;

  // First start to last end over host and device activity; nothing when there is none.
  std::optional<TimeRange> window;
  // The events of each class, in file order.
  std::array<GrowArray<EventId>, kEventClasses> by_class;

  // Of the capture of the graphs that this trace replays; null unless one was given.
  std::shared_ptr<const BorrowedCalls> borrowed;
  // The events of this trace itself: ids below this. Those of a capture stand behind them.
  std::uint32_t recorded_events() const { return borrowed ? borrowed->first_event : events.size(); }

  // Whether an event at this time is one of those that the window leaves out: at time 0, with all activity a day or more later.
  bool is_stray(std::int64_t ts_ns) const { return ts_ns == 0 && window && window->start_ns > kFarFromZeroNs; }

  std::string_view text(StringId id) const { return strings.at(id); }
  std::span<const EventId> of(EventClass c) const { return by_class[static_cast<std::size_t>(c)]; }
  const Kind& kind(EventId id) const { return forms.kind(events.form(id)); }
  TrackId track(EventId id) const { return forms.form(events.form(id)).track; }
  std::uint64_t memory_bytes() const { return events.bytes() + strings.bytes() + places.bytes(); }
};

}  // namespace ridge
