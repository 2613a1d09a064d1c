// EventPlaces: where each event stands in the JSON, eight bytes an event: 40 bits for its offset, 24 for its size. What does
// not fit, an event of 16 MB or behind the first terabyte, is kept aside. Thread safety: append() is called by one thread at a
// time; everything else once the load is over.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/arena.h"

namespace ridge {

// From its brace on, `size` bytes that hold the event and no part of another.
struct EventPlace {
  std::uint64_t begin = 0;
  std::uint32_t size = 0;

  std::uint64_t end() const { return begin + size; }
};

class EventPlaces {
 public:
  void append(std::span<const EventPlace> places);

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  EventPlace operator[](std::size_t event) const {
    const std::uint64_t word = blocks_[event >> kBlockBits][event & kMask];
    const auto size = static_cast<std::uint32_t>(word & kSizeMask);
    if (size == kAside) [[unlikely]]
      return aside_.at(event);
    return {word >> kSizeBits, size};
  }

  std::uint64_t bytes() const { return arena_.bytes(); }

 private:
  static constexpr unsigned kBlockBits = 16;
  static constexpr std::size_t kMask = (std::size_t{1} << kBlockBits) - 1;
  static constexpr unsigned kSizeBits = 24;
  static constexpr std::uint64_t kSizeMask = (std::uint64_t{1} << kSizeBits) - 1;
  static constexpr std::uint32_t kAside = kSizeMask;

  Arena arena_;
  std::vector<std::uint64_t*> blocks_;
  std::unordered_map<std::size_t, EventPlace> aside_;
  std::size_t size_ = 0;
};

}  // namespace ridge
