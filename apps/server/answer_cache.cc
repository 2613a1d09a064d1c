// Entries in order of use; the first to ask computes, others wait on its future; failures are not kept.
#include "answer_cache.h"

#include <chrono>

#include <ridge/stop.h>

namespace ridge::server {
namespace {

constexpr std::chrono::milliseconds kGlance{50};

}  // namespace

std::optional<Answer> AnswerCache::wait_for(const std::shared_future<Answer>& another) {
  while (another.wait_for(kGlance) != std::future_status::ready) {
    if (StopWhen::asked()) return answer(kClientGone, "");
  }
  if (Answer made = another.get(); made.status != kClientGone || StopWhen::asked()) return made;
  return std::nullopt;
}

Answer AnswerCache::get(const std::string& key, const std::function<Answer()>& make) {
  std::promise<Answer> promise;
  {
    std::unique_lock lock(mutex_);
    for (auto found = by_key_.find(key); found != by_key_.end(); found = by_key_.find(key)) {
      entries_.splice(entries_.begin(), entries_, found->second);
      const std::shared_future<Answer> known = found->second->answer;
      lock.unlock();
      if (auto another = wait_for(known)) return std::move(*another);
      lock.lock();
    }
    entries_.push_front({key, promise.get_future().share(), key.size(), false});
    by_key_[key] = entries_.begin();
    bytes_ += key.size();
  }
  try {
    Answer made = make();
    settle(key, made);
    promise.set_value(made);
    return made;
  } catch (...) {  // out of memory: whoever waits fails the same way, the next one may succeed
    settle(key, answer(500, ""));
    promise.set_exception(std::current_exception());
    throw;
  }
}

bool AnswerCache::has(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = by_key_.find(key);
  return found != by_key_.end() && found->second->done;
}

void AnswerCache::settle(const std::string& key, const Answer& answer) {
  const std::lock_guard lock(mutex_);
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return;
  Entry& entry = *found->second;
  entry.done = true;
  entry.bytes += answer.body->bytes().size();
  bytes_ += answer.body->bytes().size();
  if (answer.status != 200) forget(found->second);
  shrink();
}

void AnswerCache::forget(Entries::iterator entry) {
  bytes_ -= entry->bytes;
  by_key_.erase(entry->key);
  entries_.erase(entry);
}

// Entries under way stay: somebody waits for them, and there are no more of them than connections.
void AnswerCache::shrink() {
  for (auto it = entries_.end(); it != entries_.begin() && (entries_.size() > most_entries_ || bytes_ > most_bytes_);) {
    const auto candidate = std::prev(it);
    if (candidate->done) {
      forget(candidate);
    } else {
      it = candidate;
    }
  }
}

std::size_t AnswerCache::entries() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

std::size_t AnswerCache::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace ridge::server
