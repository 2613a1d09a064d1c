// Once: a value made once, by whoever asks first. Thread-safe, also where make() goes on in parallel (base/in_parallel.h).
#pragma once

#include <mutex>
#include <optional>

namespace ridge {

template <class T>
class Once {
 public:
  template <class Make>
  const T& get(Make make) {
    std::call_once(once_, [&] { value_.emplace(make()); });
    return *value_;
  }

 private:
  std::once_flag once_;
  std::optional<T> value_;
};

}  // namespace ridge
