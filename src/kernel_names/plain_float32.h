// Whether a library's matrix kernel computes in float32 on the ordinary units rather than on tensor cores. Its name tells:
// sgemm, simt, ffma against tf32 or tensorop.
#pragma once

#include <string_view>

namespace ridge {

bool is_plain_float32(std::string_view kernel);

}  // namespace ridge
