// Each trace's breaks are paired with all those seen before it, so that a break has one row however many traces have it.
#include "analysis/diff/break_changes.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "base/align.h"
#include "facts/breaks.h"

namespace ridge::diff {

using alignment::align;
using alignment::AlignInput;
using alignment::Evidence;
using alignment::Pair;
using alignment::pair_by_occurrence;

namespace {

// "model.py:95 (forward)" without its line.
std::string function_of(std::string_view location) {
  const std::size_t space = location.find(' '), colon = location.substr(0, space).rfind(':');
  if (colon == std::string_view::npos) return std::string(location);
  return std::string(location.substr(0, colon)) + std::string(space == std::string_view::npos ? "" : location.substr(space));
}

// A break as it stands for itself in one trace.
struct BreakPoint {
  std::string location;  // empty: not known
  std::string shown;
  std::string reason;
  std::int64_t depth = 0;
  double occurrences = 0;  // per iteration
};

std::vector<BreakPoint> points_of(const Scope& scope, std::int64_t iterations) {
  std::vector<GraphBreak> breaks = compute_breaks(scope).breaks;
  std::sort(breaks.begin(), breaks.end(), [](const GraphBreak& a, const GraphBreak& b) {
    return std::tuple(a.frame, a.parent, a.depth, a.location) < std::tuple(b.frame, b.parent, b.depth, b.location);
  });
  std::vector<BreakPoint> points;
  for (GraphBreak& b : breaks) {
    const std::string frame = b.frame.known() ? "frame " + text_of(b.frame) : "depth " + std::to_string(b.depth);
    const double occurrences = static_cast<double>(b.occurrences) / static_cast<double>(std::max<std::int64_t>(1, iterations));
    points.push_back({b.location, b.location.empty() ? frame : b.location, std::move(b.reason), b.depth, occurrences});
  }
  return points;
}

bool all_located(std::span<const BreakPoint> points) {
  return std::none_of(points.begin(), points.end(), [](const BreakPoint& p) { return p.location.empty(); });
}

std::vector<Pair> pair_points(std::span<const BreakPoint> a, std::span<const BreakPoint> b) {
  AlignInput input;
  input.levels.resize(3);
  KeyPool pool;
  const bool located = all_located(a) && all_located(b);
  const auto add = [&](std::span<const BreakPoint> points, std::vector<std::uint64_t> Evidence::* side) {
    for (const BreakPoint& point : points) {
      (input.levels[0].*side).push_back(pool.of(point.location));
      (input.levels[1].*side).push_back(pool.of(function_of(point.location)));
      (input.levels[2].*side).push_back(located ? 0 : combine(0, static_cast<std::uint64_t>(point.depth)));
    }
  };
  add(a, &Evidence::a);
  add(b, &Evidence::b);
  if (a.empty() || b.empty()) return {};
  std::vector<Pair> pairs = align(input);
  // What changed places.
  for (const Evidence& level : input.levels) {
    std::vector<std::uint8_t> paired_a(a.size()), paired_b(b.size());
    for (const auto& [i, j] : pairs) paired_a[i] = paired_b[j] = 1;
    std::vector<std::uint32_t> left_a, left_b;
    for (std::uint32_t i = 0; i < a.size(); ++i) {
      if (paired_a[i] == 0) left_a.push_back(i);
    }
    for (std::uint32_t j = 0; j < b.size(); ++j) {
      if (paired_b[j] == 0) left_b.push_back(j);
    }
    const std::vector<Pair> moved = pair_by_occurrence(left_a, left_b, level);
    pairs.insert(pairs.end(), moved.begin(), moved.end());
  }
  return pairs;
}

// A break of one trace or more, while they are compared.
struct ChangingBreak {
  BreakChange change;
  std::vector<std::string> reasons;  // different ones
  std::string last_shown;            // in the last trace that has it
};

void add_reason(const std::string& reason, std::vector<std::string>* reasons) {
  if (!reason.empty() && std::find(reasons->begin(), reasons->end(), reason) == reasons->end()) reasons->push_back(reason);
}

bool is_in_same_traces(const BreakChange& a, const BreakChange& b) {
  return std::equal(a.occurrences.begin(), a.occurrences.end(), b.occurrences.begin(),
                    [](double x, double y) { return (x > 0) == (y > 0); });
}

std::vector<ChangingBreak> follow_breaks(std::span<const Scope> scopes, std::span<const TypicalIteration> typical) {
  std::vector<BreakPoint> points;  // of all traces, each once
  std::vector<ChangingBreak> followed;
  for (std::size_t t = 0; t < scopes.size(); ++t) {
    const std::vector<BreakPoint> found = points_of(scopes[t], typical[t].iterations);
    std::vector<std::size_t> row_of(found.size(), SIZE_MAX);
    for (const auto& [known, i] : pair_points(points, found)) row_of[i] = known;
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (row_of[i] == SIZE_MAX) {
        row_of[i] = points.size();
        points.push_back(found[i]);
        followed.push_back({{found[i].shown, {}, 1, std::vector<double>(scopes.size())}, {}, found[i].shown});
      }
      ChangingBreak& at = followed[row_of[i]];
      at.change.occurrences[t] = found[i].occurrences;
      add_reason(found[i].reason, &at.reasons);
      if (found[i].shown != at.last_shown) at.change.location += " -> " + found[i].shown;
      at.last_shown = found[i].shown;
    }
  }
  return followed;
}

// Those of one place in the same traces, in one row.
std::vector<ChangingBreak> merged(std::vector<ChangingBreak> followed) {
  std::vector<ChangingBreak> rows;
  for (ChangingBreak& each : followed) {
    const auto same = std::find_if(rows.begin(), rows.end(), [&](const ChangingBreak& row) {
      return row.change.location == each.change.location && is_in_same_traces(row.change, each.change);
    });
    if (same == rows.end()) {
      rows.push_back(std::move(each));
      continue;
    }
    ++same->change.breaks;
    for (const std::string& reason : each.reasons) add_reason(reason, &same->reasons);
    for (std::size_t t = 0; t < each.change.occurrences.size(); ++t) same->change.occurrences[t] += each.change.occurrences[t];
  }
  return rows;
}

}  // namespace

std::vector<BreakChange> compare_breaks(std::span<const Scope> scopes, std::span<const TypicalIteration> typical) {
  std::vector<BreakChange> rows;
  for (ChangingBreak& row : merged(follow_breaks(scopes, typical))) {
    for (const std::string& reason : row.reasons) row.change.reason += (row.change.reason.empty() ? "" : "; ") + reason;
    rows.push_back(std::move(row.change));
  }
  std::sort(rows.begin(), rows.end(), [](const BreakChange& a, const BreakChange& b) {
    return std::tuple(a.location, b.occurrences) < std::tuple(b.location, a.occurrences);
  });
  return rows;
}

}  // namespace ridge::diff
