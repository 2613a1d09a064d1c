// PatientMutex: a mutex for sections of a microsecond that several threads enter at once. It tries for a while before it sleeps:
// going to sleep and being woken costs more than most waits here last.
#pragma once

#include <mutex>
#include <thread>

namespace ridge {

class PatientMutex {
 public:
  void lock() {
    constexpr int kTries = 200;
    for (int i = 0; i < kTries; ++i) {
      if (mutex_.try_lock()) return;
      std::this_thread::yield();
    }
    mutex_.lock();
  }
  void unlock() { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

}  // namespace ridge
