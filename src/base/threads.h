// Threads: how many threads may work on a question, and the pool that they come from. Each engine has one of its own, so that
// two engines with different limits leave each other alone.
//
// Work finds its Threads by the thread that it runs on: while a Threads::Use lives, what its thread does in parallel
// (base/in_parallel.h) is done by those. Without one there is no limit but the machine's.
//
// One arena serves all that ask an engine at a time, and each asker has a place kept free in it: who waited for a place could
// wait for one who waits for a table that he himself is making. Askers beyond those places do all by themselves.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>

#include <tbb/task_arena.h>

namespace ridge {

class Threads {
 public:
  explicit Threads(unsigned most = 0) : most_(most) {}  // 0: one per core
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  // Those that work for this thread; nullptr: nobody set a limit.
  static Threads* current() { return current_; }
  static bool may_have_more() { return current_ == nullptr || current_->most_ != 1; }

  class Use {
   public:
    explicit Use(Threads* threads) : before_(current_) { current_ = threads; }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    ~Use() { current_ = before_; }

   private:
    Threads* before_;
  };

  // work() in the pool: by this thread and others, with it `most` at a time.
  template <class Work>
  void run(const Work& work) {
    if (inside_ == this) {
      tbb::this_task_arena::isolate(work);
      return;
    }
    const Place place(this);
    if (place.is_free) {
      arena().execute([&] { tbb::this_task_arena::isolate(work); });
    } else {
      tbb::task_arena(1).execute([&] { tbb::this_task_arena::isolate(work); });
    }
  }

 private:
  static constexpr int kAskers = 32;  // at a time: more than a server lets work

  struct Place {
    explicit Place(Threads* of) : threads(of), before(inside_), is_free(of->askers_++ < kAskers) { inside_ = of; }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    ~Place() {
      --threads->askers_;
      inside_ = before;
    }
    Threads* threads;
    Threads* before;
    bool is_free;
  };

  tbb::task_arena& arena();  // made when first asked for: to start the pool takes over a millisecond

  static inline thread_local Threads* current_ = nullptr;
  static inline thread_local Threads* inside_ = nullptr;  // in whose arena this thread is, as one who asked

  const unsigned most_;
  std::atomic<int> askers_ = 0;
  std::once_flag made_;
  std::optional<tbb::task_arena> arena_;
};

}  // namespace ridge
