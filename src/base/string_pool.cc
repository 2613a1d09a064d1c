// Open addressing, seeded at random so that a hostile file cannot choose its collisions.
#include "base/string_pool.h"

#include <cstring>
#include <random>
#include <stdexcept>

#include "base/hash.h"

namespace ridge {

StringPool::StringPool() : slots_(1024), seed_(std::random_device{}()) {
  blocks_.reserve(kMostBlocks);  // virtual memory only; the vector must never reallocate under a reader
  intern({});
}

std::size_t StringPool::slot_of(std::string_view text, std::uint32_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t i = hash & mask;
  while (slots_[i].id_plus_one != 0) {
    if (slots_[i].hash == hash && at(StringId{slots_[i].id_plus_one - 1}) == text) break;
    i = (i + 1) & mask;
  }
  return i;
}

StringId StringPool::intern(std::string_view text) {
  const auto hash = static_cast<std::uint32_t>(hash_text(text, seed_) >> 32);
  const std::lock_guard lock(mutex_);
  std::size_t slot = slot_of(text, hash);
  if (slots_[slot].id_plus_one != 0) return StringId{slots_[slot].id_plus_one - 1};
  if (size_ >= UINT32_MAX - 1) throw std::length_error("too many distinct texts");
  char* bytes = arena_.allocate<char>(text.size());
  if (!text.empty()) std::memcpy(bytes, text.data(), text.size());
  if ((size_ & kBlockMask) == 0) blocks_.push_back(arena_.allocate<std::string_view>(std::size_t{1} << kBlockBits));
  const StringId id{size_++};
  new (&blocks_[id.value >> kBlockBits][id.value & kBlockMask]) std::string_view(bytes, text.size());
  slots_[slot] = {hash, id.value + 1};
  if (size_ * 2 > slots_.size()) grow();
  return id;
}

void StringPool::grow() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  const std::size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.id_plus_one == 0) continue;
    std::size_t i = slot.hash & mask;
    while (slots_[i].id_plus_one != 0) i = (i + 1) & mask;
    slots_[i] = slot;
  }
}

bool StringPool::find(std::string_view text, StringId* id) const {
  const auto hash = static_cast<std::uint32_t>(hash_text(text, seed_) >> 32);
  const std::lock_guard lock(mutex_);
  const Slot& slot = slots_[slot_of(text, hash)];
  *id = StringId{slot.id_plus_one == 0 ? 0 : slot.id_plus_one - 1};
  return slot.id_plus_one != 0;
}

std::uint64_t StringPool::bytes() const {
  const std::lock_guard lock(mutex_);
  return arena_.bytes() + slots_.size() * sizeof(Slot);
}

}  // namespace ridge
