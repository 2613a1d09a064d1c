// Once: a value made once, by whoever asks first. Thread-safe, also where make() runs tasks of TBB.
#pragma once

#include <mutex>
#include <optional>

#include <tbb/task_arena.h>

namespace ridge {

template <class T>
class Once {
 public:
  template <class Make>
  const T& get(Make make) {
    // Isolated: a thread that waits inside make() must not pick up a task that asks for this very value.
    std::call_once(once_, [&] { tbb::this_task_arena::isolate([&] { value_.emplace(make()); }); });
    return *value_;
  }

 private:
  std::once_flag once_;
  std::optional<T> value_;
};

}  // namespace ridge
