// What a compiler's cache has kept of one tuning: a `.best_config` file of Inductor. Foreign text: what cannot be read is not
// told.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ridge {

struct KeptConfigFacts {
  std::string config;  // JSON: {"XBLOCK": 1024, "num_warps": 16, ..}; empty where the file is none
  std::optional<std::int64_t> took_ms;
  std::optional<bool> by_descent;
};

KeptConfigFacts read_kept_config(std::string_view text);

}  // namespace ridge
