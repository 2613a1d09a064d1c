// Bytes that the searches of ingest pass over, counted as work (base/work_count.h).
#pragma once

#include "base/work_count.h"

namespace ridge {

// A search went from one place to another, in either direction; gives the other place.
inline const char* visited(const char* from, const char* to) {
  count_work(static_cast<std::uint64_t>(from < to ? to - from : from - to));
  return to;
}

}  // namespace ridge
