// Each part is looked up in the graph once.
#include "predict/removal.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "base/saturating.h"
#include "predict/host_time.h"

namespace ridge {
namespace {

// The node of each row of device work; kNone when it has none.
std::vector<std::uint32_t> nodes_of_rows(const StepGraph& graph, std::size_t rows) {
  std::vector<std::uint32_t> node_of(rows, StepGraph::kNone);
  for (std::uint32_t node = graph.first_device; node < graph.size(); ++node) node_of[graph.source[node]] = node;
  return node_of;
}

void drop_waits(const std::vector<NodeId>& calls, const StepGraph& graph, StepTimes* times) {
  std::vector<std::uint32_t> dropped;
  for (const NodeId call : calls) dropped.push_back(call.value);
  std::sort(dropped.begin(), dropped.end());
  for (std::uint32_t node = 0; node < graph.first_device; ++node) {
    if (graph.kind[node] != StepKind::wait || graph.source[node] == StepGraph::kNone) continue;
    if (!std::binary_search(dropped.begin(), dropped.end(), graph.source[node])) continue;
    times->duration_ns[node] = 0;
    for (std::uint32_t e = graph.first_edge[node]; e < graph.first_edge[node + 1]; ++e) times->edge_lag_ns[e] = kNoWait;
  }
}

void remove_gaps(const Removal& removal, const StepGraph& graph, const std::vector<std::uint32_t>& node_of, StepTimes* times) {
  for (const Removal::Gap& part : removal.gaps) {
    if (node_of[part.row] == StepGraph::kNone) continue;
    std::int64_t& gap = times->gap_ns[node_of[part.row] - graph.first_device];
    gap = std::max<std::int64_t>(0, gap - part.ns);
  }
}

void remove_host(const Removal& removal, const StepGraph& graph, StepTimes* times) {
  HostTime host(graph, times);
  for (const Removal::Host& part : apart(removal.host)) {
    const StepLane* lane = host.lane_of(part.thread);
    if (lane != nullptr) host.shrink(*lane, part.time, std::clamp(part.share, 0.0, 1.0));
  }
  host.apply();
}

}  // namespace

std::vector<Removal::Host> apart(std::vector<Removal::Host> parts) {
  std::erase_if(parts, [](const Removal::Host& part) { return part.time.length() <= 0; });
  std::ranges::sort(parts, {}, [](const Removal::Host& part) { return std::pair(part.thread, part.time.start_ns); });
  std::vector<Removal::Host> out;
  std::map<double, std::int64_t> active;  // until when each share reaches
  const auto advance = [&](std::uint32_t thread, std::int64_t from, std::int64_t to) {
    while (from < to && !active.empty()) {
      const auto [share, until] = *active.rbegin();
      if (until <= from) {
        active.erase(std::prev(active.end()));
        continue;
      }
      const Interval time{from, std::min(to, until)};
      const bool goes_on =
          !out.empty() && out.back().thread == thread && out.back().time.end_ns == from && out.back().share == share;
      if (goes_on) {
        out.back().time.end_ns = time.end_ns;
      } else {
        out.push_back({thread, time, share});
      }
      from = time.end_ns;
    }
  };
  std::int64_t at = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Removal::Host& part = parts[i];
    if (i > 0 && parts[i - 1].thread != part.thread) {
      advance(parts[i - 1].thread, at, INT64_MAX);
      active.clear();
    } else if (i > 0) {
      advance(part.thread, at, part.time.start_ns);
    }
    at = part.time.start_ns;
    std::int64_t& until = active[part.share];
    until = std::max(until, part.time.end_ns);
  }
  if (!parts.empty()) advance(parts.back().thread, at, INT64_MAX);
  out.shrink_to_fit();
  return out;
}

std::vector<Removal::Work> work_gone(std::span<const Removal* const> removals) {
  struct OfRow {
    std::uint32_t row, of;
    std::int64_t claimed_ns, ns;
  };
  std::vector<OfRow> parts;
  for (std::uint32_t r = 0; r < removals.size(); ++r) {
    for (const Removal::Work& part : removals[r]->work) parts.push_back({part.row, r, part.beside ? 0 : part.ns, part.ns});
  }
  std::ranges::sort(parts, {}, [](const OfRow& part) { return std::pair(part.row, part.of); });
  std::vector<Removal::Work> work;
  for (std::size_t i = 0; i < parts.size();) {
    const std::uint32_t row = parts[i].row;
    std::int64_t claimed_ns = 0, most_ns = 0;  // by all; by one, with what goes beside its claim
    while (i < parts.size() && parts[i].row == row) {
      std::int64_t of_one = 0;
      for (const std::uint32_t of = parts[i].of; i < parts.size() && parts[i].row == row && parts[i].of == of; ++i) {
        saturating_add(&claimed_ns, parts[i].claimed_ns);
        saturating_add(&of_one, parts[i].ns);
      }
      most_ns = std::max(most_ns, of_one);
    }
    work.push_back({row, std::max(claimed_ns, most_ns)});
  }
  return work;
}

void remove_time(std::span<const Removal* const> removals, const ChangeContext& context, StepTimes* times) {
  const StepGraph& graph = context.graph;
  const bool any = std::ranges::any_of(removals, [](const Removal* r) { return !r->work.empty() || !r->gaps.empty(); });
  const auto node_of =
      any ? nodes_of_rows(graph, context.scope.trace().of(EventClass::device_work).size()) : std::vector<std::uint32_t>();
  for (const Removal::Work& part : work_gone(removals)) {
    if (node_of[part.row] == StepGraph::kNone) continue;
    std::int64_t& duration = times->duration_ns[node_of[part.row]];
    duration = std::max<std::int64_t>(0, duration - part.ns);
  }
  for (const Removal* removal : removals) {
    remove_gaps(*removal, graph, node_of, times);
    remove_host(*removal, graph, times);
    drop_waits(removal->waits, graph, times);
  }
}

}  // namespace ridge
