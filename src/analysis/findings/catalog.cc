// The table: id, title and rule of every finding, in the order in which they claim time.
#include "analysis/findings/catalog.h"

namespace ridge {
namespace {

constexpr bool kWork = true, kIdleAlone = false;
constexpr CauseSet kLate = {IdleCause::launch, IdleCause::recorder};
constexpr CauseSet kBetweenKernels = {IdleCause::launch, IdleCause::recorder, IdleCause::kernel_gap};
// What the compiler runs to tune and to fold makes the device wait as any program does.
constexpr CauseSet kCompiler = {IdleCause::compile,   IdleCause::guards, IdleCause::sync,     IdleCause::copy_wait,
                                IdleCause::allocator, IdleCause::launch, IdleCause::recorder, IdleCause::kernel_gap};
// Calls in which the profiler does its own work.
constexpr CauseSet kDriverCalls = {IdleCause::launch, IdleCause::recorder, IdleCause::sync, IdleCause::copy_wait,
                                   IdleCause::allocator};
constexpr CauseSet kBreak = {IdleCause::launch, IdleCause::recorder,  IdleCause::guards,
                             IdleCause::sync,   IdleCause::copy_wait, IdleCause::kernel_gap};
// What mending such causes brought, against what goes with them in the replay: caches that a copy or an allocation had emptied,
// Python and autograd around kernels that go, work that the same change does away with. The power to which the step that is
// left was best told by, over the pairs of docs/accuracy.md that were read (1.1 to 1.25 do about as well); where it was 1 or is
// not known, nothing is added.
constexpr double kMore = 1.15;

constexpr FindingRow kRows[] = {
    {"autotune_in_window", "autotuning inside the window", find_autotune_in_window, kCompiler, kWork},
    {"recompiles", "recompiles inside the window", find_recompiles, kCompiler, kWork},
    {"compile_in_window", "compilation inside the window", find_compile_in_window, {IdleCause::compile}, kWork},
    {"profiler_overhead", "the profiler slows the program down", find_profiler_overhead, kDriverCalls},
    {"allocator",
     "the driver allocates or frees device memory in steady state",
     find_allocator,
     {IdleCause::allocator},
     kIdleAlone,
     kLate,
     kMore},
    {"dataloader", "the device waits for the next batch", find_dataloader, {IdleCause::dataloader}, kIdleAlone, kLate, kMore},
    {"pageable_copy",
     "copies from or to pageable host memory",
     find_pageable_copy,
     {IdleCause::copy_wait},
     kWork,
     kBetweenKernels,
     kMore},
    {"graph_breaks", "graph breaks: compiled frames are left and resumed", find_graph_breaks, kBreak, kIdleAlone},
    {"host_sync",
     "host sync: the host waits for the device, then the device for the host",
     find_host_sync,
     {IdleCause::sync, IdleCause::copy_wait, IdleCause::launch, IdleCause::recorder},
     kWork,
     kBetweenKernels},
    {"recompile_limit",
     "frames that hit the recompile limit run eager",
     find_recompile_limit,
     {IdleCause::launch, IdleCause::recorder, IdleCause::guards},
     kWork,
     kBetweenKernels},
    {"guard_overhead",
     "the device idles while Dynamo checks guards",
     find_guard_overhead,
     {IdleCause::guards},
     kIdleAlone,
     {IdleCause::launch}},
    {"cpu_kernels",
     "the device waits while compiled code computes on the host",
     find_cpu_kernels,
     {IdleCause::launch, IdleCause::recorder}},
    {"preprocessing",
     "the host works at length before the first launch of a step",
     find_preprocessing,
     {IdleCause::launch, IdleCause::recorder, IdleCause::head_tail},
     kWork,
     kLate,
     kMore},
    {"exposed_communication",
     "communication that does not overlap with computation",
     find_exposed_communication,
     {IdleCause::dependency},
     kWork},
    {"optimizer_not_fused", "the optimizer updates parameters with many small kernels", find_optimizer_not_fused,
     kBetweenKernels, kWork, kBetweenKernels, kMore},
    {"unfused_attention",
     "attention as separate matmul, softmax and matmul",
     find_unfused_attention,
     {},
     kWork,
     kBetweenKernels,
     kMore},
    {"repeated_casts", "parameters are cast to another dtype at every use", find_repeated_casts, kBetweenKernels, kWork,
     kBetweenKernels},
    {"remade_constants",
     "tensors that depend on no data are made again and again",
     find_remade_constants,
     {},
     kWork,
     kBetweenKernels,
     kMore},
    {"duplicate_casts", "tensors are cast and cast back", find_duplicate_casts, {}, kWork, kBetweenKernels, kMore},
    {"layout_transforms", "layout transforms around convolutions", find_layout_transforms, {}, kWork, kBetweenKernels},
    {"tiny_kernels", "long runs of kernels shorter than their launch", find_tiny_kernels, kBetweenKernels, kWork,
     kBetweenKernels, kMore},
    {"tf32_off", "float32 matmuls and convolutions without TF32", find_tf32_off, {}, kWork},
    {"gemm_alignment", "matrix sizes that do not suit tensor cores", find_gemm_alignment, {}, kWork},
    {"unfused_pointwise",
     "chains of pointwise kernels that could be fused",
     find_unfused_pointwise,
     {},
     kWork,
     kBetweenKernels},
    {"inductor_fallback", "ops for which Inductor falls back to ATen", find_inductor_fallback, {}},
    {"memory_bound_inefficient",
     "memory-bound kernels far below peak bandwidth",
     find_memory_bound_inefficient,
     {},
     kWork,
     kBetweenKernels},
    {"slow_kernel", "kernels that take far longer than such work takes here", find_slow_kernel, {}, kWork},
    {"host_pause", "long GPU idle while the host does other work", find_host_pause, {IdleCause::launch, IdleCause::recorder}},
    {"launch_bound", "launch-bound: the device waits for launches", find_launch_bound, kBetweenKernels, kWork, kBetweenKernels},
    {"first_iteration_outlier", "the first iteration is far slower than the others", find_first_iteration_outlier, {}},
};

}  // namespace

std::span<const FindingRow> finding_catalog() { return kRows; }

}  // namespace ridge
