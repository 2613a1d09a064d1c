// Packing; the inline half reads.
#include "trace/event_places.h"

namespace ridge {

void EventPlaces::append(std::span<const EventPlace> places) {
  for (const EventPlace& place : places) {
    if ((size_ & kMask) == 0) blocks_.push_back(arena_.allocate<std::uint64_t>(kMask + 1));
    const bool fits = place.size < kAside && place.begin < std::uint64_t{1} << (64 - kSizeBits);
    if (!fits) aside_.emplace(size_, place);
    blocks_.back()[size_ & kMask] = fits ? place.begin << kSizeBits | place.size : kAside;
    ++size_;
  }
}

}  // namespace ridge
