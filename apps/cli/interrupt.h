// Signals: Ctrl-C, SIGTERM and a closed terminal ask the work to stop, so that no unfinished file stays; a second one ends the
// program at once. A closed pipe or a full quota is an error of write().
#pragma once

#include <atomic>

namespace ridge::cli {

void install_signal_handlers();

// As they were before: for a program that takes this one's place and inherits what is ignored.
void restore_signal_handlers();

// From now on each of them ends the program at once: for one that has nothing to save and may be at work for long.
void end_at_signals();

bool interrupted();

// Set by the first of them, for <ridge/stop.h>.
const std::atomic<bool>& interrupted_flag();

// The exit code of a run that was: 128 and the signal's number.
int interrupted_code();

}  // namespace ridge::cli
