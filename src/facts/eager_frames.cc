// Region calls are grouped by what was to be compiled as one: a call through torch.compile's wrapper, or of a region.
#include "facts/eager_frames.h"

#include <algorithm>
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

constexpr std::uint32_t kMostBetween = 16;  // slices from a lookup to the frame that it was for

using FrameId = std::pair<std::int32_t, std::int32_t>;  // autograd, frame
FrameId frame_of(const CompileId& id) { return {id.autograd, id.frame}; }

bool is_in(std::string_view file, std::string_view part) { return file.find(part) != std::string_view::npos; }

// torch.compile's own wrapper around what it was given; `_fn` before PyTorch 2.8.
bool asks_for_compilation(const FrameName& frame) {
  return is_in(frame.file, "torch/_dynamo/eval_frame.py") && (frame.function == "compile_wrapper" || frame.function == "_fn");
}

// What Dynamo never compiles by itself, given up or not.
bool is_machinery(const FrameName& frame) {
  constexpr std::string_view kFolders[] = {"torch/_dynamo/", "torch/_functorch/", "torch/_inductor/"};
  constexpr std::string_view kFiles[] = {"torch/nn/modules/module.py", "torch/_compile.py", "torch/utils/_contextlib.py",
                                         "contextlib.py", "functools.py"};
  const auto is_file = [&](std::string_view name) {
    return frame.file.ends_with(name) &&
           (frame.file.size() == name.size() || frame.file[frame.file.size() - name.size() - 1] == '/');
  };
  return std::ranges::any_of(kFolders, [&](std::string_view part) { return is_in(frame.file, part); }) ||
         std::ranges::any_of(kFiles, is_file);
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
        nested_[nest_.around[i]].push_back(i);
      }
    }
    std::erase_if(out_.pieces, [&](const Piecewise& p) { return p.calls.size() < 2; });
    count_nested();
    count_outermost();
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
      if (tree_.event_class[n.value] == EventClass::op) break;  // autograd calls it, or another op of PyTorch's
      if (tree_.event_class[n.value] != EventClass::python_frame) continue;
      const auto frame = parse_frame_name(trace_.text(trace_.events.name(tree_.event[n.value])));
      if (!frame) continue;
      if (asks_for_compilation(*frame)) return {n, is_over_the_limit(caller) ? kNoNode : caller};
      if (caller == kNoNode && !is_machinery(*frame)) caller = n;
    }
    return {kNoNode, kNoNode};
  }

  // Dynamo looks such a frame up right before it runs, and finds nothing: that it reached the recompile limit has a finding of
  // its own.
  bool is_over_the_limit(NodeId frame) const {
    if (frame == kNoNode) return false;
    const auto after = std::ranges::lower_bound(eager_lookups_, frame.value);
    if (after == eager_lookups_.begin()) return false;
    const NodeId lookup{*(after - 1)}, caller = tree_.parent[frame.value];
    if (tree_.parent[lookup.value] != caller) return false;
    const auto starts = tree_.start_ns.begin();
    const auto behind = std::lower_bound(starts + lookup.value + 1, starts + frame.value, tree_.end_ns[lookup.value]);
    const auto first = static_cast<std::uint32_t>(behind - starts);
    if (frame.value - first > kMostBetween) return false;
    for (std::uint32_t n = first; n < frame.value; ++n) {
      if (tree_.parent[n] == caller && tree_.event_class[n] == EventClass::python_frame) return false;  // it was of that one
    }
    return true;
  }

  // And not from inside one of the ops of the frame around it.
  bool called_by_bytecode(std::uint32_t call) const {
    const NodeId op = tree_.op_above(regions_.calls[call].node);
    return op == kNoNode || op <= regions_.calls[nest_.around[call]].node;
  }

  // ---- Without stacks ----

  // One frame again and again within a call of another: a loop that was given up, or one over what is compiled by itself in a
  // function that Dynamo is told to leave alone.
  void count_nested() {
    for (const auto& [whole, calls] : nested_) {
      std::map<FrameId, std::int64_t> of_frame;
      for (const std::uint32_t call : calls) {
        if (id(call).known()) ++of_frame[frame_of(id(call))];
      }
      for (const auto& [frame, count] : of_frame) out_.unsure += count > 1 ? count : 0;
    }
  }

  struct Callers {
    std::map<std::pair<std::size_t, std::size_t>, std::int64_t> calls;  // by thread and iteration
    bool outside = false;                                               // of all iterations
  };

  // One frame several times in each iteration, and the one that was tried right before it has no code: it may have been given
  // up, or was not called in this recording.
  void count_outermost() {
    if (outermost_.empty() || is_guess(scope_.model().iterations().rule)) return;
    std::set<FrameId> with_code;
    for (std::uint32_t i = 0; i < regions_.calls.size(); ++i) {
      if (regions_.calls[i].sort == CompiledSort::region && id(i).known()) with_code.insert(frame_of(id(i)));
    }
    std::map<FrameId, Callers> frames;
    for (const std::uint32_t call : outermost_) {
      if (id(call).frame <= 0) continue;
      const NodeId node = regions_.calls[call].node;
      const std::size_t thread = thread_of(tree_, node);
      const auto iteration =
          scope_.model().iterations().at(tree_.start_ns[node.value], trace_.forms.track(tree_.threads[thread].track).pid);
      Callers& of = frames[frame_of(id(call))];
      ++of.calls[{thread, iteration.value_or(0)}];
      of.outside = of.outside || !iteration;
    }
    for (const auto& [frame, callers] : frames) {
      if (with_code.contains({frame.first, frame.second - 1}) || !is_steady(callers)) continue;
      for (const auto& [at, count] : callers.calls) out_.unsure += count;
    }
  }

  // As often in each iteration, and more than once.
  static bool is_steady(const Callers& callers) {
    const std::int64_t count = callers.calls.begin()->second;
    return count > 1 && !callers.outside &&
           std::ranges::all_of(callers.calls, [&](const auto& c) { return c.second == count; });
  }

  const Scope& scope_;
  const RegionNest& nest_;
  const Trace& trace_;
  const CallTree& tree_;
  const CompiledRegions& regions_;
  bool has_stacks_;
  std::vector<std::uint32_t> eager_lookups_;                    // nodes of lookups that found no code
  std::vector<std::uint32_t> outermost_;                        // without stacks
  std::map<std::uint32_t, std::vector<std::uint32_t>> nested_;  // likewise, by the call around them
  std::unordered_map<std::uint32_t, std::size_t> of_whole_;     // by node: index into out_.pieces
  EagerFrames out_;
};

}  // namespace

EagerFrames find_eager_frames(const Scope& scope, const RegionNest& nest) { return Search(scope, nest).find(); }

}  // namespace ridge
