#include "analysis/findings/catalog.h"

namespace ridge {
namespace {

constexpr FindingRow kRows[] = {
    {"autotune_in_window", "kernels are tuned inside the window", find_autotune_in_window},
    {"recompiles", "frames are compiled again inside the window", find_recompiles},
    {"compile_in_window", "frames are compiled inside the window", find_compile_in_window},
    {"profiler_overhead", "the profiler itself holds the program up", find_profiler_overhead},
    {"allocator", "device memory is asked from the driver, or given back, in steady state", find_allocator},
    {"dataloader", "the device waits for the next batch", find_dataloader},
    {"pageable_copy", "host memory that is not pinned is copied to or from the device", find_pageable_copy},
    {"graph_breaks", "compiled frames are left and resumed", find_graph_breaks},
    {"host_sync", "the host waits for the device, which then waits for the host", find_host_sync},
    {"recompile_limit", "frames that Dynamo gave up on run eager", find_recompile_limit},
    {"guard_overhead", "looking up compiled code holds the device up", find_guard_overhead},
    {"exposed_communication", "communication that no computation covers", find_exposed_communication},
    {"optimizer_not_fused", "the optimizer updates parameters by many small kernels", find_optimizer_not_fused},
    {"unfused_attention", "attention by product, softmax, product", find_unfused_attention},
    {"duplicate_casts", "tensors are cast forth and back", find_duplicate_casts},
    {"layout_transforms", "convolutions change the layout of their tensors", find_layout_transforms},
    {"tiny_kernels", "long runs of kernels that are shorter than their launch", find_tiny_kernels},
    {"tf32_off", "float32 matrix work does not use the TF32 units", find_tf32_off},
    {"gemm_alignment", "sizes of matrices that the tensor cores cannot load well", find_gemm_alignment},
    {"unfused_pointwise", "chains of pointwise kernels that one kernel could do", find_unfused_pointwise},
    {"inductor_fallback", "ops that Inductor left to ATen", find_inductor_fallback},
    {"memory_bound_inefficient", "memory-bound kernels far below the bandwidth", find_memory_bound_inefficient},
    {"host_pause", "the device waits while the host does something else", find_host_pause},
    {"launch_bound", "the device waits for launches", find_launch_bound},
    {"first_iteration_outlier", "the first iteration is no example of the others", find_first_iteration_outlier},
};

}  // namespace

std::span<const FindingRow> finding_catalog() { return kRows; }

}  // namespace ridge
