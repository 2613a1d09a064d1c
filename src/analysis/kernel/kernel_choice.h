// Which kernel a user means by NAME: the exact name or label, else the one kernel whose name or label holds it, else the one it
// matches as a regular expression.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <ridge/result.h>

namespace ridge {

struct KernelCandidate {
  std::string_view kernel, label;
  std::int64_t time_ns = 0;
};

// The kernel's name. An error lists the candidates where several fit, and the nearest where none does.
Result<std::string_view> choose_kernel(const std::vector<KernelCandidate>& candidates, const std::string& name);

}  // namespace ridge
