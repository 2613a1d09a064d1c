// Keys: names of two traces as numbers that can be compared. A StringId means something within its trace only; a key means the
// same in all.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/hash.h"

namespace ridge::diff {

using Key = std::uint32_t;

inline constexpr Key kNoKey = 0;  // nothing is known; equal to no other key

// Thread-safe: the typical iterations of several traces are built at once.
class KeyPool {
 public:
  Key of(std::string_view text) {
    if (text.empty()) return kNoKey;
    const std::lock_guard lock(mutex_);
    return keys_.try_emplace(std::string(text), static_cast<Key>(keys_.size() + 1)).first->second;
  }

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, Key> keys_;
};

// Evidence put together: the same parts in the same order give the same value. 0 stays for "nothing known".
inline std::uint64_t combine(std::uint64_t seed, std::uint64_t part) {
  return mix64(seed ^ 0x9E3779B97F4A7C15, part ^ 0xD6E8FEB86659FD93) | 1U;
}

}  // namespace ridge::diff
