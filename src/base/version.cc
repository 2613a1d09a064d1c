// The version; the build defines it (CMakeLists.txt).
#include "base/version.h"

namespace ridge {

std::string_view version() { return RIDGE_VERSION; }

}  // namespace ridge
