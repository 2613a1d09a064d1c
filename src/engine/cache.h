// Cache: what can be made again, kept by key within a budget of bytes; the least recently used goes first. Thread-safe.
//
// 1. Whatever somebody holds a handle of stays, and what it is made from with it: a handle is never of something that is gone.
// 2. Sizes are asked for anew whenever room is looked for, since tables grow after they were put in.
// 3. After trim() the entries take no more than the budget, but for those in use.
// 4. Of one key one thing is made at a time: others that ask wait for it. What is made may ask for other keys, never in a ring.
//    Who waits may be asked to stop (base/stop.h).
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include <ridge/result.h>

#include "base/try.h"

namespace ridge {

class Cache {
 public:
  explicit Cache(std::uint64_t budget_bytes) : budget_bytes_(budget_bytes) {}

  // What the key stands for; where nothing is kept, what make() gives, a Result<std::shared_ptr<const T>>. One key has always
  // one T, which tells its memory_bytes().
  template <class T, class Make>
  Result<std::shared_ptr<const T>> get(const std::string& key, const Make& make) {
    if (Value kept = find_or_begin(key)) return std::static_pointer_cast<const T>(std::move(kept));
    const EndOfMaking end{*this, key};
    TRY(std::shared_ptr<const T> made, make());
    keep(key, made, [](const void* value) { return static_cast<const T*>(value)->memory_bytes(); });
    return made;
  }

  void trim();  // to the budget

  std::size_t entries() const;
  std::uint64_t bytes() const;  // of all entries, now

 private:
  using Value = std::shared_ptr<const void>;
  using Size = std::uint64_t (*)(const void*);
  struct Entry {
    std::string key;
    Value value;
    Size size;
  };
  using Entries = std::list<Entry>;  // the most recently used first

  struct EndOfMaking {  // also when nothing could be made
    Cache& cache;
    const std::string& key;
    ~EndOfMaking() { cache.end_making(key); }
  };

  Value find_or_begin(const std::string& key);  // nothing: it is the caller's to make
  void keep(const std::string& key, Value value, Size size);
  void end_making(const std::string& key);
  std::uint64_t bytes_locked() const;

  const std::uint64_t budget_bytes_;
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable made_;
  std::set<std::string> making_;
  Entries entries_;
  std::map<std::string, Entries::iterator> by_key_;
};

}  // namespace ridge
