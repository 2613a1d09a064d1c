// StopWhen: how a client gives up what it asked an engine for: Ctrl-C, a call that was cancelled, a connection that went away.
#pragma once

#include <atomic>

namespace ridge {

// While it lives, run(), kept_report() and timeline() of any engine, called by this thread, end soon after the flag is set,
// with ErrorCode::interrupted: a query between two rows, an analysis before the next table that it needs. Nothing half made
// is kept. The flag must outlive it; any thread may set it, a signal handler too. One inside of another takes its place.
class StopWhen {
 public:
  explicit StopWhen(const std::atomic<bool>& flag);
  ~StopWhen();
  StopWhen(const StopWhen&) = delete;
  StopWhen& operator=(const StopWhen&) = delete;

  static bool asked();  // whether this thread's flag is set

 private:
  const std::atomic<bool>* before_;
};

static_assert(std::atomic<bool>::is_always_lock_free);

}  // namespace ridge
