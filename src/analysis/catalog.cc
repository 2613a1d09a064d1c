#include "analysis/catalog.h"

namespace ridge {
namespace {

constexpr Parameter kCheckParameters[] = {
    {"strict", Type::boolean, "exit with 3 when a problem of severity error was found"},
};

constexpr Parameter kKernelsParameters[] = {
    {"by", Type::text, "regroup: launch, op, shape, annotation, module, graph or stream"},
};
constexpr Parameter kOpsParameters[] = {
    {"by", Type::text, "tell calls apart by: shape, module, location, annotation or phase (forward, backward, optimizer)"},
};

constexpr AnalysisRow kRows[] = {
    {{"summary", "the page to read first: where the time went, and what the trace lacks", {}}, run_summary},
    {{"info", "what the trace is: device, options, categories, iterations, tracks", {}}, run_info},
    {{"check", "what is wrong with the file: damage survived, odd events, where", kCheckParameters}, run_check},
    {{"gpu", "how busy each device was, and why it was idle", {}}, run_gpu},
    {{"gaps", "the longest pauses of each device: why, and what ended them", {}}, run_gaps},
    {{"launches", "what it costs to feed the device; is the program launch-bound", {}}, run_launches},
    {{"kernels", "where kernel time went: each kernel's launches and times", kKernelsParameters}, run_kernels},
    {{"categories", "device time by sort of work: Triton by kind, GEMM, convolution, ...", {}}, run_categories},
    {{"copies", "copies and sets by direction: bytes, time, bandwidth", {}}, run_copies},
    {{"collectives", "communication: bytes, time, how much of it was exposed", {}}, run_collectives},
    {{"ops", "what each op cost on the host and on the device", kOpsParameters}, run_ops},
    {{"graphs", "each compiled graph; device time inside and outside compiled code", {}}, run_graphs},
    {{"breaks", "graph breaks: where, why and what they cost; recompiles", {}}, run_breaks},
    {{"compile", "time spent compiling, as a tree of phases, and autotuning", {}}, run_compile},
    {{"memory", "memory by op and over time; who held it at the peak", {}}, run_memory},
};

}  // namespace

std::span<const AnalysisRow> catalog() { return kRows; }

}  // namespace ridge
