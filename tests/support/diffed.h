// Two traces compared, with what a test asks of the answer.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "analysis/diff/diff.h"
#include "support/loaded_trace.h"

namespace ridge::test {

// Traces that live as long as the answer does.
struct Diffed {
  std::vector<LoadedTrace> traces;
  std::vector<Scope> scopes;
  diff::Diff answer;

  explicit Diffed(std::vector<LoadedTrace> loaded, const diff::DiffOptions& options = {}) : traces(std::move(loaded)) {
    for (const LoadedTrace& trace : traces) scopes.emplace_back(*trace.model);
    answer = diff::compute_diff(scopes, options);
  }

  std::vector<const diff::Group*> groups_where(bool (*wanted)(const diff::Group&)) const {
    std::vector<const diff::Group*> found;
    for (const diff::Group& group : answer.groups) {
      if (wanted(group)) found.push_back(&group);
    }
    return found;
  }

  // Percent of a trace's device time in groups that are matched by `weakest` evidence or better.
  double coverage(std::size_t side, diff::Match weakest) const {
    double matched = 0, all = 0;
    for (const diff::Group& group : answer.groups) {
      const auto time = static_cast<double>(group.sides[side].time_ns);
      all += time;
      if (group.match && *group.match <= weakest) matched += time;
    }
    return all > 0 ? 100 * matched / all : 100;
  }
};

inline Diffed diff_texts(std::string_view a, std::string_view b) {
  std::vector<LoadedTrace> traces;
  traces.emplace_back(read_ok(a));
  traces.emplace_back(read_ok(b));
  return Diffed(std::move(traces));
}

inline Diffed diff_files(const std::string& a, const std::string& b) {
  std::vector<LoadedTrace> traces;
  traces.push_back(load_file(a));
  traces.push_back(load_file(b));
  return Diffed(std::move(traces));
}

// Whatever is listed by group or by category adds up to the change of the whole, to the nanosecond; busy and idle time to the
// wall time.
inline void expect_closed(const Diffed& diffed, const std::string& what) {
  for (const diff::SideTotals& side : diffed.answer.sides) {
    EXPECT_EQ(side.has_device, side.gpu_ns > 0 || side.work > 0) << what;
    if (!side.has_device) continue;
    std::int64_t idle = 0;
    for (const std::int64_t time : side.idle_by_cause_ns) idle += time;
    EXPECT_EQ(idle, side.idle_ns) << what;
    EXPECT_EQ(side.busy_ns + side.idle_ns, side.wall_ns) << what;
    EXPECT_GE(side.busy_ns, 0) << what;
  }
  for (std::size_t t = 1; t < diffed.answer.sides.size(); ++t) {
    std::int64_t by_group = 0, by_category = 0;
    for (const diff::Group& group : diffed.answer.groups) by_group += group.changes[t].delta_ns;
    for (std::size_t c = 0; c < kCategories; ++c)
      by_category += diffed.answer.sides[t].category_ns[c] - diffed.answer.sides[0].category_ns[c];
    const std::int64_t change = diffed.answer.sides[t].gpu_ns - diffed.answer.sides[0].gpu_ns;
    EXPECT_EQ(by_group, change) << what;
    EXPECT_EQ(by_category, change) << what;
  }
}

}  // namespace ridge::test
