// SpinMutex: a mutex for sections of a microsecond that several threads enter at once. It tries for a while before it
// sleeps.
#pragma once

#include <mutex>

#include "base/spin_backoff.h"

namespace ridge {

class SpinMutex {
 public:
  void lock() {
    for (SpinBackoff patience; !mutex_.try_lock();) {
      if (patience.wait_a_little()) continue;
      mutex_.lock();
      return;
    }
  }
  void unlock() { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

}  // namespace ridge
