// graph_breaks: where Dynamo leaves a compiled frame and resumes it. The idle time it stands for is claimed, and what entering
// the graph behind it costs the host goes with it. There is no bound: what the compiler would fuse across the break cannot be
// told from a trace.
#include <algorithm>

#include <fmt/format.h>

#include "analysis/findings/catalog.h"
#include "analysis/findings/host_gone.h"
#include "base/units.h"

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
// What is fused across may bring as much again, and what the recorder takes of such code varies as much: of a table's
// transformer with twelve breaks 14 to 21 % is seen, and 38 % was saved.
constexpr double kDoubt = 1;

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
  return Finding{.finding = per_iteration(facts, breaks.occurrences(), "graph break"),
                 .at_most_ns = {},
                 .confidence = Confidence::high,
                 .evidence = list(facts, breaks.breaks) + "; what would be fused across them has no bound",
                 .action =
                     "rewrite the line, or use what Dynamo can trace (torch.cond, torch.where, capture_scalar_outputs); "
                     "TORCH_LOGS=graph_breaks prints the reason, fullgraph=True raises at the first break",
                 .event = facts.event_of(costliest.id()),
                 .gone = gone.removal(),
                 .doubt = kDoubt};
}

}  // namespace ridge
