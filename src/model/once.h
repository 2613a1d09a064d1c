// Once: a value made once, by whoever asks first. Thread-safe, also where make() goes on in parallel (base/in_parallel.h).
#pragma once

#include <atomic>
#include <mutex>
#include <optional>

namespace ridge {

template <class T>
class Once {
 public:
  template <class Make>
  const T& get(Make make) {
    std::call_once(once_, [&] {
      value_.emplace(make());
      made_.store(true, std::memory_order_release);
    });
    return *value_;
  }
  // nullptr while nobody has it yet.
  const T* if_made() const { return made_.load(std::memory_order_acquire) ? &*value_ : nullptr; }

 private:
  std::once_flag once_;
  std::optional<T> value_;
  std::atomic<bool> made_ = false;
};

}  // namespace ridge
