// The version; the build defines it (CMakeLists.txt).
#include <ridge/engine.h>

namespace ridge {

std::string_view version() { return RIDGE_VERSION; }

}  // namespace ridge
