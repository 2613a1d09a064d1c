// A folder given where a trace is wanted.
#pragma once

#include <string>

#include <ridge/result.h>

namespace ridge {

// `path` itself when it is no folder; the one trace inside when there is just one; an error that lists them otherwise.
Result<std::string> resolve_folder(const std::string& path);

}  // namespace ridge
