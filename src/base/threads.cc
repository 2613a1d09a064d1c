// The arena of a Threads: as many places for workers as it allows, and those for the ones who ask.
#include "base/threads.h"

#include <algorithm>

#include <tbb/info.h>

namespace ridge {

tbb::task_arena& Threads::arena() {
  std::call_once(made_, [&] {
    const auto cores = static_cast<unsigned>(tbb::info::default_concurrency());
    // oneTBB's pool has no more workers than cores, and prints a warning of its own where more are asked for.
    const int most = static_cast<int>(most_ != 0 ? std::min(most_, cores) : cores);
    arena_.emplace(kAskers + most - 1, kAskers);
  });
  return *arena_;
}

}  // namespace ridge
