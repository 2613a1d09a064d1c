// The Python parts of a script that are the same in all of them: the files of src/replay/runtime, made part of the binary by
// cmake/EmbedReplay.cmake.
#pragma once

#include <string_view>

namespace ridge {

// By the file's name without its end: "op", "triton", ... Empty where there is none.
std::string_view replay_runtime(std::string_view name);

}  // namespace ridge
