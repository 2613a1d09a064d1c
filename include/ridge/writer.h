// Writer: where text goes as it is made. It is called with one piece after the other; an error ends the writing.
#pragma once

#include <functional>
#include <string_view>

#include <ridge/result.h>

namespace ridge {

using Writer = std::function<Result<void>(std::string_view)>;

}  // namespace ridge
