// A table that is made once and stays until the process is gone. One that is destroyed at exit goes while threads of a server,
// or of a Python program that ends, may still read it.
#pragma once

#include <utility>

namespace ridge {

template <typename T>
const T& lasting(T value) {
  return *new T(std::move(value));
}

}  // namespace ridge
