// Marks of graph breaks: the label of each, and where it stands.
#include "timeline/break_marks.h"

#include <utility>

#include "facts/breaks.h"

namespace ridge {
namespace {

std::string label_of(const BreakSite& site) {
  if (site.location.empty()) return site.reason.empty() ? "graph break" : site.reason;
  return site.reason.empty() ? site.location : site.location + ": " + site.reason;
}

std::string label_of(const Recompile& recompile) {
  const std::string which = "recompiled as " + text_of(recompile.id);
  return recompile.location.empty() ? which : recompile.location + ": " + which;
}

}  // namespace

std::vector<Mark> break_marks(std::shared_ptr<const CostModel> costs) {
  const Model& model = costs->model();
  const Scope scope(model, std::move(costs));
  const Breaks breaks = compute_breaks(scope);
  const CallTree& tree = model.tree();
  const std::int64_t origin = scope.origin_ns();
  std::vector<Mark> marks;
  for (const BreakSite& site : breaks.sites) {
    const EventId event = tree.event[site.node.value];
    marks.push_back({.kind = "break",
                     .start_ns = tree.start_ns[site.node.value] - origin,
                     .dur_ns = site.cpu_ns,
                     .track = model.trace().track(event).value,
                     .id = event.value,
                     .label = label_of(site)});
  }
  for (const Recompile& recompile : breaks.recompiles) {
    const EventId event = tree.event[recompile.node.value];
    marks.push_back({.kind = "recompile",
                     .start_ns = recompile.start_ns,
                     .dur_ns = recompile.compile_ns,
                     .track = model.trace().track(event).value,
                     .id = event.value,
                     .label = label_of(recompile)});
  }
  return marks;
}

}  // namespace ridge
