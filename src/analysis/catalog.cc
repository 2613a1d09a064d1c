// The table itself: name, description, own parameters and function of every analysis, in the order of help.
#include "analysis/catalog.h"

#include "analysis/replay/replay.h"

namespace ridge {
namespace {

// Answered by the engine, which knows SQL.
constexpr Parameter kBySql = {"by_sql", Type::text, "a query of yours whose rows mean failure: listed, and exit 3; repeatable",
                              false, true};

constexpr Parameter kCheckParameters[] = {
    {"strict", Type::boolean, "exit with 3 if there is a problem of severity error"},
    kBySql,
};

constexpr Parameter kKernelsParameters[] = {
    {"by", Type::text, "group by launch, op, shape, annotation, module, graph, stream or stage (prefill, decode)"},
};
constexpr Parameter kCategoriesParameters[] = {
    {"by", Type::text, "group by annotation, module, graph, stream or stage (prefill, decode)"},
};
constexpr Parameter kKernelParameters[] = {
    {"name", Type::text, "the kernel: its name or label, a unique part of one, or a regular expression"},
};
constexpr Parameter kOpsParameters[] = {
    {"by", Type::text, "group by shape, module, location, annotation, phase (forward, ..) or stage (prefill, decode)"},
};

constexpr Parameter kStepTime = {"step_time", Type::number,
                                 "what a step takes without the profiler, in ms, as you measured it"};
constexpr Parameter kSummaryParameters[] = {kStepTime};
constexpr Parameter kFindingsParameters[] = {
    kStepTime,
    {"ignore", Type::text, "ids of findings to hide, separated by commas; repeatable", false, true},
    {"all", Type::boolean, "also list every cause that is looked for, found or not"},
    {"claim", Type::text, "list the time that this finding claims too, piece by piece, and by iteration"},
    kBySql,
};

constexpr Parameter kCriticalParameters[] = {
    {"by", Type::text, "name pieces by op or location (of the user's code); without it by kernel, call and op"},
    {"without_profiler", Type::boolean, "of the step as it would be without the profiler"},
    kStepTime,
};
constexpr Parameter kWhatIfParameters[] = {
    kStepTime,
    {"do", Type::text, "a change: kernel:REGEX=0.5x, op:REGEX=+50us, host=0.8x, no-sync, cuda-graphs, ...; repeatable", false,
     true},
    {"recorded", Type::boolean, "changes start from the step as recorded, not from that without the profiler"},
};

constexpr Parameter kDiffParameters[] = {
    {"fail_above", Type::text, "exit with 3 if GPU time per iteration grew by more than this, e.g. 5%"},
    {"fail_kernel_above", Type::text,
     "exit with 3 if a matched group grew by more than this and by more than --min-ns, e.g. 10%"},
    {"max_new_breaks", Type::integer, "exit with 3 if there are more new graph breaks than this"},
    {"significant", Type::boolean, "gates count only changes whose 95 % interval excludes zero"},
    {"min_ns", Type::number, "smallest change in ns per iteration that counts (default 1000)"},
    {"min_pct", Type::text, "smallest change in percent that counts as changed (default 5%)"},
    {"from", Type::number,
     "only whole iterations from this time on, in ms from the window's start; if there is none, all work from then on"},
    {"to", Type::number,
     "only whole iterations that end by this time, in ms from the window's start; if there is none, all work that starts "
     "before"},
};

constexpr Parameter kArrivalsParameters[] = {
    {"rank", Type::integer, "only collectives that this rank takes part in"},
    {"at", Type::integer, "with --rank: only the one that it began then, in ns from the start of its first step"},
};

constexpr Parameter kRanksParameters[] = {
    {"digest", Type::text, "write what this needs of each trace to a file, or to a folder, instead of answering", true},
    {"before", Type::text, "folder or digests of the job as it was: tells what changed since", true},
    {"findings", Type::boolean, "also the findings of each rank, and which ranks each holds for"},
    {"network_gbps", Type::number, "Gbit/s of each GPU's network port: what bus bandwidth between nodes is a share of"},
};

constexpr Parameter kPredictParameters[] = {
    {"ops", Type::text, "JSON lines, one op call each, instead of a trace", true},
    {"calibrate", Type::boolean, "print the script that records op times on your own device"},
    {"features", Type::boolean, "also list what the table is asked by"},
};

constexpr Parameter kReplayParameters[] = {
    {"kernel", Type::text, "the call that launched this kernel: its name, a unique part of it, or a regular expression"},
    {"op", Type::text, "the call of this op: aten::mm, or mm"},
    {"shape", Type::text, "of several calls the one with these shapes: 4096x4096,4096x512 (or the first of them)"},
    {"all", Type::boolean, "a script for every call; -o names a folder, which gets an index.json too"},
    {"top", Type::integer, "the same for the N calls with most time"},
    {"source", Type::text, "file with the source of the Triton kernel, or the module that Inductor generated", true},
    {"trust_source", Type::boolean, "take the source whole, whatever else it does: it is run by the script"},
};

constexpr AnalysisRow kRows[] = {
    {{"summary", "read this first: where the time went, and what the trace lacks", kSummaryParameters}, run_summary, true},
    {{"findings", "what to fix first: causes, the most that each can save, what to do", kFindingsParameters},
     run_findings,
     true},
    {{"info", "what is in the trace: device, profiler options, categories, iterations, tracks", {}}, run_info},
    {{"check", "what is wrong with the file, and which metrics are implausible", kCheckParameters, {}, true, 1, true},
     run_check,
     true},
    {{"gpu", "how busy each device was, and why it was idle", {}}, run_gpu},
    {{"gaps", "the longest idle gaps of each device: cause, and what ended them", {}}, run_gaps},
    {{"launches", "launch overhead and queue depth; is the program launch-bound", {}}, run_launches},
    {{"kernels", "where kernel time went, and how close to the roof each kernel is", kKernelsParameters}, run_kernels, true},
    {{"kernel", "one kernel in depth: times, grids, ops, shapes, stacks, source", kKernelParameters, "name"}, run_kernel, true},
    {{"roofline", "each kernel against its device's roof; MFU and bandwidth per iteration", {}}, run_roofline, true},
    {{"categories", "device time by kind of work: Triton, GEMM, convolution, ...", kCategoriesParameters}, run_categories},
    {{"predict", "what each op call should take on a device, with an interval", kPredictParameters, {}, true, 1, false, true},
     run_predict,
     true,
     run_predict_alone},
    {{"replay", "a script that runs one call of the trace alone: its inputs, its kernel", kReplayParameters}, run_replay, true},
    {{"copies", "memcpy and memset by direction: bytes, time, bandwidth", {}}, run_copies},
    {{"collectives", "communication: bytes, time, how much of it was exposed", {}}, run_collectives},
    {{"ops", "what each op cost on the host and on the device", kOpsParameters}, run_ops, true},
    {{"graphs", "each compiled graph; device time inside and outside compiled code", {}}, run_graphs},
    {{"breaks", "graph breaks: where, why and what they cost; recompiles", {}}, run_breaks},
    {{"compile", "time spent compiling, as a tree of phases, and autotuning", {}}, run_compile},
    {{"autotune", "configurations that were tried, the time of each, which one ran, and what it cost", {}}, run_autotune, true},
    {{"critical", "the critical path: what the length of a step is made of", kCriticalParameters}, run_critical},
    {{"whatif", "how long a step takes without the profiler, and after changes", kWhatIfParameters}, run_whatif, true},
    {{"memory", "memory by op and over time; what held it at the peak", {}}, run_memory},
    {{"diff", "what changed between two or more traces, call by call", kDiffParameters, {}, true, 2},
     nullptr,
     true,
     nullptr,
     run_diff},
    {{"ranks",
      "the ranks of a job: which one is late, why, and what it costs",
      kRanksParameters,
      {},
      true,
      2,
      false,
      false,
      true},
     nullptr,
     false,
     nullptr,
     nullptr,
     run_ranks},
    {{"arrivals",
      "the collectives of a job one by one: when each rank arrived, and how long it waited",
      kArrivalsParameters,
      {},
      true,
      2,
      false,
      false,
      true},
     nullptr,
     false,
     nullptr,
     nullptr,
     run_arrivals},
    {{"devices", "known devices: their peaks, and the source of each figure", {}, {}, false}, nullptr, true, run_devices},
};

}  // namespace

std::span<const AnalysisRow> catalog() { return kRows; }

}  // namespace ridge
