// One line on standard error that says how far a long read has come. It appears after half a second and leaves no trace.
#pragma once

#include <chrono>
#include <string>

#include <ridge/engine.h>

namespace ridge::cli {

class ProgressBar {
 public:
  explicit ProgressBar(bool enabled) : enabled_(enabled) {}
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  ~ProgressBar() { erase(); }

  void update(const Progress& progress);
  void erase();

 private:
  using Clock = std::chrono::steady_clock;

  bool enabled_;
  bool drawn_ = false;
  std::string phase_;
  Clock::time_point started_ = Clock::now();
  Clock::time_point phase_started_ = started_;
  Clock::time_point last_drawn_;
};

// "reading  45 %  1.23 GB of 2.70 GB  820 MB/s  2 s left"; what cannot be known is left out.
std::string progress_line(const Progress& progress, double seconds);

}  // namespace ridge::cli
