// CUDA graphs: what an iteration launches between two waits of the host is launched once. The host's work from the first of
// these launches to the last is gone, but for what holds it up otherwise; instead it launches a graph.
#include <algorithm>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "base/saturating.h"
#include "base/units.h"
#include "model/idle.h"
#include "predict/change_functions.h"
#include "predict/host_time.h"

namespace ridge {
namespace {

// Seen on an H200: a launch of a graph takes 6 us and 20 to 60 ns more a node; nodes follow each other within 1 us.
constexpr std::int64_t kGraphLaunchNs = 6'000;
constexpr std::int64_t kGraphLaunchPerNodeNs = 40;
constexpr std::int64_t kGraphGapNs = 900;
// A launch that takes so long loads code or builds something, which a program that is warm does not.
constexpr std::int64_t kFirstUseNs = 1'000'000;

// A stretch of one thread between two waits: the launches of one iteration.
struct Section {
  std::uint32_t first = StepGraph::kNone, last = StepGraph::kNone;  // launch nodes
  std::int64_t launches = 0;
};

class GraphSections {
 public:
  GraphSections(const ChangeContext& context, StepTimes* times)
      : context_(context),
        compilers_(context.scope.model().compiler_work()),
        graph_(context.graph),
        times_(*times),
        host_(context.graph, times) {}

  // Cuts a thread at waits for the device, at iterations, and where the compiler launches something.
  void add(const StepLane& lane) {
    const std::vector<Iteration>& iterations = context_.scope.model().iterations().list;
    auto next = iterations.begin();
    Section section;
    for (std::uint32_t node = lane.first; node < lane.first + lane.count; ++node) {
      bool ends = graph_.kind[node] == StepKind::wait && graph_.source[node] != StepGraph::kNone;
      for (; next != iterations.end() && next->start_ns <= graph_.start_ns[node]; ++next) ends = true;
      const bool launches = graph_.kind[node] == StepKind::launch;
      const bool compilers = launches && compilers_.holds(NodeId{graph_.source[node]});
      if (ends || compilers) close(lane, &section);
      left_ += compilers ? 1 : 0;
      if (!launches || compilers) continue;
      if (section.first == StepGraph::kNone) section.first = node;
      section.last = node;
      ++section.launches;
    }
    close(lane, &section);
  }

  void apply() {
    host_.apply();
    for (const Section& section : sections_)
      times_.duration_ns[section.first] = kGraphLaunchNs + kGraphLaunchPerNodeNs * section.launches;
  }
  std::int64_t graphs() const { return static_cast<std::int64_t>(sections_.size()); }
  std::int64_t launches() const { return launches_; }
  std::int64_t left() const { return left_; }
  std::int64_t first_use_ns() const { return first_use_ns_; }

 private:
  void close(const StepLane& lane, Section* section) {
    const Section done = std::exchange(*section, {});
    if (done.launches < 2) return;
    sections_.push_back(done);
    launches_ += done.launches;
    const std::int64_t from = graph_.start_ns[graph_.begin_of_call(done.first)], to = graph_.recorded_end_ns(done.last);
    for (std::uint32_t node = done.first; node <= done.last; ++node) {
      if (graph_.kind[node] != StepKind::launch) continue;
      const std::int64_t took = graph_.recorded_end_ns(node) - graph_.start_ns[graph_.begin_of_call(node)];
      if (took >= kFirstUseNs) saturating_add(&first_use_ns_, took);
    }
    // What holds the host up is there with a graph too.
    std::int64_t at = from;
    const std::vector<HostStall>& stalls = context_.scope.model().host_stalls().of_thread[lane.thread];
    auto stall = std::partition_point(stalls.begin(), stalls.end(), [&](const HostStall& s) { return s.end_ns <= from; });
    for (; stall != stalls.end() && stall->start_ns < to; ++stall) {
      if (stall->cause == IdleCause::guards || stall->cause == IdleCause::launch || stall->cause == IdleCause::allocator)
        continue;
      if (stall->start_ns > at) host_.shrink(lane, {at, stall->start_ns}, 1);
      at = std::max(at, stall->end_ns);
    }
    if (at < to) host_.shrink(lane, {at, to}, 1);
  }

  const ChangeContext& context_;
  const CompilerWork& compilers_;
  const StepGraph& graph_;
  StepTimes& times_;
  HostTime host_;
  std::vector<Section> sections_;
  std::int64_t launches_ = 0, left_ = 0, first_use_ns_ = 0;
};

// Work is launched, and never through CUDA or HIP, whose graphs PyTorch calls CUDA graphs.
bool has_other_runtime(const ChangeContext& context) {
  const Trace& trace = context.scope.trace();
  const StepGraph& graph = context.graph;
  bool launches = false;
  for (std::uint32_t node = 0; node < std::min<std::size_t>(graph.first_device, graph.size()); ++node) {
    if (graph.kind[node] != StepKind::launch || graph.source[node] == StepGraph::kNone) continue;
    const std::string_view call = trace.text(trace.events.name(context.scope.model().tree().event[graph.source[node]]));
    if (call.starts_with("cu") || call.starts_with("hip")) return false;
    launches = true;
  }
  return launches;
}

}  // namespace

ChangeEffect change_to_cuda_graphs(const Change&, const ChangeContext& context, StepTimes* times) {
  if (has_other_runtime(context))
    return {.basis = "no launch goes through CUDA or HIP: this device's runtime has no CUDA graphs", .unknown = true};
  const StepGraph& graph = context.graph;
  GraphSections sections(context, times);
  for (const StepLane& lane : graph.lanes) {
    if (!lane.device) sections.add(lane);
  }
  sections.apply();
  ChangeEffect effect{.matches = sections.launches(), .uncertain = 0.15, .compilers = sections.left()};
  const CompilerWork& compilers = context.scope.model().compiler_work();
  for (std::uint32_t node = graph.first_device; sections.graphs() > 0 && node < graph.size(); ++node) {
    std::int64_t& gap = times->gap_ns[node - graph.first_device];
    // What waits for longer waits for other streams or processes, in a graph too.
    if (!compilers.holds_work(graph.source[node]) && gap <= kKernelGapNs) gap = std::min(gap, kGraphGapNs);
  }
  effect.basis =
      fmt::format("{} launches in {} graphs, cut where the host waits; whether the program can be captured is not known",
                  sections.launches(), sections.graphs());
  if (sections.first_use_ns() > 0)
    effect.basis += fmt::format("; {} of it are in launches of over {}, as on first use: a warm program does not have them",
                                format_duration(static_cast<double>(sections.first_use_ns())),
                                format_duration(static_cast<double>(kFirstUseNs)));
  return effect;
}

}  // namespace ridge
