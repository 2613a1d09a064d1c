// How much memory a loaded trace may take on this machine.
#pragma once

#include <cstdint>

namespace ridge::cli {

// Three quarters of what the machine has: a trace that needs more would make it swap, which looks like a hang. 0: not known.
std::uint64_t machine_memory_limit();

}  // namespace ridge::cli
