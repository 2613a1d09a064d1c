// The tables of `ranks --before`: ranks, changes, waterfall, stragglers, collectives.
#include "analysis/ranks/job_changes.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "analysis/collectives/collectives.h"
#include "analysis/shared/cells.h"

namespace ridge {
namespace {

using Maybe = std::optional<double>;

Cell whole(Maybe ns) { return ns ? Cell(static_cast<std::int64_t>(std::llround(*ns))) : Cell(); }
// Of what is shown: the difference of two cells is what their row says.
Cell difference(Maybe a, Maybe b) { return a && b ? whole(std::round(*b) - std::round(*a)) : Cell(); }
Cell percent_more(Maybe a, Maybe b) { return a && b && *a > 0 ? Cell((*b - *a) / *a * 100) : Cell(); }

double steps_of(const RankSums& sums) { return static_cast<double>(std::max<std::size_t>(1, sums.rank->digest->steps.size())); }

// A part of a step, of one rank.
struct StepPart {
  std::string_view name;
  double (*of)(const RankSums&);
};
constexpr StepPart kParts[] = {
    {"step", [](const RankSums& s) { return static_cast<double>(s.step_ns); }},
    {"compute", [](const RankSums& s) { return static_cast<double>(s.total.compute_ns) / steps_of(s); }},
    {"wait", [](const RankSums& s) { return static_cast<double>(s.total.wait_ns) / steps_of(s); }},
    {"transfer", [](const RankSums& s) { return static_cast<double>(s.total.transfer_ns) / steps_of(s); }},
    {"exposed", [](const RankSums& s) { return static_cast<double>(s.total.exposed_ns) / steps_of(s); }},
    {"bubble", [](const RankSums& s) { return static_cast<double>(s.bubble_ns) / steps_of(s); }},
};

const RankSums* find_rank(const Ranks& job, std::int64_t rank) {
  const auto it = std::lower_bound(job.ranks.begin(), job.ranks.end(), rank,
                                   [](const RankSums& s, std::int64_t r) { return s.rank->rank < r; });
  return it != job.ranks.end() && it->rank->rank == rank ? &*it : nullptr;
}

Table ranks_changes(const Ranks& a, const Ranks& b) {
  Table table;
  table.name = "ranks";
  table.columns = {{"rank", Type::integer},
                   {"step_a_ns", Type::integer, Unit::ns},
                   {"step_b_ns", Type::integer, Unit::ns},
                   {"delta_ns", Type::integer, Unit::ns},
                   {"delta_pct", Type::number, Unit::percent},
                   {"compute_delta_ns", Type::integer, Unit::ns},
                   {"wait_delta_ns", Type::integer, Unit::ns},
                   {"transfer_delta_ns", Type::integer, Unit::ns}};
  std::set<std::int64_t> all;
  for (const Ranks* job : {&a, &b}) {
    for (const RankSums& sums : job->ranks) all.insert(sums.rank->rank);
  }
  for (const std::int64_t rank : all) {
    const RankSums *in_a = find_rank(a, rank), *in_b = find_rank(b, rank);
    const auto value = [](const RankSums* sums, const StepPart& part) {
      return sums != nullptr ? Maybe(part.of(*sums)) : Maybe();
    };
    const auto delta = [&](const StepPart& part) { return difference(value(in_a, part), value(in_b, part)); };
    const Maybe step_a = value(in_a, kParts[0]), step_b = value(in_b, kParts[0]);
    table.add_row({rank, whole(step_a), whole(step_b), difference(step_a, step_b), percent_more(step_a, step_b),
                   delta(kParts[1]), delta(kParts[2]), delta(kParts[3])});
  }
  return table;
}

Maybe mean_of(const Ranks& job, const StepPart& part) {
  if (job.ranks.empty()) return std::nullopt;
  double sum = 0;
  for (const RankSums& sums : job.ranks) sum += part.of(sums);
  return sum / static_cast<double>(job.ranks.size());
}

Table parts_changes(const Ranks& a, const Ranks& b) {
  Table table;
  table.name = "changes";
  table.columns = {{"part", Type::text},
                   {"time_a_ns", Type::integer, Unit::ns},
                   {"time_b_ns", Type::integer, Unit::ns},
                   {"delta_ns", Type::integer, Unit::ns},
                   {"delta_pct", Type::number, Unit::percent}};
  for (const StepPart& part : kParts) {
    const Maybe in_a = mean_of(a, part), in_b = mean_of(b, part);
    table.add_row({std::string(part.name), whole(in_a), whole(in_b), difference(in_a, in_b), percent_more(in_a, in_b)});
  }
  return table;
}

// A step as what its device computed and what held it up meanwhile. The last is what is left, so that they add up to the step.
struct LanePart {
  std::string_view name;
  std::int64_t (*of)(const DigestStep&);
};
template <LaneIdle cause>
std::int64_t held_up(const DigestStep& step) {
  return step.idle_ns[static_cast<std::size_t>(cause)];
}
constexpr LanePart kLaneParts[] = {
    {"compute", [](const DigestStep& s) { return s.compute_ns; }},
    {"collective", held_up<LaneIdle::collective>},
    {"launch", held_up<LaneIdle::launch>},
    {"loader", held_up<LaneIdle::loader>},
    {"sync", held_up<LaneIdle::sync>},
    {"other", held_up<LaneIdle::other>},
};

// The means of the parts over all ranks, and behind them what is left of a step.
std::vector<Maybe> lane_parts(const Ranks& job) {
  std::vector<Maybe> means(std::size(kLaneParts) + 1);
  const Maybe step = mean_of(job, kParts[0]);
  if (!step) return means;
  double rest = std::round(*step);
  for (std::size_t i = 0; i < std::size(kLaneParts); ++i) {
    double sum = 0;
    for (const RankSums& sums : job.ranks) {
      double of_rank = 0;
      const std::span<const DigestStep> counted = counted_steps(sums);
      for (const DigestStep& each : counted) of_rank += static_cast<double>(kLaneParts[i].of(each));
      sum += of_rank / static_cast<double>(std::max<std::size_t>(1, counted.size()));
    }
    means[i] = std::round(sum / static_cast<double>(job.ranks.size()));
    rest -= *means[i];
  }
  means.back() = rest;
  return means;
}

Table waterfall_of(const Ranks& a, const Ranks& b) {
  Table table;
  table.name = "waterfall";
  table.columns = {{"part", Type::text},
                   {"time_a_ns", Type::integer, Unit::ns},
                   {"time_b_ns", Type::integer, Unit::ns},
                   {"delta_ns", Type::integer, Unit::ns}};
  const std::vector<Maybe> in_a = lane_parts(a), in_b = lane_parts(b);
  for (std::size_t i = 0; i < in_a.size(); ++i) {
    const std::string_view name = i < std::size(kLaneParts) ? kLaneParts[i].name : "rest";
    table.add_row({std::string(name), whole(in_a[i]), whole(in_b[i]), difference(in_a[i], in_b[i])});
  }
  const Maybe step_a = mean_of(a, kParts[0]), step_b = mean_of(b, kParts[0]);
  table.total = Row{std::string("step"), whole(step_a), whole(step_b), difference(step_a, step_b)};
  return table;
}

Table straggler_changes(const Ranks& a, const Ranks& b) {
  using Key = std::tuple<std::optional<std::int64_t>, std::string, std::string>;
  std::map<Key, std::pair<Maybe, Maybe>> all;
  const auto add = [&](const Ranks& job, Maybe std::pair<Maybe, Maybe>::* side) {
    for (const Straggler& straggler : job.stragglers.list) {
      std::optional<std::int64_t> rank;
      std::string group;
      if (straggler.rank) rank = job.job.ranks[*straggler.rank].rank;
      if (straggler.group) group = fmt::format("[{}]", fmt::join(job.job.groups[*straggler.group].ranks, ", "));
      all[{rank, group, std::string(name_of(straggler.cause))}].*side = static_cast<double>(straggler.costs_ns);
    }
  };
  add(a, &std::pair<Maybe, Maybe>::first);
  add(b, &std::pair<Maybe, Maybe>::second);
  Table table;
  table.name = "stragglers";
  table.columns = {{"rank", Type::integer},
                   {"group", Type::text},
                   {"cause", Type::text},
                   {"costs_a_ns", Type::integer, Unit::ns},
                   {"costs_b_ns", Type::integer, Unit::ns}};
  for (const auto& [key, costs] : all) {
    const auto& [rank, group, cause] = key;
    table.add_row({cells::integer(rank), cells::text(group), cause, whole(costs.first), whole(costs.second)});
  }
  return table;
}

Table collective_changes(const Ranks& a, const Ranks& b) {
  using Key = std::tuple<std::string, std::string, std::optional<std::int64_t>>;
  struct Side {
    Maybe wait_ns, transfer_ns;
    double bytes = 0, sized_ns = 0;  // of those that say
  };
  std::map<Key, std::pair<Side, Side>> all;
  const auto add = [&](const Ranks& job, Side std::pair<Side, Side>::* side) {
    const auto steps = static_cast<double>(std::max<std::int64_t>(1, job.stragglers.steps));
    for (const MeetingSums& sums : job.collectives) {
      const JobGroup& group = job.job.groups[sums.group];
      Side& to = all[{job.job.names[sums.name], group.label, group.size}].*side;
      to.wait_ns = to.wait_ns.value_or(0) + sums.wait_ns / steps;
      to.transfer_ns = to.transfer_ns.value_or(0) + static_cast<double>(sums.transfer_ns) / steps;
      if (!sums.bytes) continue;
      to.bytes += static_cast<double>(*sums.bytes);
      to.sized_ns += static_cast<double>(sums.sized_ns);
    }
  };
  add(a, &std::pair<Side, Side>::first);
  add(b, &std::pair<Side, Side>::second);
  Table table;
  table.name = "collectives";
  table.columns = {{"name", Type::text},
                   {"group", Type::text},
                   {"ranks", Type::integer, Unit::count},
                   {"wait_a_ns", Type::integer, Unit::ns},
                   {"wait_b_ns", Type::integer, Unit::ns},
                   {"transfer_a_ns", Type::integer, Unit::ns},
                   {"transfer_b_ns", Type::integer, Unit::ns},
                   {"busbw_a", Type::number, Unit::bytes_per_s},
                   {"busbw_b", Type::number, Unit::bytes_per_s}};
  for (const auto& [key, sides] : all) {
    const auto& [name, group, size] = key;
    const auto factor = size ? bus_factor(name, *size) : std::nullopt;
    const auto bus = [&](const Side& side) {
      return side.sized_ns > 0 && factor ? Cell(side.bytes * 1e9 / side.sized_ns * *factor) : Cell();
    };
    table.add_row({name, cells::text(group), cells::integer(size), whole(sides.first.wait_ns), whole(sides.second.wait_ns),
                   whole(sides.first.transfer_ns), whole(sides.second.transfer_ns), bus(sides.first), bus(sides.second)});
  }
  return table;
}

}  // namespace

Report report_job_changes(const Ranks& before, const Ranks& after) {
  Report report;
  report.tables.push_back(ranks_changes(before, after));
  report.tables.push_back(parts_changes(before, after));
  report.tables.push_back(waterfall_of(before, after));
  report.tables.push_back(straggler_changes(before, after));
  report.tables.push_back(collective_changes(before, after));
  for (const Ranks* job : {&before, &after}) {
    for (Diagnostic diagnostic : job->job.diagnostics) {
      diagnostic.message = (job == &before ? "before: " : "after: ") + diagnostic.message;
      report.diagnostics.push_back(std::move(diagnostic));
    }
  }
  if (before.step_ns > 0 && after.step_ns > 0) {
    const double more = static_cast<double>(after.step_ns - before.step_ns) * 100 / static_cast<double>(before.step_ns);
    report.headline =
        fmt::format("a step takes {:.1f} % {}: {:.2f} ms before, {:.2f} ms after", std::abs(more), more < 0 ? "less" : "more",
                    static_cast<double>(before.step_ns) / 1e6, static_cast<double>(after.step_ns) / 1e6);
  }
  return report;
}

}  // namespace ridge
