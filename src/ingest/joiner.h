// EventJoiner: takes the windows in order and proves that each was rightly parsed on its own: its predecessor must have ended
// exactly between two events, in the state that was assumed. Otherwise the two are joined and parsed again. So the result is
// that of one sequential pass, whatever the number of threads and the size of windows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <ridge/result.h>

#include "ingest/class_lists.h"
#include "ingest/event_array.h"
#include "ingest/top_level.h"
#include "ingest/windows.h"
#include "trace/trace.h"

namespace ridge {

class EventJoiner {
 public:
  EventJoiner(Trace* trace, ClassLists* lists, TopLevel* top_level, std::uint64_t max_memory, ArrayOptions options,
              bool keep_places = false);

  // The next window in order, parsed where `assumed`. An error when the trace grows over its limits.
  Result<void> accept(const Window& window);

 private:
  Result<void> take(const ArrayProgress& progress, const Piece& piece, const EventRun& run, const Diagnostics& diagnostics);
  Result<void> join(const Window& window);

  Trace* trace_;
  ClassLists* lists_;
  TopLevel* top_level_;
  std::uint64_t max_memory_;
  ArrayOptions options_;
  Between between_ = Between::start;
  bool closed_ = false;
  // An element that was not complete at the end of a window, and what followed it since.
  std::string carry_;
  std::uint64_t carry_offset_ = 0;
  std::size_t retry_at_ = 0;  // parse again once the carry is as long: keeps joining linear
  // For joined text; made when first needed.
  std::optional<EventArrayParser> parser_;
  EventRun run_;
  Diagnostics diagnostics_;
};

}  // namespace ridge
