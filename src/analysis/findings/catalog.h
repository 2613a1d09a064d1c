// The catalog of findings: one row per rule, from the most specific cause to the most general, which is the order in which they
// claim time.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "analysis/findings/facts.h"

namespace ridge {

struct FindingRow {
  std::string_view id;           // stable: what --ignore takes
  std::string_view description;  // one line, for help and documents
  std::optional<Finding> (*find)(Facts& facts);
  // What it may claim, and the ledger gives it no other time: idle time by cause, and the time of work.
  CauseSet idle;
  bool work = false;
  // Idle time that may become shorter too, because the host is earlier with what follows; it stays open to others.
  CauseSet reach = {};
  // What mending brings beyond what goes with the cause in the replay: the step that is left, to this power.
  double spreads = 1;
};

std::span<const FindingRow> finding_catalog();

// One per rule, each in its own file.
std::optional<Finding> find_autotune_in_window(Facts& facts);
std::optional<Finding> find_recompiles(Facts& facts);
std::optional<Finding> find_compile_in_window(Facts& facts);
std::optional<Finding> find_profiler_overhead(Facts& facts);
std::optional<Finding> find_allocator(Facts& facts);
std::optional<Finding> find_dataloader(Facts& facts);
std::optional<Finding> find_pageable_copy(Facts& facts);
std::optional<Finding> find_graph_breaks(Facts& facts);
std::optional<Finding> find_host_sync(Facts& facts);
std::optional<Finding> find_recompile_limit(Facts& facts);
std::optional<Finding> find_guard_overhead(Facts& facts);
std::optional<Finding> find_cpu_kernels(Facts& facts);
std::optional<Finding> find_preprocessing(Facts& facts);
std::optional<Finding> find_exposed_communication(Facts& facts);
std::optional<Finding> find_optimizer_not_fused(Facts& facts);
std::optional<Finding> find_unfused_attention(Facts& facts);
std::optional<Finding> find_repeated_casts(Facts& facts);
std::optional<Finding> find_duplicate_casts(Facts& facts);
std::optional<Finding> find_remade_constants(Facts& facts);
std::optional<Finding> find_layout_transforms(Facts& facts);
std::optional<Finding> find_tiny_kernels(Facts& facts);
std::optional<Finding> find_tf32_off(Facts& facts);
std::optional<Finding> find_gemm_alignment(Facts& facts);
std::optional<Finding> find_unfused_pointwise(Facts& facts);
std::optional<Finding> find_inductor_fallback(Facts& facts);
std::optional<Finding> find_memory_bound_inefficient(Facts& facts);
std::optional<Finding> find_slow_kernel(Facts& facts);
std::optional<Finding> find_host_pause(Facts& facts);
std::optional<Finding> find_launch_bound(Facts& facts);
std::optional<Finding> find_first_iteration_outlier(Facts& facts);

}  // namespace ridge
