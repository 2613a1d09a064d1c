// How a long job tells where it stands and learns that nobody waits for it any more.
#pragma once

#include <cstdint>
#include <functional>

namespace ridge {

// (done, total) in bytes of the input; total is 0 when not known. Returns false to ask the job to stop.
using ProgressFunction = std::function<bool(std::uint64_t done, std::uint64_t total)>;

}  // namespace ridge
