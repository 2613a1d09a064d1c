// Read, transform, write as three lambdas; the order and the threads are run_in_order's.
#include "rewrite/blocks.h"

#include <algorithm>
#include <ranges>

#include "base/ordered_pipeline.h"
#include "base/try.h"
#include "ingest/scan.h"

namespace ridge {
namespace {

// Blocks under way beyond one per thread.
constexpr unsigned kSpareBlocks = 2;

// Cuts what the trace was read from into blocks that never split an event.
class BlockFeed {
 public:
  BlockFeed(const Trace& trace, OpenedSource opened, const BlockOptions& options)
      : trace_(trace), opened_(std::move(opened)), options_(options) {}

  Result<bool> next(Block* block) {
    if (over_) return false;
    block->offset = offset_;
    block->first_event = event_;
    const std::uint64_t end = block_end();
    const auto wanted = static_cast<std::size_t>(end - offset_);
    if (block->input.size() < wanted + kPadding) block->input.resize(wanted + kPadding);
    TRY(block->size, opened_.source->read(block->input.data(), wanted));
    std::fill_n(block->input.begin() + static_cast<std::ptrdiff_t>(block->size), kPadding, '\0');
    over_ = block->size < wanted;
    offset_ += block->size;
    if (offset_ > options_.max_bytes) {
      return fail(ErrorCode::too_large, "the trace grew while it was read", trace_.path, "wait until it is fully written");
    }
    event_ = first_event([&](const EventPlace& place) { return place.end() > offset_; });
    block->last_event = event_;
    if (options_.progress && !options_.progress(opened_.source->file_position(), opened_.file_bytes)) {
      return fail(ErrorCode::interrupted, "interrupted");
    }
    return true;
  }

 private:
  // The first from event_ on of which that holds, as it does of all behind it.
  template <class Holds>
  std::size_t first_event(const Holds& holds) const {
    const auto events = std::views::iota(event_, std::max(event_, trace_.places.size()));
    const auto first = std::ranges::partition_point(events, [&](std::size_t event) { return !holds(trace_.places[event]); });
    return event_ + static_cast<std::size_t>(first - events.begin());
  }

  // About a block further on; behind an event that would be split.
  std::uint64_t block_end() const {
    const std::uint64_t target = offset_ + options_.block_bytes;
    const std::size_t next = first_event([&](const EventPlace& place) { return place.begin >= target; });
    return next == event_ ? target : std::max(target, trace_.places[next - 1].end());
  }

  const Trace& trace_;
  OpenedSource opened_;
  const BlockOptions& options_;
  std::uint64_t offset_ = 0;
  std::size_t event_ = 0;
  bool over_ = false;
};

}  // namespace

Result<void> PackedFile::start() {
  if (started_) return {};
  started_ = true;
  return file_.write(frame_.head());
}

Result<void> PackedFile::write(std::string_view text, std::string_view packed) {
  if (auto done = start(); !done) return done;
  frame_.add(text);
  return file_.write(packed);
}

Result<void> PackedFile::write(std::string_view text) {
  std::string packed;
  if (auto done = pack(packing_, text, &packed); !done) return done;
  return write(text, packed);
}

Result<void> PackedFile::finish() {
  if (auto done = start(); !done) return done;
  if (auto done = file_.write(frame_.tail()); !done) return done;
  return file_.finish(OutputFile::Wait::for_nothing);
}

Result<void> rewrite_blocks(const Trace& trace, OpenedSource source, const BlockOptions& options,
                            const std::function<void(Block*)>& transform, PackedFile* out) {
  if (trace.places.size() != trace.recorded_events()) {
    return fail(ErrorCode::usage, "the events of a " + std::string(trace.format) + " trace cannot be rewritten", trace.path,
                "augment, combine and cut copy events that are JSON objects");
  }
  BlockFeed feed(trace, std::move(source), options);
  const bool packed = out->packing() != Packing::none;
  const auto read = [&](Block* block) { return feed.next(block); };
  const auto make = [&](unsigned, Block* block) {
    block->output.clear();
    block->packed.clear();
    transform(block);
    if (packed) block->outcome = pack(out->packing(), block->output, &block->packed);
  };
  const auto write = [&](Block* block) -> Result<void> {
    if (!block->outcome) return block->outcome;
    return out->write(block->output, packed ? block->packed : block->output);
  };
  try {
    return run_in_order<Block>({.threads = options.threads, .spare = kSpareBlocks}, read, make, write);
  } catch (const std::exception& e) {  // memory ran out
    return fail(ErrorCode::too_large, std::string("cannot rewrite the trace: ") + e.what(), trace.path);
  }
}

}  // namespace ridge
