// Short names for several files that tell them apart: the file's name, with as many of its folders as it takes.
#pragma once

#include <string>
#include <vector>

namespace ridge {

// In the order of the paths. "r0/trace.json" and "r1/trace.json" keep their folders; a path that is given twice gets a number.
std::vector<std::string> distinct_names(const std::vector<std::string>& paths);

}  // namespace ridge
