// Stop: whether anybody still waits for what this thread works on. Long work looks now and then: before each table of a model,
// each finding, each replay, each run of rows. Once it is asked to stop, the look throws Stopped, which nobody catches but the
// engine (and who stands between C and us, to hand it on). Like a failed allocation it may come out of any table that is being
// made, and leaves nothing half made behind. As Threads are, the flag is found by the thread.
#pragma once

#include <atomic>

namespace ridge {

struct Stopped {};

class Stop {
 public:
  static bool asked() { return flag_ != nullptr && flag_->load(std::memory_order_relaxed); }
  static void look() {
    if (asked()) throw Stopped{};
  }

  // That of <ridge/stop.h>, which the engine uses while it answers, and nobody else: what a client does between two questions
  // never throws.
  static const std::atomic<bool>* given_by_client();

  class Use {
   public:
    explicit Use(const std::atomic<bool>* flag) : before_(flag_) { flag_ = flag; }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    ~Use() { flag_ = before_; }

   private:
    const std::atomic<bool>* before_;
  };

 private:
  static inline thread_local const std::atomic<bool>* flag_ = nullptr;
};

}  // namespace ridge
