// SpinBackoff: how a thread waits for what should take microseconds: it rests, then lets others run, and only then should it
// sleep. Going to sleep and being woken costs more than most of these waits last. The first tries do not even ask the kernel.
#pragma once

#include <thread>

namespace ridge {

class SpinBackoff {
 public:
  // To be called after each look at what is waited for; false when it has lasted too long.
  bool wait_a_little() {
    constexpr int kTries = 300, kFirstTries = 32;
    if (++tries_ > kTries) return false;
    if (tries_ > kFirstTries) {
      std::this_thread::yield();
    } else {
      rest();
    }
    return true;
  }

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

  int tries_ = 0;
};

}  // namespace ridge
