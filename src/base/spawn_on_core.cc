// Linux: sets the thread's affinity once, then gives it back. Elsewhere nothing is done.
#include "base/spawn_on_core.h"

#if defined(__linux__)
#include <pthread.h>
#include <sched.h>

#include <vector>
#endif

namespace ridge {

#if defined(__linux__)

void place_apart(std::jthread* thread, unsigned number, unsigned threads) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  const auto count = static_cast<unsigned>(CPU_COUNT(&allowed));
  const int here = sched_getcpu();
  if (here < 0 || count > threads || number % count == 0) return;
  std::vector<std::size_t> others;  // the processors but the maker's, from the next one on
  for (std::size_t i = 1; i < CPU_SETSIZE; ++i) {
    const std::size_t processor = (static_cast<std::size_t>(here) + i) % CPU_SETSIZE;
    if (CPU_ISSET(processor, &allowed)) others.push_back(processor);
  }
  if (others.empty()) return;
  cpu_set_t own;
  CPU_ZERO(&own);
  CPU_SET(others[(number - 1) % others.size()], &own);
  // Moves it. Of a thread that has ended already glibc takes both calls for the caller's own, which is then moved, and bound no
  // more than it was.
  pthread_setaffinity_np(thread->native_handle(), sizeof own, &own);
  pthread_setaffinity_np(thread->native_handle(), sizeof allowed, &allowed);
}

#else

void place_apart(std::jthread*, unsigned, unsigned) {}

#endif

}  // namespace ridge
