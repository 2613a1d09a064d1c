// The part that a library's or ATen's kernel does in an op, as its name tells. A table with one row per pattern and family.
// Pure: equal names give equal answers, so the caller keeps them.
#pragma once

#include <string_view>

#include "ops/op_work.h"

namespace ridge {

// The role of a kernel of that name in an op of that family; main when no rule says otherwise.
KernelRole role_of(OpFamily family, std::string_view kernel);

}  // namespace ridge
