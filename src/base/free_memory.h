// Memory that was freed and that the allocator still holds. What one thread freed serves no other thread: where a large step is
// over, and another begins that needs as much, it goes back to the system.
#pragma once

#include <cstdint>

namespace ridge {

// `events`: of the trace that was worked on; of a small one nothing is worth the time.
void give_back_free_memory(std::uint64_t events);

}  // namespace ridge
