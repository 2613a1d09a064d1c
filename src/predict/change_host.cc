// What the host does and waits for.
#include <algorithm>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "facts/break_costs.h"
#include "facts/breaks.h"
#include "facts/scoped_work.h"
#include "predict/change_functions.h"
#include "predict/host_time.h"
#include "predict/matching.h"

namespace ridge {
namespace {

// The outermost ops and annotations of the program that match, by tree node, and whether a node is inside of one.
struct MatchedOps {
  std::vector<std::uint32_t> outermost;
  std::vector<bool> inside;
  std::int64_t compilers = 0;  // that match, and are the compiler's
};

MatchedOps find_ops(const ChangeContext& context, const Change& change) {
  const Trace& trace = context.scope.trace();
  const CallTree& tree = context.scope.model().tree();
  const CompilerWork& compilers = context.scope.model().compiler_work();
  NameMatch matches(trace, change);
  MatchedOps found{.inside = std::vector<bool>(tree.size())};
  for (std::uint32_t n = 0; n < tree.recorded; ++n) {
    const NodeId parent = tree.parent[n];
    if (parent != kNoNode && found.inside[parent.value]) {
      found.inside[n] = true;
      continue;
    }
    const bool named = tree.event_class[n] == EventClass::op || tree.event_class[n] == EventClass::annotation;
    if (!named || !matches(trace.events.name(tree.event[n]))) continue;
    if (compilers.holds(NodeId{n})) {
      ++found.compilers;
      continue;
    }
    found.inside[n] = true;
    found.outermost.push_back(n);
  }
  return found;
}

// The device work of the ops; how much of it has no roof.
std::int64_t change_their_work(const Change& change, const ChangeContext& context, const std::vector<bool>& inside,
                               StepTimes* times, std::int64_t* changed) {
  const StepGraph& graph = context.graph;
  std::int64_t without_roof = 0;
  const TimeByWork by_work(change, context);
  for (std::uint32_t node = graph.first_device; node < graph.size(); ++node) {
    const std::uint32_t row = graph.source[node];
    const NodeId op = op_of(context.scope.model(), row), call = context.scope.model().links().launch[row];
    const bool theirs = (op != kNoNode && inside[op.value]) || (call != kNoNode && inside[call.value]);
    if (!theirs) continue;
    ++*changed;
    std::int64_t& duration = times->duration_ns[node];
    if (!change.time.by_work()) {
      duration = change.time.of(duration);
    } else if (const auto time = by_work.ns(row)) {
      duration = std::min(duration, *time);
    } else {
      ++without_roof;
    }
  }
  return without_roof;
}

std::string counted_calls(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace

ChangeEffect change_ops(const Change& change, const ChangeContext& context, StepTimes* times) {
  const CallTree& tree = context.scope.model().tree();
  const MatchedOps ops = find_ops(context, change);
  ChangeEffect effect{.matches = static_cast<std::int64_t>(ops.outermost.size()), .uncertain = 0.05};
  effect.compilers = ops.compilers;
  effect.basis = counted_calls(effect.matches, "call") + " changed on the host";
  const bool of_host = !change.time.by_work();
  HostTime host(context.graph, times);
  for (std::size_t i = 0; of_host && i < ops.outermost.size(); ++i) {
    const std::uint32_t n = ops.outermost[i];
    const StepLane* lane = host.lane_of(static_cast<std::uint32_t>(thread_of(tree, NodeId{n})));
    if (lane == nullptr) continue;
    const Interval time{tree.start_ns[n], tree.end_ns[n]};
    if (change.time.to == TimeChange::To::fixed) {
      host.shrink(*lane, time, 1);
    } else if (change.time.factor != 1) {
      host.shrink(*lane, time, 1 - change.time.factor);
    } else if (change.time.ns < 0) {
      host.shrink_by(*lane, time, -change.time.ns);
    }
  }
  host.apply();
  const std::int64_t more = change.time.ns;
  for (std::size_t i = 0; of_host && more > 0 && i < ops.outermost.size(); ++i) {
    const std::uint32_t n = ops.outermost[i];
    const StepLane* lane = host.lane_of(static_cast<std::uint32_t>(thread_of(tree, NodeId{n})));
    if (lane != nullptr) host.add(*lane, tree.start_ns[n], more);
  }
  const bool scales = change.time.to == TimeChange::To::relative && change.time.ns == 0;
  if (scales || !of_host) {
    std::int64_t changed = 0;
    const std::int64_t without_roof = change_their_work(change, context, ops.inside, times, &changed);
    if (!of_host) effect.basis = counted_calls(effect.matches, "call");
    effect.basis += fmt::format(", and {} of device work", changed == 1 ? "1 piece" : fmt::format("{} pieces", changed));
    if (!of_host) effect.uncertain = 0.5;
    if (without_roof > 0) effect.basis += fmt::format("; nothing is known of {}", without_roof);
    effect.unknown = !of_host && changed > 0 && without_roof == changed;
  }
  return effect;
}

ChangeEffect change_host(const Change& change, const ChangeContext& context, StepTimes* times) {
  const StepGraph& graph = context.graph;
  for (std::uint32_t node = 0; node < graph.first_device; ++node) {
    if (graph.source[node] == StepGraph::kNone && graph.kind[node] == StepKind::wait) continue;  // for another thread
    times->duration_ns[node] = change.time.of(times->duration_ns[node]);
  }
  return {.matches = graph.first_device, .basis = "all host work between waits, and launches", .uncertain = 0.1};
}

ChangeEffect drop_host_waits(const Change& change, const ChangeContext& context, StepTimes* times) {
  const StepGraph& graph = context.graph;
  const Trace& trace = context.scope.trace();
  const CallTree& tree = context.scope.model().tree();
  const CompilerWork& compilers = context.scope.model().compiler_work();
  NameMatch matches(trace, change);
  ChangeEffect effect{.uncertain = 0.2};
  for (std::uint32_t node = 0; node < graph.first_device; ++node) {
    if (graph.kind[node] != StepKind::wait || graph.source[node] == StepGraph::kNone) continue;
    const NodeId call{graph.source[node]};
    const StringId name = trace.events.name(tree.event[call.value]);
    const NodeId op = outer_op(trace, tree, call);
    const std::string_view text = trace.text(name);
    const bool frees = text == "cudaFree" || text == "hipFree";
    const bool chosen = matches(name) || (op != kNoNode && matches(trace.events.name(tree.event[op.value])));
    if (!chosen || (frees && change.pattern == nullptr)) continue;
    if (compilers.holds(call)) {
      ++effect.compilers;
      continue;
    }
    ++effect.matches;
    times->duration_ns[node] = 0;
    for (std::uint32_t e = graph.first_edge[node]; e < graph.first_edge[node + 1]; ++e) times->edge_lag_ns[e] = kNoWait;
  }
  effect.basis = counted_calls(effect.matches, "call") +
                 (effect.matches == 1 ? " of the host no longer waits" : " of the host no longer wait") +
                 "; what the program then does without the value is not known";
  return effect;
}

ChangeEffect drop_breaks(const Change&, const ChangeContext& context, StepTimes* times) {
  const Breaks breaks = compute_breaks(context.scope);
  const CallTree& tree = context.scope.model().tree();
  HostTime host(context.graph, times);
  ChangeEffect effect{.matches = static_cast<std::int64_t>(breaks.sites.size()), .uncertain = 0.5};
  for (const BreakIdle& idle : breaks.idle) {
    const StepLane* lane = host.lane_of(static_cast<std::uint32_t>(thread_of(tree, breaks.sites[idle.site].node)));
    if (lane != nullptr) host.shrink(*lane, {idle.start_ns, idle.end_ns}, 1);
  }
  host.apply();
  effect.basis = counted_calls(effect.matches, "break") +
                 ": the host's time between two graphs while the device was idle; what "
                 "fusing across a break would bring is not known";
  return effect;
}

ChangeEffect drop_dataloader(const Change&, const ChangeContext& context, StepTimes* times) {
  const HostStalls& stalls = context.scope.model().host_stalls();
  HostTime host(context.graph, times);
  ChangeEffect effect{.uncertain = 0.1};
  for (const StepLane& lane : context.graph.lanes) {
    if (lane.device) continue;
    for (const HostStall& stall : stalls.of_thread[lane.thread]) {
      if (stall.cause != IdleCause::dataloader) continue;
      host.shrink(lane, {stall.start_ns, stall.end_ns}, 1);
      ++effect.matches;
    }
  }
  host.apply();
  effect.basis = counted_calls(effect.matches, "wait") + " for a batch take no time; fetching one still does, on other cores";
  return effect;
}

}  // namespace ridge
