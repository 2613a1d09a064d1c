// Scope: what an analysis works on. Every analysis takes one, so that the flags which narrow it are written once.
#pragma once

#include <span>

#include "trace/trace.h"

namespace ridge {

struct Scope {
  std::span<const Trace* const> traces;  // never empty

  const Trace& trace() const { return *traces.front(); }
};

}  // namespace ridge
