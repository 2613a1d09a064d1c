#include "analysis/catalog.h"

namespace ridge {
namespace {

constexpr Parameter kCheckParameters[] = {
    {"strict", Type::boolean, "exit with 3 when a problem of severity error was found"},
};

constexpr Parameter kKernelsParameters[] = {
    {"by", Type::text, "regroup: launch, op, shape, annotation, module, graph or stream"},
};
constexpr Parameter kKernelParameters[] = {
    {"name", Type::text, "the kernel: its name or label, a part that only one has, or a regular expression"},
};
constexpr Parameter kOpsParameters[] = {
    {"by", Type::text, "tell calls apart by: shape, module, location, annotation or phase (forward, backward, optimizer)"},
};

constexpr Parameter kFindingsParameters[] = {
    {"ignore", Type::text, "findings not to list, by id: one, or several with commas between; may be given again", false, true},
};

constexpr Parameter kDiffParameters[] = {
    {"fail_above", Type::text, "exit with 3 when GPU time per iteration grew by more than this: 5%"},
    {"fail_kernel_above", Type::text,
     "exit with 3 when a matched group grew by more than this, and by more than --min-ns: 10%"},
    {"max_new_breaks", Type::integer, "exit with 3 when there are more new graph breaks than this"},
    {"significant", Type::boolean, "gates count a change only where its interval excludes zero"},
    {"min_ns", Type::number, "least change in ns per iteration that counts; 1000 unless given"},
    {"min_pct", Type::text, "least change in percent that counts as changed; 5% unless given"},
    {"from", Type::number,
     "only whole iterations from this time on, in ms from the window's start; where there is none, what starts then"},
    {"to", Type::number,
     "only whole iterations that end by this time, in ms from the window's start; where there is none, what starts before"},
};

constexpr AnalysisRow kRows[] = {
    {{"summary", "the page to read first: where the time went, and what the trace lacks", {}}, run_summary, true},
    {{"findings", "what to fix first: causes, what each costs at most, and what to do", kFindingsParameters},
     run_findings,
     true},
    {{"info", "what the trace is: device, options, categories, iterations, tracks", {}}, run_info},
    {{"check", "what is wrong with the file, and which figures cannot be right", kCheckParameters, {}, true, 1, true},
     run_check,
     true},
    {{"gpu", "how busy each device was, and why it was idle", {}}, run_gpu},
    {{"gaps", "the longest pauses of each device: why, and what ended them", {}}, run_gaps},
    {{"launches", "what it costs to feed the device; is the program launch-bound", {}}, run_launches},
    {{"kernels", "where kernel time went, and how close to the roof each kernel is", kKernelsParameters}, run_kernels, true},
    {{"kernel", "one kernel in depth: times, grids, ops, shapes, stacks, source", kKernelParameters, "name"}, run_kernel, true},
    {{"roofline", "each kernel against its device's roof; MFU and bandwidth per iteration", {}}, run_roofline, true},
    {{"categories", "device time by sort of work: Triton by kind, GEMM, convolution, ...", {}}, run_categories},
    {{"copies", "copies and sets by direction: bytes, time, bandwidth", {}}, run_copies},
    {{"collectives", "communication: bytes, time, how much of it was exposed", {}}, run_collectives},
    {{"ops", "what each op cost on the host and on the device", kOpsParameters}, run_ops, true},
    {{"graphs", "each compiled graph; device time inside and outside compiled code", {}}, run_graphs},
    {{"breaks", "graph breaks: where, why and what they cost; recompiles", {}}, run_breaks},
    {{"compile", "time spent compiling, as a tree of phases, and autotuning", {}}, run_compile},
    {{"memory", "memory by op and over time; who held it at the peak", {}}, run_memory},
    {{"diff", "what changed between two traces or more, matched by meaning", kDiffParameters, {}, true, 2},
     nullptr,
     true,
     nullptr,
     run_diff},
    {{"devices", "the devices whose peaks are known, and where the figures are from", {}, {}, false},
     nullptr,
     true,
     run_devices},
};

}  // namespace

std::span<const AnalysisRow> catalog() { return kRows; }

}  // namespace ridge
