#include "base/version.h"

// The build may define RIDGE_VERSION from its project version.
#ifndef RIDGE_VERSION
#define RIDGE_VERSION "0.1.0"
#endif

namespace ridge {

std::string_view version() { return RIDGE_VERSION; }

}  // namespace ridge
