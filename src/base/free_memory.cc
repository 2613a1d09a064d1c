// By glibc's malloc_trim, which looks through the free pages of all threads' arenas; elsewhere nothing.
#include "base/free_memory.h"

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace ridge {
namespace {

constexpr std::uint64_t kLargeTrace = 500'000;

}  // namespace

void give_back_free_memory(std::uint64_t events) {
  if (events < kLargeTrace) return;
#if defined(__GLIBC__)
  ::malloc_trim(0);
#endif
}

}  // namespace ridge
