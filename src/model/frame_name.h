// The name of a Python frame, "path.py(line): function", taken apart. The line is the function's first.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ridge {

struct FrameName {
  std::string_view file;
  std::int64_t line = 0;
  std::string_view function;
};

// Nothing for built-ins, nn.Module marks and anything else.
std::optional<FrameName> parse_frame_name(std::string_view name);

// The function that Dynamo generates behind a graph break: torch_dynamo_resume_in_<function>_at_<line>, resume_in_<function>
// in 2.2.
struct ResumeName {
  std::string_view function;         // in which the break is
  std::optional<std::int64_t> line;  // of the break
};
std::optional<ResumeName> parse_resume_name(std::string_view function);

// "file.py:85 (outer)". A resumed frame is placed at its break.
std::string location_of(const FrameName& frame);

}  // namespace ridge
