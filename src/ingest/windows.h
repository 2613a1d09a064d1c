// WindowFeed: a source cut into windows of about 256 KiB, each ending where an event starts, so that threads can parse them
// apart. The cut is a good guess (a brace behind `},` that opens with a key); EventJoiner proves it. Not thread-safe: callers
// lock.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <ridge/result.h>

#include "ingest/event_array.h"
#include "ingest/source.h"
#include "trace/diagnostics.h"
#include "trace/event_table.h"

namespace ridge {

struct Window {
  std::unique_ptr<char[]> buffer;
  std::size_t capacity = 0;
  std::size_t size = 0;
  std::uint64_t offset = 0;  // of its first byte in the JSON
  std::uint64_t sequence = 0;
  bool last = false;
  std::optional<Between> assumed;  // the state in which it may be parsed on its own; nothing: only behind its predecessor

  // What parsing it on its own gave, when `assumed`.
  EventRun run;
  Diagnostics diagnostics;
  ArrayProgress progress;

  const char* begin() const { return buffer.get(); }
  const char* end() const { return buffer.get() + size; }
  Piece piece() const { return {.begin = begin(), .end = end(), .offset = offset, .last = last}; }
};

class WindowFeed {
 public:
  // `rest` are the bytes already read that belong to the array; `offset` is where they start.
  WindowFeed(Source* source, std::string rest, std::uint64_t offset, std::size_t window_bytes, std::uint64_t max_bytes);

  // Fills the next window. False when there is none any more.
  Result<bool> next(Window* window);

  std::uint64_t bytes_read() const { return bytes_read_; }  // uncompressed, from the start of the input

 private:
  Result<std::size_t> read(char* out, std::size_t size);

  Source* source_;
  std::string rest_;
  std::size_t rest_used_ = 0;
  std::string carry_;  // the start of the next window, cut off the last one
  std::uint64_t offset_;
  std::size_t window_bytes_;
  std::uint64_t max_bytes_;
  std::uint64_t bytes_read_;
  std::uint64_t sequence_ = 0;
  bool over_ = false;
  std::optional<Between> assumed_ = Between::start;
};

Error over_max_bytes(std::uint64_t max_bytes);

}  // namespace ridge
