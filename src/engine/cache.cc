// The cache's order of use, and what goes when there is no room.
#include "engine/cache.h"

#include <chrono>
#include <utility>

#include "base/stop.h"

namespace ridge {
namespace {

constexpr std::chrono::milliseconds kGlance{50};  // how long one who was asked to stop waits for another's work

}  // namespace

Cache::Value Cache::find_or_begin(const std::string& key) {
  std::unique_lock lock(mutex_);
  while (!made_.wait_for(lock, kGlance, [&] { return !making_.contains(key); })) Stop::look();
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) {
    making_.insert(key);
    return nullptr;
  }
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->value;
}

void Cache::keep(const std::string& key, Value value, Size size) {
  const std::lock_guard lock(mutex_);
  entries_.push_front({key, std::move(value), size});
  by_key_[key] = entries_.begin();
}

void Cache::end_making(const std::string& key) {
  const std::lock_guard lock(mutex_);
  making_.erase(key);
  made_.notify_all();
}

std::uint64_t Cache::bytes_locked() const {
  std::uint64_t bytes = 0;
  for (const Entry& entry : entries_) bytes += entry.size(entry.value.get());
  return bytes;
}

// What goes may be the last that another entry was kept for (costs hold their model): so again from the oldest, until nothing
// goes. Under the lock nobody can take up an entry that nobody holds.
void Cache::trim() {
  const std::lock_guard lock(mutex_);
  std::uint64_t bytes = bytes_locked();
  for (auto it = entries_.end(); bytes > budget_bytes_ && it != entries_.begin();) {
    --it;
    if (it->value.use_count() > 1) continue;
    const std::uint64_t freed = it->size(it->value.get());
    bytes -= freed < bytes ? freed : bytes;
    by_key_.erase(it->key);
    entries_.erase(it);
    it = entries_.end();
  }
}

std::size_t Cache::entries() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

std::uint64_t Cache::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_locked();
}

}  // namespace ridge
