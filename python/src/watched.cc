// Two threads and a lock: one works, the other waits, tells and listens.
#include "watched.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <string>
#include <thread>

#include <nanobind/nanobind.h>

#include <ridge/stop.h>

#include "outside.h"

namespace nb = nanobind;

namespace ridge::python {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{50};

}  // namespace

struct Watch::State {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  std::atomic<bool> stop = false;
  std::string phase;
  Progress progress;
  std::exception_ptr thrown;
};

Watch::Watch() : state_(std::make_unique<State>()) {}
Watch::~Watch() = default;

bool Watch::goes_on(const Progress& progress) {
  const std::lock_guard lock(state_->mutex);
  state_->phase = progress.phase;
  state_->progress = progress;
  return !state_->stop;
}

void watched(const std::function<void(Watch&)>& work, const std::function<void(const Progress&)>& show) {
  Watch watch;
  Watch::State& state = *watch.state_;
  const Outside outside;
  std::thread worker([&] {
    std::exception_ptr thrown;
    try {
      const StopWhen stop(state.stop);
      work(watch);
    } catch (...) {
      thrown = std::current_exception();
    }
    const std::lock_guard lock(state.mutex);
    state.thrown = thrown;
    state.done = true;
    state.changed.notify_all();
  });
  std::exception_ptr python_error;
  std::unique_lock lock(state.mutex);
  while (!state.changed.wait_for(lock, kBetweenLooks, [&] { return state.done; })) {
    if (python_error) continue;  // it was asked to stop
    const std::string phase = state.phase;
    Progress progress = state.progress;
    progress.phase = phase;
    lock.unlock();
    {
      const nb::gil_scoped_acquire acquire;
      try {
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        if (is_to_stop()) end_thread();
        if (show && !phase.empty()) show(progress);
      } catch (...) {
        python_error = std::current_exception();
      }
    }
    lock.lock();
    if (python_error) state.stop = true;
  }
  lock.unlock();
  worker.join();
  if (python_error) std::rethrow_exception(python_error);
  if (state.thrown) std::rethrow_exception(state.thrown);
}

}  // namespace ridge::python
