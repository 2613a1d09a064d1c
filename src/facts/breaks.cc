// Finds resume calls among nested regions, then has what the host and the device lost at each measured (break_costs.h).
#include "facts/breaks.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/saturating.h"
#include "facts/break_costs.h"
#include "facts/break_evidence.h"
#include "facts/eager_frames.h"
#include "facts/scoped_work.h"
#include "model/frame_name.h"
#include "model/name_flags.h"

namespace ridge {
namespace {

// Why, a trace does not show: most often a break in a loop, a with or a try; PyTorch's own files Dynamo skips anyway.
constexpr std::string_view kGivenUp = "the function runs eager, what it calls is compiled piece by piece";

class BreaksReader {
 public:
  explicit BreaksReader(const Scope& scope)
      : scope_(scope),
        model_(scope.model()),
        trace_(scope.trace()),
        tree_(model_.tree()),
        regions_(model_.compiled_regions()) {}

  Breaks compute() {
    out_.has_device_work = !trace_.of(EventClass::device_work).empty();
    if (regions_.calls.empty()) return std::move(out_);
    has_stacks_ = !trace_.of(EventClass::python_frame).empty();
    for (const CompiledCall& call : regions_.calls) {
      if (call.sort == CompiledSort::function && call.region == kNoCall && scope_.holds(call.node))
        ++out_.functions_without_region;
    }
    shape_regions();
    find_tails();
    list_regions();
    list_breaks();
    list_recompiles();
    std::erase_if(out_.regions, [&](const RegionRow& region) { return !scope_.matches(region.location); });
    return std::move(out_);
  }

 private:
  std::string_view name(NodeId n) const { return trace_.text(trace_.events.name(tree_.event[n.value])); }
  std::int64_t start(NodeId n) const { return tree_.start_ns[n.value]; }
  std::int64_t end(NodeId n) const { return tree_.end_ns[n.value]; }

  // Enclosing region and depth of each region call.
  void shape_regions() {
    const auto& calls = regions_.calls;
    around_.assign(calls.size(), kNoCall);
    depth_.assign(calls.size(), 0);
    repeats_.assign(calls.size(), false);
    std::vector<std::uint32_t> latest(calls.size(), kNoCall);  // by call: the last region in it so far
    for (std::uint32_t i = 0; i < calls.size(); ++i) {
      const std::uint32_t parent = calls[i].parent;
      if (parent == kNoCall) continue;
      const bool is_region = calls[i].sort == CompiledSort::region;
      around_[i] = calls[parent].sort == CompiledSort::region ? parent : around_[parent];
      if (around_[i] == kNoCall) continue;
      depth_[i] = depth_[around_[i]] + (is_region ? 1 : 0);
      if (!is_region) continue;
      std::uint32_t& before = latest[around_[i]];
      repeats_[i] = before != kNoCall && calls[i].id.known() && is_same_frame(calls[i].id, calls[before].id);
      before = i;
    }
  }

  static bool is_same_frame(const CompileId& a, const CompileId& b) {
    return std::pair(a.autograd, a.frame) == std::pair(b.autograd, b.frame);
  }

  bool is_call(NodeId n) const {
    const std::uint32_t call = regions_.call_at(n);
    return call != kNoCall && regions_.calls[call].node == n;
  }

  // The region call that a node belongs to.
  std::uint32_t region_at(NodeId n) const {
    const std::uint32_t call = regions_.call_at(n);
    return call == kNoCall ? kNoCall : region_of(call);
  }
  std::uint32_t region_of(std::uint32_t call) const {
    return regions_.calls[call].sort == CompiledSort::region ? call : around_[call];
  }

  // For each region: the start of its last own work, and its last nested region.
  void find_tails() {
    last_work_ns_.assign(regions_.calls.size(), INT64_MIN);
    last_nested_.assign(regions_.calls.size(), kNoCall);
    const NameFlags starting(trace_, starts_work);
    for (std::size_t i = 0; i < regions_.stretches.size(); ++i) {
      const auto [first, call] = regions_.stretches[i];
      if (call == kNoCall) continue;
      const std::uint32_t last = i + 1 < regions_.stretches.size() ? regions_.stretches[i + 1].first : tree_.recorded;
      for (std::uint32_t n = first; n < last; ++n) find_tail(n, call, starting);
    }
  }
  void find_tail(std::uint32_t n, std::uint32_t call, const NameFlags& starting) {
    const EventClass c = tree_.event_class[n];
    if (c == EventClass::python_frame) return;
    const bool own = regions_.calls[call].node.value == n;
    if (own && regions_.calls[call].sort == CompiledSort::region) {
      if (around_[call] != kNoCall) last_nested_[around_[call]] = call;
      return;
    }
    if (c == EventClass::annotation && !own) return;
    if (c == EventClass::launch && !starting[trace_.events.name(tree_.event[n])]) return;
    const std::uint32_t region = region_of(call);
    if (region != kNoCall) last_work_ns_[region] = std::max(last_work_ns_[region], tree_.start_ns[n]);
  }

  // The Python frame that a region runs: the first one directly inside it.
  std::optional<FrameName> frame_of(NodeId region) const {
    if (!has_stacks_) return std::nullopt;
    for (std::uint32_t n = region.value + 1; n < tree_.recorded && n < region.value + 64 && tree_.start_ns[n] < end(region);
         ++n) {
      if (tree_.parent[n] == region && tree_.event_class[n] == EventClass::python_frame)
        return parse_frame_name(name(NodeId{n}));
    }
    return std::nullopt;
  }

  void list_regions() {
    std::map<std::tuple<CompileId, CompileId, std::int64_t>, std::size_t> rows;
    std::vector<std::size_t> row_of(regions_.calls.size(), SIZE_MAX);
    for (std::uint32_t i = 0; i < regions_.calls.size(); ++i) {
      const CompiledCall& call = regions_.calls[i];
      if (call.sort != CompiledSort::region || !scope_.holds(call.node)) continue;
      if (!call.id.known()) out_.has_ids = false;
      const bool nested = around_[i] != kNoCall;
      const CompileId parent = nested ? regions_.calls[around_[i]].id : CompileId{};
      const auto [it, added] = rows.try_emplace({call.id, parent, depth_[i]}, out_.regions.size());
      if (added) {
        out_.regions.push_back({.id = call.id, .parent = parent, .nested = nested, .depth = depth_[i], .location = {}});
        if (const auto frame = frame_of(call.node)) out_.regions.back().location = location_of(*frame);
      }
      row_of[i] = it->second;
      ++out_.regions[it->second].calls;
      saturating_add(&out_.regions[it->second].cpu_ns, tree_.duration_ns(call.node));
    }
    for_each_work(scope_, [&](const Device&, const WorkRow& work) {
      const std::uint32_t call = regions_.call_at(model_.links().launch[work.row]);
      if (call == kNoCall || model_.compiler_work().holds_work(work.row)) return;
      const std::uint32_t region = regions_.calls[call].region;
      if (region != kNoCall && row_of[region] != SIZE_MAX)
        saturating_add(&out_.regions[row_of[region]].gpu_ns, duration_ns(work));
    });
  }

  // Whether the nested region is called by the parent's bytecode itself, and not from inside one of its ops.
  bool called_by(NodeId region, NodeId parent) const {
    const NodeId op = tree_.op_above(region);  // what stands above the parent came before it
    return op == kNoNode || op <= parent;
  }

  bool is_break(std::uint32_t i, const std::optional<FrameName>& frame) const {
    const std::uint32_t parent = around_[i];
    if (parent == kNoCall) return false;
    const CompileId& id = regions_.calls[i].id;
    const CompileId& broken = regions_.calls[parent].id;
    if (id.known() && broken.known() && is_same_frame(id, broken)) return false;
    if (frame) {
      if (parse_resume_name(frame->function)) return true;
      if (!frame->file.starts_with("torch/") && frame->file.find("/torch/") == std::string_view::npos) return false;
    }
    if (repeats_[i]) return false;  // called in a loop
    return last_nested_[parent] == i && last_work_ns_[parent] < start(regions_.calls[i].node) &&
           called_by(regions_.calls[i].node, regions_.calls[parent].node);
  }

  void list_breaks() {
    const BreakCosts costs(scope_);
    find_backward_graphs();
    left_graph_ns_.assign(regions_.calls.size(), INT64_MIN);
    resumed_.assign(regions_.calls.size(), false);
    for (std::uint32_t i = 0; i < regions_.calls.size(); ++i) {
      const CompiledCall& call = regions_.calls[i];
      if (call.sort != CompiledSort::region) {
        leave_graph(i);
      } else if (scope_.holds(call.node)) {
        list_resumed(costs, i);
      }
    }
    list_given_up(costs);
    share_idle_out();
    for (const BreakIdle& idle : out_.idle)
      saturating_add(&out_.breaks[row_of_site_[idle.site]].gpu_idle_ns, idle.end_ns - idle.start_ns);
    std::sort(out_.breaks.begin(), out_.breaks.end(), [](const GraphBreak& a, const GraphBreak& b) {
      return std::tuple(-a.cpu_ns, a.frame, a.parent, a.depth, a.location) <
             std::tuple(-b.cpu_ns, b.frame, b.parent, b.depth, b.location);
    });
  }

  void list_resumed(const BreakCosts& costs, std::uint32_t i) {
    const CompiledCall& call = regions_.calls[i];
    const auto frame = frame_of(call.node);
    if (!is_break(i, frame)) return;
    resumed_[i] = true;
    GraphBreak found{.frame = call.id, .parent = regions_.calls[around_[i]].id, .depth = depth_[i]};
    if (frame && parse_resume_name(frame->function)) found.location = location_of(*frame);
    if (!scope_.matches(found.location)) return;
    const std::int64_t from_ns = broken_at(i);
    measure(costs, {.from_ns = from_ns, .to = i, .before = around_[i]}, evidence_at_break(model_, from_ns, call.node), &found);
    add_site(i, std::move(found));
  }

  // From each compiled call of such a frame to the next.
  void list_given_up(const BreakCosts& costs) {
    const EagerFrames eager = find_eager_frames(scope_, {.around = around_, .resumed = resumed_});
    out_.maybe_given_up = eager.unsure;
    for (const auto& [calls] : eager.pieces) {
      const CompiledCall& first = regions_.calls[calls.front().call];
      if (around_[calls.front().call] == kNoCall)
        out_.given_up.push_back({first.node, end(regions_.calls[calls.back().call].node)});
      for (std::size_t k = 1; k < calls.size(); ++k) list_given_up(costs, calls[k - 1].call, calls[k]);
    }
  }
  void list_given_up(const BreakCosts& costs, std::uint32_t before, const Piecewise::Call& next) {
    const CompiledCall& call = regions_.calls[next.call];
    GraphBreak found{.frame = call.id, .parent = {}, .depth = depth_[next.call]};
    if (const auto caller = parse_frame_name(name(next.caller))) found.location = location_of(*caller);
    if (!scope_.matches(found.location)) return;
    const std::uint32_t tail = tail_of(before);
    const std::int64_t left = left_graph_ns_[tail] != INT64_MIN ? left_graph_ns_[tail] : end(regions_.calls[before].node);
    measure(costs, {.from_ns = left, .to = next.call, .before = tail},
            evidence_in_eager_frame(model_, left, call.node, next.caller), &found);
    found.reason += (found.reason.empty() ? "" : "; ") + std::string(kGivenUp);
    add_site(next.call, std::move(found));
  }

  // The last of the functions that go on behind the breaks of a call.
  std::uint32_t tail_of(std::uint32_t call) const {
    while (last_nested_[call] != kNoCall && resumed_[last_nested_[call]]) call = last_nested_[call];
    return call;
  }

  void add_site(std::uint32_t i, GraphBreak found) {
    const CompiledCall& call = regions_.calls[i];
    found.frame.compile = found.parent.compile = -1;
    out_.sites.push_back({call.node, found.cpu_ns, found.location, found.reason});
    const auto [it, added] = row_of_break_.try_emplace(
        {found.frame, found.parent, call.id.known() ? 0 : depth_[i], found.location}, out_.breaks.size());
    row_of_site_.push_back(it->second);
    if (added) out_.breaks.push_back(found);
    GraphBreak& row = out_.breaks[it->second];
    ++row.occurrences;
    if (added) return;
    saturating_add(&row.cpu_ns, found.cpu_ns);
    if (row.reason.empty()) row.reason = std::move(found.reason);
  }

  // A call inside a region is over, in order of start: of an autograd function and the graph in it the graph counts.
  void leave_graph(std::uint32_t call) {
    const CompiledCall& done = regions_.calls[call];
    if (around_[call] == kNoCall || done.backward) return;
    std::int64_t& left = left_graph_ns_[around_[call]];
    const bool in_function = done.parent != kNoCall && regions_.calls[done.parent].sort == CompiledSort::function;
    left = in_function ? end(done.node) : std::max(left, end(done.node));
  }

  // The backward graphs of each forward region: the last one of the resumed frame and the first of the broken one stand around
  // the break on the way back.
  void find_backward_graphs() {
    first_backward_.assign(regions_.calls.size(), kNoCall);
    last_backward_.assign(regions_.calls.size(), kNoCall);
    for (std::uint32_t i = 0; i < regions_.calls.size(); ++i) {
      const CompiledCall& call = regions_.calls[i];
      if (!call.backward || call.sort != CompiledSort::graph || call.region == kNoCall || !scope_.holds(call.node)) continue;
      if (first_backward_[call.region] == kNoCall) first_backward_[call.region] = i;
      last_backward_[call.region] = i;
    }
  }

  struct Place {
    std::int64_t from_ns;  // where compiled code was left
    std::uint32_t to;      // the region that is in it again
    std::uint32_t before;  // the region that left it
  };

  // Cost and evidence of one break: from the graph that the one left to the one in which the other goes on.
  void measure(const BreakCosts& costs, const Place& at, BreakEvidence evidence, GraphBreak* found) {
    const NodeId region = regions_.calls[at.to].node;
    found->reason = std::move(evidence.reason);
    add_cost(costs, {thread_of(tree_, region), {at.from_ns, resumed_at(at.to)}, std::move(evidence.left_out), end(region)},
             found);
    const std::uint32_t back = last_backward_[at.to], next = first_backward_[at.before];
    if (back == kNoCall || next == kNoCall) return;
    const NodeId left = regions_.calls[back].node, entered = regions_.calls[next].node;
    const std::size_t thread = thread_of(tree_, entered);
    if (thread != thread_of(tree_, left) || end(left) > start(entered)) return;
    add_cost(costs, {thread, {end(left), start(entered)}, left_out_before(model_, end(left), entered), end(entered)}, found);
  }

  void add_cost(const BreakCosts& costs, const BreakStretch& stretch, GraphBreak* found) {
    saturating_add(&found->cpu_ns, costs.host_ns(stretch));
    for (const BreakCosts::Idle& idle : costs.idle(stretch))
      out_.idle.push_back({idle.device, idle.time.start_ns, idle.time.end_ns, out_.sites.size()});
  }

  // Where the parent left compiled code. Without recorded graphs that is not known: no earlier than its last work, which may
  // be an eager op at the break.
  std::int64_t broken_at(std::uint32_t i) const {
    const std::uint32_t parent = around_[i];
    if (left_graph_ns_[parent] != INT64_MIN) return left_graph_ns_[parent];
    const std::int64_t began = start(regions_.calls[parent].node), work = last_work_ns_[parent];
    return work < start(regions_.calls[i].node) ? std::max(began, work) : began;
  }

  // Where the resumed frame is in compiled code again: its first graph, be it inside an autograd function; else its first work.
  std::int64_t resumed_at(std::uint32_t i) const {
    const NodeId first = first_work(regions_.calls[i].node);
    if (first == kNoNode) return end(regions_.calls[i].node);
    const std::uint32_t call = regions_.call_at(first);
    if (regions_.calls[call].sort != CompiledSort::function) return start(first);
    for (std::uint32_t c = call + 1; c < regions_.calls.size() && regions_.calls[c].parent == call; ++c) {
      if (regions_.calls[c].sort == CompiledSort::graph) return start(regions_.calls[c].node);
    }
    return start(first);
  }

  NodeId first_work(NodeId region) const {
    for (std::uint32_t n = region.value + 1; n < tree_.recorded && tree_.start_ns[n] < end(region); ++n) {
      const EventClass c = tree_.event_class[n];
      if (c == EventClass::python_frame || (c == EventClass::annotation && !is_call(NodeId{n}))) continue;
      const std::string_view op = name(NodeId{n});
      if (op != "TorchDynamo Cache Lookup" && is_compile_overhead(op)) continue;
      return NodeId{n};
    }
    return kNoNode;
  }

  // Breaks without work between them wait for the same work, and so do breaks of two threads: the one whose wait began first
  // has it.
  void share_idle_out() {
    std::sort(out_.idle.begin(), out_.idle.end(), [](const BreakIdle& a, const BreakIdle& b) {
      return std::tie(a.device, a.start_ns, a.site) < std::tie(b.device, b.start_ns, b.site);
    });
    std::int64_t device = 0, taken_ns = INT64_MIN;
    for (BreakIdle& idle : out_.idle) {
      if (idle.device != device) taken_ns = INT64_MIN;
      device = idle.device;
      idle.start_ns = std::max(idle.start_ns, taken_ns);
      taken_ns = std::max(taken_ns, idle.end_ns);
    }
    std::erase_if(out_.idle, [](const BreakIdle& idle) { return idle.start_ns >= idle.end_ns; });
  }

  void list_recompiles() {
    const std::int64_t origin = scope_.origin_ns();
    for (const CacheLookup& lookup : regions_.lookups) {
      if (lookup.outcome != LookupOutcome::compiled || !scope_.holds(lookup.node)) continue;
      const CompiledCall& region = regions_.calls[lookup.region];
      if (region.id.compile <= 0) continue;
      Recompile recompile{
          .id = region.id, .node = region.node, .start_ns = end(lookup.node) - origin, .compile_ns = lookup.compile_ns};
      if (const auto frame = frame_of(region.node)) recompile.location = location_of(*frame);
      out_.recompiles.push_back(std::move(recompile));
    }
    std::sort(out_.recompiles.begin(), out_.recompiles.end(),
              [](const Recompile& a, const Recompile& b) { return std::pair(a.start_ns, a.id) < std::pair(b.start_ns, b.id); });
  }

  const Scope& scope_;
  const Model& model_;
  const Trace& trace_;
  const CallTree& tree_;
  const CompiledRegions& regions_;
  bool has_stacks_ = false;
  Breaks out_;
  std::vector<std::uint32_t> around_;        // by call: the region call around it
  std::vector<std::int64_t> depth_;          // by call: regions around it
  std::vector<bool> repeats_;                // by region call: the one before it in the same call is of its frame
  std::vector<bool> resumed_;                // by region call: behind a break
  std::vector<std::int64_t> last_work_ns_;   // by region call: start of its last own op, launch or graph call
  std::vector<std::uint32_t> last_nested_;   // by region call: its last nested region
  std::vector<std::int64_t> left_graph_ns_;  // by region call: the end of its last graph so far
  std::vector<std::uint32_t> first_backward_, last_backward_;  // by region call: the graphs of its backward
  std::map<std::tuple<CompileId, CompileId, std::int64_t, std::string>, std::size_t> row_of_break_;
  std::vector<std::size_t> row_of_site_;
};

}  // namespace

std::int64_t Breaks::occurrences() const {
  std::int64_t sum = 0;
  for (const GraphBreak& b : breaks) sum += b.occurrences;
  return sum;
}

Breaks compute_breaks(const Scope& scope) { return BreaksReader(scope).compute(); }

}  // namespace ridge
