// The arena of a Threads: as many places for workers as it allows, and those for the ones who ask.
#include "base/threads.h"

#include <algorithm>

#include <tbb/info.h>

namespace ridge {

tbb::task_arena& Threads::arena() {
  std::call_once(made_, [&] {
    constexpr unsigned kMostThreads = 1024;
    const int most = most_ != 0 ? static_cast<int>(std::min(most_, kMostThreads)) : tbb::info::default_concurrency();
    arena_.emplace(kAskers + most - 1, kAskers);
  });
  return *arena_;
}

}  // namespace ridge
