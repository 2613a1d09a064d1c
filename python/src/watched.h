// watched: long work on a thread of its own, while the calling thread lets other Python threads run, looks for Ctrl-C and tells
// how far the work is.
#pragma once

#include <functional>
#include <memory>

#include <ridge/engine.h>

namespace ridge::python {

// What the work may be asked to do and what it tells, shared by both threads.
class Watch {
 public:
  Watch();
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // By the work, from any thread. False: stop.
  bool goes_on(const Progress& progress);

 private:
  friend void watched(const std::function<void(Watch&)>& work, const std::function<void(const Progress&)>& show);
  struct State;
  std::unique_ptr<State> state_;
};

// Runs work() to its end; called with the GIL, which is released meanwhile. What it throws is thrown here. `show`, where there
// is one, is called with the GIL now and then. After Ctrl-C, or where `show` raises, the work is asked to stop, waited for, and
// the Python error is thrown.
void watched(const std::function<void(Watch&)>& work, const std::function<void(const Progress&)>& show = {});

}  // namespace ridge::python
