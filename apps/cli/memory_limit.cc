// Three quarters of the physical memory, as sysconf reports it.
#include "memory_limit.h"

#include <unistd.h>

namespace ridge::cli {

std::uint64_t machine_memory_limit() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page_bytes = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page_bytes <= 0) return 0;
  return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_bytes) / 4 * 3;
}

}  // namespace ridge::cli
