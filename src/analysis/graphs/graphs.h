// graphs: what each compiled graph cost, forward and backward; how much of the device time is compiled code; what was looked up
// and not compiled; and the CUDA graphs that were replayed.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ridge/report.h>

#include "facts/scope.h"

namespace ridge {

// An op that a graph of Inductor's calls instead of code that Inductor generated.
struct FallbackOp {
  std::string_view op;
  bool custom = false;  // not ATen's: its author gave Inductor nothing to generate code from, and wants it called
  std::int64_t calls = 0;
  std::int64_t cpu_ns = 0;
  std::int64_t gpu_ns = 0;
  NodeId longest = kNoNode;  // of the calls, on the host
};

struct GraphCost {
  std::string_view graph;  // cache key of the graph; the function's or region's name where the trace has no graph calls
  bool backward = false;
  bool inductor = false;  // known to be Inductor's: its call or its kernels say so; other backends run ops as they are
  CompileId id;
  std::int64_t calls = 0;
  std::int64_t cpu_ns = 0;
  std::int64_t gpu_ns = 0;    // sum of the device work launched inside, the compiler's own left out
  std::int64_t kernels = 0;   // pieces of device work
  std::int64_t launches = 0;  // calls that put work on a device
  std::int64_t span_ns = 0;   // in which its calls ran, summed over devices (graph_busy.h)
  std::int64_t busy_ns = 0;   // of that, with their work on the device
  std::array<std::int64_t, kCategories> category_ns{};
  std::array<std::int64_t, kCategories> category_kernels{};
  std::vector<FallbackOp> fallbacks;  // in order of time; none where the graph is not Inductor's
};

// Where device work stands to compiled code. Every piece is in exactly one part.
enum class CoveragePart : std::uint8_t {
  graph,            // launched by a compiled graph
  inductor_kernel,  // an Inductor kernel, by no recorded call of a graph
  compiled_frame,   // in a compiled frame and outside its graphs: eager ops at breaks, copies before a graph
  eager,            // launched in the window by nothing compiled
  graph_replay,     // replayed by a CUDA graph outside recorded compiled calls: compiled or not cannot be told
  autotune,         // the compiler trying out kernels
  compiler,         // the compiler's other work on the device: constant folding, patterns of passes that it times
  before_window,    // the launch was not recorded
};
inline constexpr std::size_t kCoverageParts = static_cast<std::size_t>(CoveragePart::before_window) + 1;
std::string_view name_of(CoveragePart part);

struct Coverage {
  std::int64_t events = 0;
  std::int64_t gpu_ns = 0;
};

struct LookupCount {
  LookupOutcome outcome = LookupOutcome::hit;
  std::string location;  // of the frame; empty when the trace has no stacks
  std::int64_t lookups = 0;
  std::int64_t cpu_ns = 0;
  std::int64_t frame_ns = 0;  // time of the frame that ran eager instead; 0 when not known
};

struct ReplayCost {
  std::uint32_t graph = 0;  // index into the model's graphs
  std::int64_t replays = 0;
  std::int64_t gpu_ns = 0, min_gpu_ns = 0, max_gpu_ns = 0;
  std::int64_t launch_ns = 0;
  struct Node {
    std::int64_t gpu_ns = 0, min_gpu_ns = 0, max_gpu_ns = 0;
  };
  std::vector<Node> nodes;
};

struct Graphs {
  const Model* model = nullptr;
  std::vector<GraphCost> graphs;  // in order of GPU time
  std::array<Coverage, kCoverageParts> coverage;
  std::vector<LookupCount> lookups;
  std::vector<ReplayCost> replays;
  std::int64_t region_calls = 0;  // of the frames whose graphs are listed
  bool has_device_work = false;

  bool compiled() const;        // whether torch.compile shows at all
  bool calls_recorded() const;  // false: the compiled kernels that show have no recorded calls, so that their neighbours cannot
                                // be told from eager ones
  std::int64_t gpu_ns() const;
};

// Ops that Inductor calls by design: matrix products, convolutions, attention (rows of src/ops say which ops are such work),
// the buffers' own bookkeeping, and randint, by which it draws the seeds of its own random numbers (a user's randint becomes
// one of these). Others under a graph are ops for which it has no code of its own.
bool is_by_design(std::string_view op);

Graphs compute_graphs(const Scope& scope);
Report report_graphs(const Graphs& graphs);

}  // namespace ridge
