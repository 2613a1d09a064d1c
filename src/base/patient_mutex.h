// PatientMutex: a mutex for sections of a microsecond that several threads enter at once. It tries for a while before it sleeps:
// going to sleep and being woken costs more than most waits here last. The first tries do not even ask the kernel.
#pragma once

#include <mutex>
#include <thread>

namespace ridge {

class PatientMutex {
 public:
  void lock() {
    constexpr int kTries = 1000, kFirstTries = 32;
    for (int i = 0; i < kTries; ++i) {
      if (mutex_.try_lock()) return;
      if (i < kFirstTries) {
        rest();
      } else {
        std::this_thread::yield();
      }
    }
    mutex_.lock();
  }
  void unlock() { mutex_.unlock(); }

 private:
  // Some ten nanoseconds, in which the core's other thread has it to itself.
  static void rest() {
    for (int i = 0; i < 8; ++i) {
#if defined(__x86_64__)
      __builtin_ia32_pause();
#elif defined(__aarch64__)
      __asm__ volatile("yield");
#endif
    }
  }

  std::mutex mutex_;
};

}  // namespace ridge
