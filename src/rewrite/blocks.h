// The second pass of a rewrite: the JSON again, in blocks that never split an event, each made into new text and packed by
// whichever thread is free, and written in order. The JSON is never held whole.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <ridge/result.h>

#include "base/output_file.h"
#include "base/progress.h"
#include "ingest/source.h"
#include "rewrite/packing.h"
#include "trace/trace.h"

namespace ridge {

struct Block {
  std::string input;            // bytes of the JSON, followed by kPadding more that mean nothing
  std::size_t size = 0;         // of what means something
  std::uint64_t offset = 0;     // of the first byte in the JSON
  std::size_t first_event = 0;  // the events that stand in it: [first_event, last_event), as indexes of Trace::places
  std::size_t last_event = 0;
  std::string output;  // what it becomes
  std::string packed;
  Result<void> outcome;

  const char* begin() const { return input.data(); }
  const char* end() const { return input.data() + size; }
  const char* at(const EventPlace& place) const { return begin() + (place.begin - offset); }
  // Past the bytes that belong to an event of this block.
  const char* end_of(const EventPlace& place) const { return at(place) + place.size; }
};

struct BlockOptions {
  unsigned threads = 1;
  std::size_t block_bytes = std::size_t{1} << 20;
  std::uint64_t max_bytes = UINT64_MAX;
  ProgressFunction progress;
};

// A packed file that is written piece by piece.
class PackedFile {
 public:
  PackedFile(OutputFile file, Packing packing) : file_(std::move(file)), packing_(packing), frame_(packing) {}

  Packing packing() const { return packing_; }
  Result<void> write(std::string_view text);                           // packs it here
  Result<void> write(std::string_view text, std::string_view packed);  // packed already
  Result<void> finish();

 private:
  Result<void> start();

  OutputFile file_;
  Packing packing_;
  PackingFrame frame_;
  bool started_ = false;
};

// Reads what `trace` (which knows its places) was read from once more; `transform` fills block->output and may be called from
// several threads at once. An error where events have no places: their format is not JSON.
Result<void> rewrite_blocks(const Trace& trace, OpenedSource source, const BlockOptions& options,
                            const std::function<void(Block*)>& transform, PackedFile* out);

}  // namespace ridge
