// Takes a window as it was parsed if it began where its predecessor ended, else carries the rest over and parses again.
#include "ingest/joiner.h"

#include <utility>

#include "base/try.h"
#include "ingest/scan.h"

namespace ridge {

EventJoiner::EventJoiner(Trace* trace, ClassLists* lists, TopLevel* top_level, std::uint64_t max_memory, ArrayOptions options,
                         bool keep_places)
    : trace_(trace), lists_(lists), top_level_(top_level), max_memory_(max_memory), options_(options) {
  run_.keep_places = keep_places;
}

Result<void> EventJoiner::take(const ArrayProgress& progress, const Piece& piece, const EventRun& run,
                               const Diagnostics& diagnostics) {
  if (!trace_->storage->events.append(run)) {
    return fail(ErrorCode::too_large, "the trace has more than 4.29 billion events or argument words", trace_->path,
                "record a shorter window");
  }
  lists_->add(run);
  trace_->places.append({run.places.data(), run.places.size()});
  trace_->elements += run.size();
  trace_->diagnostics.add_all(diagnostics);
  if (trace_->memory_bytes() > max_memory_) {
    return fail(ErrorCode::too_large, "the trace needs more than " + std::to_string(max_memory_) + " bytes of memory",
                trace_->path + ", byte " + std::to_string(piece.offset),
                "use a machine with more memory, or record a shorter window");
  }
  between_ = progress.between;
  if (progress.closed) {
    closed_ = true;
    const auto used = static_cast<std::uint64_t>(progress.stop - piece.begin);
    top_level_->after_events(piece.offset + used, progress.bracket_missing);
    top_level_->read(progress.stop, piece.end);
    carry_.clear();
    return {};
  }
  std::string rest(progress.stop, piece.end);
  carry_offset_ = piece.offset + static_cast<std::uint64_t>(progress.stop - piece.begin);
  retry_at_ = rest.size() * 2;
  carry_ = std::move(rest);
  return {};
}

Result<void> EventJoiner::join(const Window& window) {
  if (carry_.empty()) carry_offset_ = window.offset;
  carry_.append(window.begin(), window.end());
  if (!window.last && carry_.size() < retry_at_) return {};
  if (!parser_) parser_.emplace(&trace_->storage->forms, &trace_->storage->strings, options_);
  const std::size_t size = carry_.size();
  carry_.append(kPadding, '\0');
  const std::string joined = std::move(carry_);
  const Piece piece{.begin = joined.data(), .end = joined.data() + size, .offset = carry_offset_, .last = window.last};
  run_.clear();
  diagnostics_.clear();
  const ArrayProgress progress = parser_->parse(piece, between_, &run_, &diagnostics_);
  carry_.clear();
  return take(progress, piece, run_, diagnostics_);
}

Result<void> EventJoiner::accept(const Window& window) {
  if (closed_) {
    top_level_->read(window.begin(), window.end());
    return {};
  }
  if (!carry_.empty() || window.assumed != between_) return join(window);
  return take(window.progress, window.piece(), window.run, window.diagnostics);
}

}  // namespace ridge
