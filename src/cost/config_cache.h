// ConfigCache: what a compiler has kept of its autotuning, as files of its cache. Sources of kernels that lie in such a cache
// (KernelSources) may also tell this.
#pragma once

#include <string>
#include <vector>

namespace ridge {

struct KeptConfig {
  std::string file;                  // below the cache's folder
  std::string text;                  // JSON, as it was found: not to be trusted
  std::vector<std::string> kernels;  // kernels whose sources lie in the same folder; one, but for chance
};

class ConfigCache {
 public:
  virtual ~ConfigCache() = default;
  virtual std::vector<KeptConfig> kept_configs() const = 0;  // in order of their files; empty without a folder
};

}  // namespace ridge
