// The table: id, title and rule of every finding, in the order in which they claim time.
#include "analysis/findings/catalog.h"

namespace ridge {
namespace {

constexpr FindingRow kRows[] = {
    {"autotune_in_window", "autotuning inside the window", find_autotune_in_window},
    {"recompiles", "recompiles inside the window", find_recompiles},
    {"compile_in_window", "compilation inside the window", find_compile_in_window},
    {"profiler_overhead", "the profiler slows the program down", find_profiler_overhead},
    {"allocator", "the driver allocates or frees device memory in steady state", find_allocator},
    {"dataloader", "the device waits for the next batch", find_dataloader},
    {"pageable_copy", "copies from or to pageable host memory", find_pageable_copy},
    {"graph_breaks", "graph breaks: compiled frames are left and resumed", find_graph_breaks},
    {"host_sync", "host sync: the host waits for the device, then the device for the host", find_host_sync},
    {"recompile_limit", "frames that hit the recompile limit run eager", find_recompile_limit},
    {"guard_overhead", "the device idles while Dynamo checks guards", find_guard_overhead},
    {"cpu_kernels", "the device waits while compiled code computes on the host", find_cpu_kernels},
    {"preprocessing", "the host works at length before the first launch of a step", find_preprocessing},
    {"exposed_communication", "communication that does not overlap with computation", find_exposed_communication},
    {"optimizer_not_fused", "the optimizer updates parameters with many small kernels", find_optimizer_not_fused},
    {"unfused_attention", "attention as separate matmul, softmax and matmul", find_unfused_attention},
    {"repeated_casts", "parameters are cast to another dtype at every use", find_repeated_casts},
    {"duplicate_casts", "tensors are cast and cast back", find_duplicate_casts},
    {"layout_transforms", "layout transforms around convolutions", find_layout_transforms},
    {"tiny_kernels", "long runs of kernels shorter than their launch", find_tiny_kernels},
    {"tf32_off", "float32 matmuls and convolutions without TF32", find_tf32_off},
    {"gemm_alignment", "matrix sizes that do not suit tensor cores", find_gemm_alignment},
    {"unfused_pointwise", "chains of pointwise kernels that could be fused", find_unfused_pointwise},
    {"inductor_fallback", "ops for which Inductor falls back to ATen", find_inductor_fallback},
    {"memory_bound_inefficient", "memory-bound kernels far below peak bandwidth", find_memory_bound_inefficient},
    {"host_pause", "long GPU idle while the host does other work", find_host_pause},
    {"launch_bound", "launch-bound: the device waits for launches", find_launch_bound},
    {"first_iteration_outlier", "the first iteration is far slower than the others", find_first_iteration_outlier},
};

}  // namespace

std::span<const FindingRow> finding_catalog() { return kRows; }

}  // namespace ridge
