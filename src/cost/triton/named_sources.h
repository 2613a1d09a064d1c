// Sources of kernels for who runs them: only out of what the user named.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ridge {

class NamedKernelSources {
 public:
  virtual ~NamedKernelSources() = default;
  // Texts that may hold the kernel, the likeliest first, out of the folder that the user named. What is to be run is never read
  // at a path that a trace tells: `kernel_file` counts by its end inside the folder alone.
  virtual std::vector<std::string> find_named(std::string_view kernel_file, std::string_view kernel) const = 0;
};

}  // namespace ridge
