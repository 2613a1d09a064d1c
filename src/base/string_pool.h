// StringPool: each distinct text once, named by a 32-bit id. Ids are given in order of first arrival; StringId{0} is the empty
// text.
//
// Thread safety: intern() may be called from several threads at once (one lock; callers keep caches of their own in front of
// it). at() is safe for ids whose intern() has returned in the same thread, and for all ids once no thread interns any more.
// The bytes of a text never move.
#pragma once

#include <cstdint>
#include <mutex>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "base/ids.h"
#include "base/spin_mutex.h"

namespace ridge {

class StringPool {
 public:
  StringPool();

  StringId intern(std::string_view text);
  std::string_view at(StringId id) const { return blocks_[id.value >> kBlockBits][id.value & kBlockMask]; }

  // The id of a text that is already there, or nothing was ever named so: StringId{0} and false.
  bool find(std::string_view text, StringId* id) const;

  std::size_t size() const { return size_; }
  std::uint64_t bytes() const;

 private:
  // Blocks of views never move, so that at() needs no lock; 2^17 blocks of 2^15 views cover all 32-bit ids.
  static constexpr std::uint32_t kBlockBits = 15;
  static constexpr std::uint32_t kBlockMask = (1U << kBlockBits) - 1;
  static constexpr std::size_t kMostBlocks = std::size_t{1} << (32 - kBlockBits);

  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t id_plus_one = 0;  // 0: free
  };

  std::size_t slot_of(std::string_view text, std::uint32_t hash) const;
  void grow();

  mutable SpinMutex mutex_;
  Arena arena_;
  std::vector<std::string_view*> blocks_;
  std::vector<Slot> slots_;
  std::size_t size_ = 0;
  std::uint64_t seed_;
};

}  // namespace ridge
