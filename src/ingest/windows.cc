// Fills a window, cuts it at the last brace that looks like an event's, and carries the rest over.
#include "ingest/windows.h"

#include <algorithm>
#include <cstring>

#include "base/try.h"
#include "ingest/event_text.h"
#include "ingest/scan.h"

namespace ridge {

WindowFeed::WindowFeed(Source* source, std::string rest, std::uint64_t offset, std::size_t window_bytes,
                       std::uint64_t max_bytes)
    : source_(source),
      rest_(std::move(rest)),
      offset_(offset),
      window_bytes_(window_bytes),
      max_bytes_(max_bytes),
      bytes_read_(offset) {}

Error over_max_bytes(std::uint64_t max_bytes) {
  return {ErrorCode::too_large, "the uncompressed trace is larger than the limit of " + std::to_string(max_bytes) + " bytes",
          "byte " + std::to_string(max_bytes), "raise the limit with --max-bytes N, unless this is a decompression bomb"};
}

// What was read ahead first, then the source.
Result<std::size_t> WindowFeed::read(char* out, std::size_t size) {
  const std::size_t ahead = std::min(size, rest_.size() - rest_used_);
  if (ahead != 0) std::memcpy(out, rest_.data() + rest_used_, ahead);
  rest_used_ += ahead;
  if (ahead == size) return size;
  rest_ = {};
  rest_used_ = 0;
  TRY(const std::size_t got, source_->read(out + ahead, size - ahead));
  return ahead + got;
}

Result<bool> WindowFeed::next(Window* window) {
  if (over_) return false;
  const std::size_t wanted = carry_.size() + window_bytes_;
  if (window->capacity < wanted + kPadding) {
    window->capacity =
        wanted + window_bytes_ / 8 + kPadding;  // carries differ by an event: without room for that every window grows anew
    window->buffer = std::make_unique_for_overwrite<char[]>(window->capacity);
  }
  char* text = window->buffer.get();
  if (!carry_.empty()) std::memcpy(text, carry_.data(), carry_.size());
  TRY(const std::size_t got, read(text + carry_.size(), window_bytes_));
  bytes_read_ += got;
  if (bytes_read_ > max_bytes_) return tl::unexpected(over_max_bytes(max_bytes_));

  std::size_t size = carry_.size() + got;
  window->offset = offset_;
  window->sequence = sequence_++;
  window->assumed = assumed_;
  window->last = over_ = got < window_bytes_;
  carry_.clear();
  if (!over_) {
    const char* cut = find_last_event_start(text, text + size);
    assumed_ = cut != nullptr ? std::optional(Between::after_comma) : std::nullopt;
    if (cut != nullptr) {
      carry_.assign(cut, static_cast<const char*>(text) + size);
      size = static_cast<std::size_t>(cut - text);
    }
  }
  window->size = size;
  offset_ += size;
  std::memset(text + size, 0, kPadding);
  return true;
}

}  // namespace ridge
