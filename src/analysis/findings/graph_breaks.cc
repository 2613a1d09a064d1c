// graph_breaks: where Dynamo leaves a compiled frame and resumes it. The idle time it stands for is claimed; fusion lost at the
// break cannot be told from a trace, so that a break whose cost hides behind queued work has no bound.
#include <fmt/format.h>

#include "analysis/findings/catalog.h"
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
  for (const BreakSite& site : breaks.sites) costliest.see(site.node.value, site.cpu_ns);
  return Finding{.finding = per_iteration(facts, breaks.occurrences(), "graph break"),
                 .at_most_ns = claim.ns() > 0 ? std::optional(claim.ns()) : std::nullopt,
                 .confidence = Confidence::high,
                 .evidence = list(facts, breaks.breaks),
                 .action =
                     "rewrite the line, or use what Dynamo can trace (torch.cond, torch.where, capture_scalar_outputs); "
                     "TORCH_LOGS=graph_breaks prints the reason, fullgraph=True raises at the first break",
                 .event = facts.event_of(costliest.id())};
}

}  // namespace ridge
