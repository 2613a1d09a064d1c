// The commit that this program was built from, as git names it; empty where it was not built from a checkout. The build writes
// the function (cmake/Commit.cmake).
#pragma once

#include <string_view>

namespace ridge::cli {

std::string_view commit();

}  // namespace ridge::cli
