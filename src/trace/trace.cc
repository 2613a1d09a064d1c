// A trace as it starts, and one reduced to some tracks of another, sharing its storage.
#include "trace/trace.h"

#include "trace/arg_key.h"

namespace ridge {

TraceStorage::TraceStorage() {
  for (const std::string_view key : arg_key_texts()) strings.intern(key);  // at the ids that id_of() promises
}

Trace::Trace(const Trace& whole, const std::vector<bool>& keeps_track)
    : path(whole.path),
      container(whole.container),
      format(whole.format),
      file_bytes(whole.file_bytes),
      json_bytes(whole.json_bytes),
      elements(whole.elements),
      storage(whole.storage),
      metadata(whole.metadata),
      diagnostics(whole.diagnostics),
      window(whole.window),
      borrowed(whole.borrowed) {
  for (std::size_t c = 0; c < by_class.size(); ++c) {
    for (const EventId event : whole.by_class[c]) {
      if (keeps_track[track(event).value]) by_class[c].push_back(event);
    }
  }
}

}  // namespace ridge
