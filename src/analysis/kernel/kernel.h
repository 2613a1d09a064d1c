// kernel NAME: one kernel in depth. All launches of that name in the scope, whatever their device, hash or stream.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ridge/report.h>
#include <ridge/result.h>

#include "cost/triton/kernel_source.h"
#include "facts/cost_sum.h"
#include "facts/scope.h"

namespace ridge {

// Launches that agree in something: how many, how long, and what they had to do.
struct LaunchGroup {
  std::int64_t count = 0, time_ns = 0;
  std::int64_t timed = 0;  // launches whose duration is known: the time is theirs
  CostSum cost;
  KnownSum expected;  // ns that such work takes (src/predict)
};

struct LaunchConfig : LaunchGroup {
  std::string_view grid, block;  // as the trace has them
  std::optional<std::int64_t> registers_per_thread, shared_memory_bytes;
  std::optional<double> blocks_per_sm, warps_per_sm, occupancy_pct;
};

struct KernelShape : LaunchGroup {
  std::string_view op, input_dims, input_types;
};

struct KernelStack : LaunchGroup {
  std::string location, module, annotation;
  std::string stack;  // Python frames, innermost first
};

struct KernelSourceUse : LaunchGroup {
  std::string_view file, hash, kwargs, backend;
  SourceMatch match = SourceMatch::unknown;
  std::optional<std::string> text;
};

struct KernelDetail {
  std::string_view kernel, label, library;
  std::vector<std::string> fused_ops;
  Category category = Category::other;
  LaunchGroup all;
  std::int64_t kernel_time_ns = 0;         // of all kernels in the scope
  std::vector<std::int64_t> durations_ns;  // ascending; of the launches that say theirs
  std::int64_t autotune_count = 0, graph_count = 0;
  // Most time first.
  std::vector<LaunchConfig> configs;
  std::vector<KernelShape> shapes;
  std::vector<KernelStack> stacks;
  std::vector<KernelSourceUse> sources;
  std::vector<std::pair<std::int64_t, LaunchGroup>> streams;
  std::vector<Diagnostic> diagnostics;
};

Result<KernelDetail> compute_kernel(const Scope& scope, const std::string& name);
Report report_kernel(const KernelDetail& kernel);

// The duration at or below which that share (0 to 1) of the launches lie: nearest rank. `durations` ascend and are not empty.
std::int64_t percentile(const std::vector<std::int64_t>& durations, double share);

}  // namespace ridge
