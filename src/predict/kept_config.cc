// All but the properties of the file itself are the configuration.
#include "predict/kept_config.h"

#include <algorithm>
#include <array>

#include <simdjson.h>

namespace ridge {
namespace {

constexpr std::size_t kLongestConfig = 200;
constexpr std::array<std::string_view, 4> kOfTheFile = {"configs_hash", "found_by_coordesc", "time_taken_ms",
                                                        "triton_cache_hash"};

}  // namespace

KeptConfigFacts read_kept_config(std::string_view text) {
  KeptConfigFacts out;
  simdjson::dom::parser parser;
  simdjson::dom::object object;
  if (parser.parse(text.data(), text.size()).get(object) != simdjson::SUCCESS) return out;
  for (const auto& [name, value] : object) {
    if (std::ranges::find(kOfTheFile, name) != kOfTheFile.end()) continue;
    out.config += (out.config.empty() ? "\"" : ", \"") + std::string(name) + "\": " + simdjson::minify(value);
  }
  out.config.resize(std::min(out.config.size(), kLongestConfig));
  out.config = "{" + out.config + "}";
  if (std::int64_t ms = 0; object["time_taken_ms"].get(ms) == simdjson::SUCCESS && ms >= 0) out.took_ms = ms;
  if (bool descent = false; object["found_by_coordesc"].get(descent) == simdjson::SUCCESS) out.by_descent = descent;
  return out;
}

}  // namespace ridge
