// How long an answer took here, for the Server-Timing header: a client can tell the server's own work from the network, the
// queue and a machine that is busy with other things.
#pragma once

#include <ctime>

#include <chrono>
#include <string>

#include <fmt/format.h>

namespace ridge::server {

class WorkClock {
 public:
  // Made when the request's head has been read. From here on a thread works on it, the one that will call text().
  void started() {
    started_ = Clock::now();
    cpu_ms_ = thread_cpu_ms();
  }
  // "wait": in the queue; "work": from start to now; "cpu": of this thread, in between. Milliseconds.
  std::string text() const {
    return fmt::format("wait;dur={:.3f}, work;dur={:.3f}, cpu;dur={:.3f}", ms(started_ - arrived_), ms(Clock::now() - started_),
                       thread_cpu_ms() - cpu_ms_);
  }

 private:
  using Clock = std::chrono::steady_clock;

  static double ms(Clock::duration time) { return std::chrono::duration<double, std::milli>(time).count(); }
  static double thread_cpu_ms() {
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
  }

  Clock::time_point arrived_ = Clock::now();
  Clock::time_point started_ = arrived_;
  double cpu_ms_ = 0;
};

}  // namespace ridge::server
