// Region calls are grouped by what was to be compiled as one: a call through torch.compile's wrapper, or of a region.
#include "facts/eager_frames.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "model/frame_name.h"

namespace ridge {
namespace {

constexpr std::uint32_t kMostClimbed = 256;  // slices from a compiled call up to what asked for compilation

using FrameId = std::pair<std::int32_t, std::int32_t>;  // autograd, frame
FrameId frame_of(const CompileId& id) { return {id.autograd, id.frame}; }

bool is_in(std::string_view file, std::string_view part) { return file.find(part) != std::string_view::npos; }

// torch.compile's own wrapper around what it was given; `_fn` before PyTorch 2.8.
bool asks_for_compilation(const FrameName& frame) {
  return is_in(frame.file, "torch/_dynamo/eval_frame.py") && (frame.function == "compile_wrapper" || frame.function == "_fn");
}

// What Dynamo never compiles by itself, given up or not.
bool is_machinery(const FrameName& frame) {
  constexpr std::string_view kFiles[] = {
      "torch/_dynamo/",    "torch/_functorch/",          "torch/_inductor/", "torch/nn/modules/module.py",
      "torch/_compile.py", "torch/utils/_contextlib.py", "contextlib.py",    "functools.py"};
  return std::ranges::any_of(kFiles, [&](std::string_view part) { return is_in(frame.file, part); });
}

class Search {
 public:
  Search(const Scope& scope, const RegionNest& nest)
      : scope_(scope),
        nest_(nest),
        trace_(scope.trace()),
        tree_(scope.model().tree()),
        regions_(scope.model().compiled_regions()),
        has_stacks_(!trace_.of(EventClass::python_frame).empty()) {
    for (const CacheLookup& lookup : regions_.lookups) {
      if (lookup.outcome == LookupOutcome::not_compiled) eager_lookups_.push_back(lookup.node.value);
    }
  }

  EagerFrames find() {
    for (std::uint32_t i = 0; i < regions_.calls.size(); ++i) {
      const CompiledCall& call = regions_.calls[i];
      if (call.sort != CompiledSort::region || nest_.resumed[i] || !scope_.holds(call.node)) continue;
      if (has_stacks_) {
        if (const auto [whole, caller] = caller_of(i); caller != kNoNode) add(whole, {i, caller});
      } else if (nest_.around[i] == kNoCall) {
        outermost_.push_back(i);
      } else if (called_by_bytecode(i)) {
        add(regions_.calls[nest_.around[i]].node, {i, kNoNode});
      }
    }
    std::erase_if(out_.pieces, [&](const Piecewise& p) { return p.calls.size() < 2 || (!has_stacks_ && !repeats(p)); });
    if (!has_stacks_) find_by_ids();
    return std::move(out_);
  }

 private:
  const CompileId& id(std::uint32_t call) const { return regions_.calls[call].id; }

  void add(NodeId whole, Piecewise::Call call) {
    const auto [it, added] = of_whole_.try_emplace(whole.value, out_.pieces.size());
    if (added) out_.pieces.emplace_back();
    out_.pieces[it->second].calls.push_back(call);
  }

  // What was to be compiled as one, and the function in it that calls the compiled one and runs eager.
  std::pair<NodeId, NodeId> caller_of(std::uint32_t call) const {
    const NodeId region = nest_.around[call] == kNoCall ? kNoNode : regions_.calls[nest_.around[call]].node;
    NodeId caller = kNoNode;
    NodeId n = tree_.parent[regions_.calls[call].node.value];
    for (std::uint32_t climbed = 0; n != kNoNode && climbed < kMostClimbed; ++climbed, n = tree_.parent[n.value]) {
      if (n == region) return {n, is_over_the_limit(caller) ? kNoNode : caller};
      if (tree_.event_class[n.value] != EventClass::python_frame) continue;
      const auto frame = parse_frame_name(trace_.text(trace_.events.name(tree_.event[n.value])));
      if (!frame) continue;
      if (asks_for_compilation(*frame)) return {n, is_over_the_limit(caller) ? kNoNode : caller};
      if (caller == kNoNode && !is_machinery(*frame)) caller = n;
    }
    return {kNoNode, kNoNode};
  }

  // Dynamo looks such a frame up and finds nothing: that it reached the recompile limit has a finding of its own.
  bool is_over_the_limit(NodeId frame) const {
    if (frame == kNoNode) return false;
    const auto after = std::ranges::lower_bound(eager_lookups_, frame.value);
    return after != eager_lookups_.begin() && tree_.parent[*(after - 1)] == tree_.parent[frame.value];
  }

  // And not from inside one of the ops of the frame around it.
  bool called_by_bytecode(std::uint32_t call) const {
    const NodeId op = tree_.op_above(regions_.calls[call].node);
    return op == kNoNode || op <= regions_.calls[nest_.around[call]].node;
  }

  // One frame is called again, as in a loop.
  bool repeats(const Piecewise& piecewise) const {
    std::set<FrameId> seen;
    return std::ranges::any_of(piecewise.calls, [&](const Piecewise::Call& c) {
      return id(c.call).known() && !seen.insert(frame_of(id(c.call))).second;
    });
  }

  // ---- Outermost calls, without stacks ----

  struct Callers {
    std::map<std::pair<std::size_t, std::size_t>, std::int64_t> calls;  // by thread and iteration
    bool outside = false;                                               // of all iterations
  };

  void find_by_ids() {
    const Iterations& iterations = scope_.model().iterations();
    if (outermost_.empty() || is_guess(iterations.rule)) return;
    std::set<FrameId> with_code, broken;
    for (std::uint32_t i = 0; i < regions_.calls.size(); ++i) {
      if (regions_.calls[i].sort == CompiledSort::region && id(i).known()) with_code.insert(frame_of(id(i)));
    }
    for (std::uint32_t i = 0; i < regions_.calls.size(); ++i) {
      if (nest_.resumed[i] && nest_.around[i] != kNoCall) broken.insert(frame_of(id(nest_.around[i])));
    }
    std::map<FrameId, Callers> frames;
    for (const std::uint32_t call : outermost_) {
      if (id(call).frame <= 0) continue;
      const auto [at, inside] = place_of(call);
      Callers& of = frames[frame_of(id(call))];
      ++of.calls[at];
      of.outside = of.outside || !inside;
    }
    for (const auto& [frame, callers] : frames) {
      if (with_code.contains({frame.first, frame.second - 1}) || !is_steady(callers)) continue;
      if (broken.contains(frame)) return add_spans(frame);
      for (const auto& [at, count] : callers.calls) out_.unsure += count;
    }
  }

  std::pair<std::pair<std::size_t, std::size_t>, bool> place_of(std::uint32_t call) const {
    const NodeId node = regions_.calls[call].node;
    const std::size_t thread = thread_of(tree_, node);
    const auto at =
        scope_.model().iterations().at(tree_.start_ns[node.value], trace_.forms.track(tree_.threads[thread].track).pid);
    return {{thread, at.value_or(0)}, at.has_value()};
  }

  // As often in each iteration, and more than once.
  static bool is_steady(const Callers& callers) {
    const std::int64_t count = callers.calls.begin()->second;
    return count > 1 && !callers.outside &&
           std::ranges::all_of(callers.calls, [&](const auto& c) { return c.second == count; });
  }

  // From the first call of the frame in an iteration to the last: what is called between is called by the same.
  void add_spans(FrameId frame) {
    std::map<std::pair<std::size_t, std::size_t>, std::vector<std::uint32_t>> calls;
    for (const std::uint32_t call : outermost_) {
      if (const auto [at, inside] = place_of(call); inside) calls[at].push_back(call);
    }
    for (auto& [at, list] : calls) {
      const auto is_one = [&](std::uint32_t call) { return frame_of(id(call)) == frame; };
      const auto first = std::ranges::find_if(list, is_one);
      if (first == list.end()) continue;
      auto last = list.end();
      while (!is_one(*(last - 1))) --last;
      if (last - first < 2) continue;
      Piecewise& piecewise = out_.pieces.emplace_back();
      std::transform(first, last, std::back_inserter(piecewise.calls),
                     [](std::uint32_t c) { return Piecewise::Call{c, kNoNode}; });
    }
    std::ranges::sort(out_.pieces, {}, [](const Piecewise& p) { return p.calls.front().call; });
  }

  const Scope& scope_;
  const RegionNest& nest_;
  const Trace& trace_;
  const CallTree& tree_;
  const CompiledRegions& regions_;
  bool has_stacks_;
  std::vector<std::uint32_t> eager_lookups_;  // nodes of lookups that found no code
  std::vector<std::uint32_t> outermost_;
  std::unordered_map<std::uint32_t, std::size_t> of_whole_;  // by node: index into out_.pieces
  EagerFrames out_;
};

}  // namespace

EagerFrames find_eager_frames(const Scope& scope, const RegionNest& nest) { return Search(scope, nest).find(); }

}  // namespace ridge
