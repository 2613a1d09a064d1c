// Errors of the engine as Python's exceptions: ridge.Error with code, message, where and hint.
#pragma once

#include <utility>

#include <nanobind/nanobind.h>

#include <ridge/result.h>

namespace ridge::python {

// Thrown where the GIL is not needed; becomes a Python exception at the border.
struct Raised {
  Error error;
};

template <class T>
T or_raise(Result<T> result) {
  if (!result) throw Raised{std::move(result.error())};
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

void register_errors(nanobind::module_& module);

}  // namespace ridge::python
