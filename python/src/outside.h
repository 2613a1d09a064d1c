// Outside: the GIL is given back while the engine works. A thread that comes back for it while Python is being finalised is
// ended on the spot, which C++ does not survive: so the package tells of the end before (`end`), and the end waits until nobody
// is outside.
#pragma once

#include <nanobind/nanobind.h>

namespace ridge::python {

class Outside {
 public:
  Outside();  // with the GIL
  ~Outside();
  Outside(const Outside&) = delete;
  Outside& operator=(const Outside&) = delete;

 private:
  PyThreadState* state_;
};

// The program ends, and this is not the thread that ends it: what is under way stops.
bool is_to_stop();

// What such a thread is left with: it ends without a word.
[[noreturn]] void end_thread();

void register_outside(nanobind::module_& module);

}  // namespace ridge::python
