// The order of a comparison: call sequences, iterations, typical iterations, links, groups. Each step has a file of its own.
#include "analysis/diff/diff.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "analysis/diff/break_changes.h"
#include "analysis/diff/groups.h"
#include "analysis/diff/listed.h"
#include "analysis/diff/reconcile.h"
#include "analysis/diff/totals.h"
#include "base/distinct_names.h"
#include "base/in_parallel.h"

namespace ridge::diff {
namespace {

// One grain for all: the first trace is compared with each other one, and its positions are the same in every comparison.
Grain grain_of(std::span<const RunMode> modes) {
  Grain grain = Grain::call;
  for (const RunMode& mode : modes.subspan(1)) {
    const Grain pair = common_grain(modes[0], mode);
    if (pair != Grain::call) grain = pair;
    if (pair == Grain::op) break;  // generated kernels need ops to match
  }
  return grain;
}

// Replays of a whole step, or work without ops, in one trace say nothing of phases that another trace tells apart.
bool hides_phases(std::span<const Scope> scopes, std::span<const RunMode> modes) {
  if (std::none_of(modes.begin(), modes.end(), [](const RunMode& mode) { return mode.bare; })) return false;
  std::vector<std::uint32_t> evidence;
  for (const Scope& scope : scopes) evidence.push_back(told_phases(scope));
  const auto all = std::accumulate(evidence.begin(), evidence.end(), 0U, std::bit_or<>());
  for (std::size_t t = 0; t < scopes.size(); ++t) {
    if (modes[t].bare && evidence[t] != all) return true;
  }
  return false;
}

// What the position that knows its op says of one that does not. The same kernel is the same sort of work; a product that does
// a convolution's work is a convolution.
void copy_category(const Position& from, Position& to) {
  const auto is_conv = [](const SlotTime& slot) { return slot.category == Category::conv; };
  const bool conv = std::any_of(from.slots.begin(), from.slots.end(), is_conv);
  for (SlotTime& slot : to.slots) {
    const auto same = std::find_if(from.slots.begin(), from.slots.end(),
                                   [&](const SlotTime& s) { return s.kernel.name == slot.kernel.name; });
    if (same != from.slots.end()) {
      slot.category = same->category;
    } else if (conv && slot.category == Category::gemm) {
      slot.category = Category::conv;
    }
  }
}

// A replay, or a trace without ops, knows a kernel's name and not its op, without which a convolution's product counts as any
// product.
void copy_categories(TypicalIteration& a, TypicalIteration& b, const Links& links) {
  for (const Link& link : links) {
    const bool matrix = a.kind(link.a).heavy != Heavy::none && b.kind(link.b).heavy != Heavy::none;
    if (link.match != Match::kernel && !matrix) continue;
    const bool knows_a = !a.kind(link.a).op_text.empty(), knows_b = !b.kind(link.b).op_text.empty();
    if (knows_a && !knows_b) copy_category(a.positions[link.a], b.positions[link.b]);
    if (knows_b && !knows_a) copy_category(b.positions[link.b], a.positions[link.a]);
  }
}

}  // namespace

std::string letter_of(std::size_t trace) {
  return trace < 26 ? std::string(1, static_cast<char>('a' + trace)) : "t" + std::to_string(trace);
}

Diff compute_diff(std::span<const Scope> scopes, const DiffOptions& options) {
  const std::size_t n = scopes.size();
  JobSize job;
  for (const Scope& scope : scopes) job.events += scope.trace().events.size();
  std::vector<RunMode> modes(n);
  for_each_index(job, n, [&](std::size_t t) { modes[t] = run_mode(scopes[t]); });
  const Grain grain = grain_of(modes);
  TraceEvidence evidence;
  evidence.places =
      grain != Grain::kernel && std::all_of(scopes.begin(), scopes.end(), [](const Scope& s) { return has_places(s.trace()); });
  evidence.phases = !hides_phases(scopes, modes);
  KeyPool pool;
  std::vector<CallSequence> sequences(n);
  for_each_index(job, n, [&](std::size_t t) { sequences[t] = build_sequence(scopes[t], grain, evidence, pool); });
  for (std::size_t t = 1; t < n; ++t) {
    reconcile_iterations(sequences[0], scopes[0].model().iterations().rule, sequences[t], scopes[t].model().iterations().rule);
  }
  std::vector<TypicalIteration> typical(n);
  Diff diff;
  diff.sides.resize(n);
  for_each_index(job, n, [&](std::size_t t) {
    typical[t] = build_template(scopes[t], std::move(sequences[t]), pool);
    diff.sides[t] = compute_totals(scopes[t], typical[t]);
  });
  std::vector<std::string> paths;
  for (const Scope& scope : scopes) paths.push_back(scope.trace().path);
  const std::vector<std::string> names = distinct_names(paths);
  for (std::size_t t = 0; t < n; ++t) diff.sides[t].name = names[t];
  std::vector<Links> links(n);
  for_each_index(job, n - 1, [&](std::size_t i) { links[i + 1] = match(typical[0], typical[i + 1], modes[0], modes[i + 1]); });
  for (std::size_t t = 1; t < n; ++t) copy_categories(typical[0], typical[t], links[t]);
  for (std::size_t t = 0; t < n; ++t) add_device_time(typical[t], diff.sides[t]);
  diff.groups = build_groups(typical, links, options.thresholds);
  keep_matching_groups(scopes[0], typical, diff);
  add_listed_time(typical, diff);
  diff.breaks = compare_breaks(scopes, typical);
  diff.no_device_events =
      std::all_of(typical.begin(), typical.end(), [](const TypicalIteration& t) { return t.positions.empty(); });
  return diff;
}

}  // namespace ridge::diff
