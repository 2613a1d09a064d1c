// AnswerCache: answers that took work, kept by what was asked; the least recently used go first. Several that ask for one thing
// at a time wait for one computation; if who began it went away, the next one begins again. Thread-safe.
#pragma once

#include <cstddef>
#include <functional>
#include <future>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "answer.h"

namespace ridge::server {

class AnswerCache {
 public:
  AnswerCache(std::size_t most_entries, std::size_t most_bytes) : most_entries_(most_entries), most_bytes_(most_bytes) {}

  // What `make` gives for the key; only answers with status 200 are kept. A caller that is asked to stop (<ridge/stop.h>) is
  // answered with kClientGone.
  Answer get(const std::string& key, const std::function<Answer()>& make);

  bool has(const std::string& key) const;  // made, and kept: get() will not make it

  std::size_t entries() const;
  std::size_t bytes() const;

 private:
  struct Entry {
    std::string key;
    std::shared_future<Answer> answer;
    std::size_t bytes = 0;
    bool done = false;
  };
  using Entries = std::list<Entry>;  // most recently used first

  // Another's, once it is made; nothing where the other was stopped and this one was not.
  static std::optional<Answer> wait_for(const std::shared_future<Answer>& another);
  void settle(const std::string& key, const Answer& answer);
  void forget(Entries::iterator entry);
  void shrink();

  const std::size_t most_entries_, most_bytes_;
  mutable std::mutex mutex_;
  Entries entries_;
  std::unordered_map<std::string, Entries::iterator> by_key_;
  std::size_t bytes_ = 0;
};

}  // namespace ridge::server
