// Selects the events, then writes them block by block, mended where damaged.
#include "rewrite/cut.h"

#include <algorithm>
#include <atomic>

#include "rewrite/event_list.h"
#include "rewrite/mended_event.h"

namespace ridge {

Result<CutCounts> cut(const Scope& scope, OpenedSource source, const BlockOptions& options, PackedFile* out) {
  const Trace& trace = scope.trace();
  const std::vector<bool> kept = select_events(scope);
  const auto first = static_cast<std::size_t>(std::find(kept.begin(), kept.end(), true) - kept.begin());
  std::atomic<std::uint64_t> written = 0;
  const auto transform = [&](Block* block) {
    for (std::size_t i = block->first_event; i < block->last_event; ++i) {
      if (!kept[i]) continue;
      block->output.append(before_event(i == first));
      const EventPlace place = trace.places[i];
      append_valid_event(block->at(place), block->end_of(place), &block->output);
      ++written;
    }
  };
  if (auto done = out->write(trace_head(trace.metadata.texts)); !done) return tl::unexpected(done.error());
  if (auto done = rewrite_blocks(trace, std::move(source), options, transform, out); !done) return tl::unexpected(done.error());
  if (auto done = out->write(trace_tail()); !done) return tl::unexpected(done.error());
  return CutCounts{written};
}

}  // namespace ridge
