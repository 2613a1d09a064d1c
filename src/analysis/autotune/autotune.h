// autotune: what a compiler tried out inside the window, how long each configuration took, which one the program then ran, and
// what trying cost; what it would have cost to try only those that are expected to be fast. With the compiler's cache also what
// was not tried because it was known.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ridge/report.h>

#include "facts/scope.h"
#include "predict/tile_features.h"

namespace ridge {

// One configuration, or a kernel of a library, that was timed.
struct TriedConfig {
  std::string_view call;  // the op that launched it
  std::string kernel;     // its kernel, the longest of several
  std::optional<std::int64_t> warps, stages, registers, shared_bytes;
  std::string_view grid, block;
  std::string_view dims, types, strides;  // of the op, as the trace has them
  std::int64_t launches = 0;
  std::int64_t wall_ns = 0;  // until the next one begins
  std::int64_t gpu_ns = 0;
  std::int64_t min_ns = 0, median_ns = 0;  // of one call
  std::optional<TritonTile> tile;          // of a product by Inductor's template
  std::optional<double> expected_ns;
  std::int64_t place = 0, expected_place = 0;  // among those of its tuning, the fastest first; 0: not known
  bool ran = false;                            // the program ran it then
  bool of_program = false;                     // a kernel that the program launches itself, under no op
};

// One time that a compiler looked for the best.
struct TunedOnce {
  std::string_view how;            // "mm_template_autotuning", ...: the compiler's name for it; kOwnTuner
  std::string what;                // the kernel or the product
  std::vector<TriedConfig> tried;  // in the order in which they were
  std::int64_t wall_ns = 0, gpu_ns = 0, launches = 0;
  std::int64_t began_ns = 0, ended_ns = 0;  // the first of them, and when the tuner was done

  const TriedConfig* fastest() const;
  const TriedConfig* chosen() const;  // nullptr where the trace does not show which one ran
  // The place of the fastest in the order of what was expected, over those that have an expected time.
  std::optional<std::int64_t> expected_place() const;
  // The host's time with those that are not among the first few.
  std::optional<std::int64_t> wall_beyond_ns(std::int64_t few) const;
};

enum class KeptState : std::uint8_t { hit, tuned_here, not_run };

struct KeptTuning {
  std::string file, kernel, config;
  std::optional<std::int64_t> took_ms;
  std::optional<bool> by_descent;
  KeptState state = KeptState::not_run;
};

struct Autotune {
  std::vector<TunedOnce> tunings;  // in order of time
  std::vector<KeptTuning> kept;    // of --inductor-cache
  bool has_cache = false;
};

inline constexpr std::int64_t kTriedFirst = 5;
inline constexpr std::string_view kOwnTuner = "triton.autotune";  // of a kernel that the program brings

Autotune compute_autotune(const Scope& scope);
Report report_autotune(const Autotune& autotune);

// autotune_ranks.cc: products, their tiles and what is expected of them.
void rank_by_expectation(const Scope& scope, TunedOnce* tuning);
// autotune_kept.cc: the files of the cache, against what the program ran.
std::vector<KeptTuning> kept_tunings(const Scope& scope, const std::vector<TunedOnce>& tunings, bool* has_cache);

}  // namespace ridge
