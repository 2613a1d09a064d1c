// Who is outside is counted with the GIL held. No lock: after a fork somebody else might hold it for ever.
#include "outside.h"

#include <atomic>
#include <chrono>
#include <thread>

#include <pthread.h>

namespace nb = nanobind;

namespace ridge::python {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{1};
constexpr std::chrono::seconds kPatience{10};  // all that is long can be stopped; an end that never comes would be worse

std::atomic<int> outside = 0;
std::atomic<std::thread::id> ending;  // the thread that ends the program

static_assert(std::atomic<std::thread::id>::is_always_lock_free);

void end() {
  ending = std::this_thread::get_id();
  if (outside != 0) nb::set_leak_warnings(false);  // what those threads hold is never given back
  const nb::gil_scoped_release release;
  const auto last = std::chrono::steady_clock::now() + kPatience;
  while (outside != 0 && std::chrono::steady_clock::now() < last) std::this_thread::sleep_for(kBetweenLooks);
}

}  // namespace

Outside::Outside() {
  if (is_to_stop()) end_thread();
  ++outside;
  state_ = PyEval_SaveThread();
}

Outside::~Outside() {
  PyEval_RestoreThread(state_);
  --outside;
}

bool is_to_stop() {
  const std::thread::id by = ending;
  return by != std::thread::id() && by != std::this_thread::get_id();
}

void end_thread() {
  PyErr_SetNone(PyExc_SystemExit);
  throw nb::python_error();
}

void register_outside(nb::module_& module) {
  pthread_atfork(nullptr, nullptr, [] { outside = 0; });  // the others stayed behind
  module.def("end", end);
}

}  // namespace ridge::python
