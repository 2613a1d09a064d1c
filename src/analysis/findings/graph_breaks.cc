// graph_breaks: where Dynamo leaves a compiled frame and resumes it, or gives a frame up and compiles what it calls. The idle
// time it stands for is claimed, and what the host does between the graphs before and behind it goes with it: leaving one,
// eager ops that would be part of the whole, lookups, entering the next. There is no bound: what the compiler would fuse across
// the break cannot be told from a trace.
#include <algorithm>
#include <functional>
#include <unordered_set>

#include <fmt/format.h>

#include "analysis/findings/catalog.h"
#include "analysis/findings/host_gone.h"
#include "base/units.h"
#include "facts/break_costs.h"

namespace ridge {
namespace {

std::string place_of(const GraphBreak& b) {
  if (!b.location.empty()) return b.location;
  const std::string resumed = b.frame.frame >= 0 ? fmt::format("frame {}", b.frame.frame) : "a frame";
  return b.parent.frame >= 0 ? fmt::format("{} resumed from frame {}", resumed, b.parent.frame) : resumed + " resumed";
}

std::string list(const Facts& facts, const std::vector<GraphBreak>& breaks) {
  const std::int64_t rounds = facts.ledger().rounds();
  std::string out = rounds > 1 ? "per iteration: " : "";
  constexpr std::size_t kBreaksShown = 8;  // the lines are what a reader comes for
  for (std::size_t i = 0; i < breaks.size() && i < kBreaksShown; ++i) {
    const GraphBreak& b = breaks[i];
    const Tally::Entry entry{.count = b.occurrences, .ns = b.cpu_ns};
    out += (i == 0 ? "" : "; ") + evidence_line(place_of(b), entry, rounds) + (b.cpu_ns > 0 ? " of host time" : "");
    if (!b.reason.empty()) out += " (" + b.reason + ")";
  }
  return out + (breaks.size() > kBreaksShown ? and_more(breaks.size() - kBreaksShown) : "");
}

// From the start of the frame that goes on behind a break to the first op of the first graph in it: its code, frames that it
// calls, which would be part of it, guards of theirs, and the graph's caller, which hands over parameters and checks their
// sizes. A kernel on the host may stand there too, so that no more than this counts.
constexpr std::int64_t kMostEntryNs = 150'000;
constexpr std::string_view kGivenUpFirst =
    "begin with what breaks inside a loop, with or try: Dynamo then runs the whole function eager, and compiles what it calls "
    "piece by piece (so does module.compile() of a container, torch.compile(module) does not); ";
// What is fused across comes on top, and what the recorder takes of such code varies.
constexpr double kDoubt = 0.6;

void add_entry(const Facts& facts, NodeId resumed, HostGone* gone) {
  constexpr std::string_view kGraph = "## Call CompiledFxGraph";
  const CallTree& tree = facts.tree();
  const auto [from, end] = facts.time(resumed);
  NodeId graph = kNoNode;
  for (std::uint32_t n = resumed.value + 1; n < tree.recorded && tree.start_ns[n] < end; ++n) {
    const bool works = tree.event_class[n] == EventClass::op || tree.event_class[n] == EventClass::launch;
    if (graph == kNoNode) {
      if (facts.name(NodeId{n}).starts_with(kGraph)) graph = NodeId{n};
      if (works && facts.name(NodeId{n}).starts_with("aten::")) return;  // eager code runs first
    } else if (works) {
      gone->add(graph, {from, std::min(tree.start_ns[n], from + kMostEntryNs)});
      return;
    }
  }
}

// What the host does between two graphs of one compiled frame. Eager ops there become part of a graph: of those that a compiler
// fuses, one launch is left; products and the like keep theirs. Code of the program that nothing shows stays.
class BetweenGraphs {
 public:
  BetweenGraphs(Facts& facts, HostGone* gone) : facts_(facts), gone_(gone) {
    for (const DeviceLedger& device : facts.ledger().devices()) {
      for (const WorkSlot& slot : device.work) {
        if (!is_fused(slot)) mark(facts.launch(slot.work.row));
      }
    }
  }

  void look() {
    std::int64_t seen_ns = kNever;  // spans of a thread do not overlap, and calls are in tree order
    std::size_t thread = SIZE_MAX, span = 0;
    const std::vector<EagerSpan>& given_up = facts_.breaks().given_up;
    for (const CompiledCall& call : facts_.model().compiled_regions().calls) {
      if (call.sort != CompiledSort::region || call.parent != kNoCall || !facts_.scope().holds(call.node)) continue;
      const auto [start, end] = facts_.time(call.node);
      if (const std::size_t its = thread_of(facts_.tree(), call.node); its != thread) thread = its, seen_ns = kNever;
      if (start < seen_ns) continue;
      while (span < given_up.size() && given_up[span].first < call.node) ++span;
      const bool is_given_up = span < given_up.size() && given_up[span].first == call.node;
      seen_ns = is_given_up ? given_up[span].end_ns : end;
      look_at(call.node, seen_ns);
    }
  }

 private:
  static constexpr std::int64_t kNever = INT64_MIN;

  bool is_fused(const WorkSlot& slot) const {
    if (slot.work.sort == WorkSort::set) return true;
    const Category category = facts_.identity(slot.work.row).category;
    return slot.work.sort == WorkSort::compute && (category == Category::elementwise || category == Category::layout ||
                                                   category == Category::reduction || category == Category::norm);
  }
  void mark(NodeId n) {
    for (; n != kNoNode && n.value < facts_.tree().recorded && stays_.insert(n.value).second;)
      n = facts_.tree().parent[n.value];
  }

  // A compiled frame, or all that a given-up one calls.
  void look_at(NodeId frame, std::int64_t end) {
    const CallTree& tree = facts_.tree();
    const CompiledRegions& regions = facts_.model().compiled_regions();
    const HostThread& thread = tree.threads[thread_of(tree, frame)];
    const std::uint32_t last = std::min(thread.first + thread.count, tree.recorded);
    on_ = frame;
    from_ = kNever, seen_ = facts_.time(frame).start_ns;
    eager_ = eager_ns_ = 0;
    std::uint32_t graph = kNoCall;
    std::int64_t until = kNever;  // the end of an op whose parts are not looked at
    for (std::uint32_t n = frame.value + 1; n < last && tree.start_ns[n] < end; ++n) {
      if (tree.event_class[n] == EventClass::python_frame || tree.start_ns[n] < until) continue;
      const std::uint32_t call = regions.call_at(NodeId{n});
      const bool in_graph = call != kNoCall && regions.calls[call].sort == CompiledSort::graph;
      const std::int64_t start = tree.start_ns[n];
      if (start - seen_ > kMostEntryNs) go_on_at(start);
      const bool itself = call != kNoCall && regions.calls[call].node.value == n;
      const bool op = tree.event_class[n] == EventClass::op, works = op || tree.event_class[n] == EventClass::launch;
      if (itself) {
        seen_ = start;
        continue;
      }
      seen_ = std::max(seen_, tree.end_ns[n]);
      if (in_graph && works) {
        if (call != graph) go_on_at(start);
        graph = call;
        from_ = until = tree.end_ns[n];
      } else if (!in_graph && op && facts_.name(NodeId{n}).find("::") != std::string_view::npos) {
        until = tree.end_ns[n];
        if (stays_.contains(n)) {
          go_on_at(start);
          if (from_ != kNever) from_ = until;
        } else {
          ++eager_;
          eager_ns_ += until - start;
        }
      }
    }
    if (eager_ > 0) go_on_at(until);
  }

  // What lies between the last op that stays and this time goes.
  void go_on_at(std::int64_t time_ns) {
    const std::int64_t launch = eager_ > 0 ? eager_ns_ / eager_ : 0;
    const std::int64_t to = std::min(time_ns, seen_ + kMostEntryNs) - launch;
    if (from_ != kNever && to > from_) add_but_compiling({from_, to});
    if (from_ != kNever) from_ = time_ns;
    eager_ = eager_ns_ = 0;
  }

  // What compiles there does so once, and has findings of its own.
  void add_but_compiling(Interval time) {
    const std::vector<HostStall>& stalls = facts_.model().host_stalls().of_thread[thread_of(facts_.tree(), on_)];
    auto stall = std::ranges::lower_bound(stalls, time.start_ns, std::less<>(), &HostStall::end_ns);
    for (; stall != stalls.end() && stall->start_ns < time.end_ns; ++stall) {
      if (stall->cause != IdleCause::compile) continue;
      if (stall->start_ns > time.start_ns) gone_->add(on_, {time.start_ns, stall->start_ns});
      time.start_ns = std::max(time.start_ns, stall->end_ns);
    }
    if (time.end_ns > time.start_ns) gone_->add(on_, time);
  }

  Facts& facts_;
  HostGone* gone_;
  std::unordered_set<std::uint32_t> stays_;  // nodes around launches that no compiler fuses
  NodeId on_ = kNoNode;
  std::int64_t from_ = kNever, seen_ = 0;
  std::int64_t eager_ = 0, eager_ns_ = 0;  // ops since
};

}  // namespace

std::optional<Finding> find_graph_breaks(Facts& facts) {
  const Breaks& breaks = facts.breaks();
  if (breaks.breaks.empty()) return std::nullopt;
  Claim claim(facts.ledger());
  for (const BreakIdle& idle : breaks.idle) {
    for (std::size_t d = 0; d < facts.ledger().devices().size(); ++d) {
      if (facts.ledger().devices()[d].device == idle.device) claim.take_idle_within(d, {idle.start_ns, idle.end_ns});
    }
  }
  claim.keep_anyway();
  Largest costliest;
  HostGone gone(facts);
  for (const BreakSite& site : breaks.sites) {
    costliest.see(site.node.value, site.cpu_ns);
    add_entry(facts, site.node, &gone);
  }
  BetweenGraphs(facts, &gone).look();
  return Finding{.finding = per_iteration(facts, breaks.occurrences(), "graph break"),
                 .at_most_ns = {},
                 .confidence = Confidence::high,
                 .evidence = list(facts, breaks.breaks) + "; what would be fused across them has no bound",
                 .action = std::string(breaks.given_up.empty() ? "" : kGivenUpFirst) +
                           "rewrite the line, or use what Dynamo can trace (torch.cond, torch.where, capture_scalar_outputs); "
                           "TORCH_LOGS=graph_breaks prints the reason, fullgraph=True raises at the first break",
                 .event = facts.event_of(costliest.id()),
                 .gone = gone.removal(),
                 .doubt = kDoubt};
}

}  // namespace ridge
