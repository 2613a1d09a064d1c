// The first line of a diff: by how much GPU and wall time changed, of what, and in how many groups.
#pragma once

#include <string>

#include "analysis/diff/diff.h"

namespace ridge::diff {

std::string headline(const Diff& diff);

}  // namespace ridge::diff
