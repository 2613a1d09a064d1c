// The version of ridge, for layers below the engine. The same function is declared for clients in <ridge/engine.h>.
#pragma once

#include <string_view>

namespace ridge {

std::string_view version();

}  // namespace ridge
