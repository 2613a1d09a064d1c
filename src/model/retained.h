// Retained: a value that is made when first asked for and stays until it is let go. From then on it lives as long as somebody
// holds it: who asks later has it made again. Thread-safe, also where make() goes on in parallel (base/in_parallel.h).
#pragma once

#include <memory>
#include <mutex>

namespace ridge {

template <class T>
class Retained {
 public:
  template <class Make>
  std::shared_ptr<const T> get(Make make) {
    const std::lock_guard lock(mutex_);
    if (auto held = held_.lock()) return held;
    auto value = std::make_shared<const T>(make());
    held_ = value;
    if (keeps_) kept_ = value;
    return value;
  }
  // nullptr while there is none.
  std::shared_ptr<const T> if_held() const {
    const std::lock_guard lock(mutex_);
    return held_.lock();
  }
  void let_go() {
    const std::lock_guard lock(mutex_);
    keeps_ = false;
    kept_.reset();
  }

 private:
  mutable std::mutex mutex_;
  bool keeps_ = true;
  std::shared_ptr<const T> kept_;
  std::weak_ptr<const T> held_;
};

}  // namespace ridge
