// The tables of `ranks`: ranks, stragglers, collectives, groups, messages, steps, job.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "analysis/collectives/collectives.h"
#include "analysis/ranks/ranks.h"
#include "analysis/ranks/ranks_findings.h"
#include "analysis/shared/cells.h"
#include "base/median.h"
#include "base/saturating.h"

namespace ridge {
namespace {

constexpr std::string_view kNoStragglersCode = "no_stragglers";

Cell rounded(double ns) { return static_cast<std::int64_t>(std::llround(ns)); }

Cell per(std::optional<std::int64_t> bytes, std::int64_t ns) {
  return bytes && ns > 0 ? Cell(static_cast<double>(*bytes) * 1e9 / static_cast<double>(ns)) : Cell();
}

// "[0, 1, 2, 3]": as traces list the members of a group.
std::string as_list(const std::vector<std::int64_t>& ranks) {
  std::string text = "[";
  for (const std::int64_t rank : ranks) text += (text.size() > 1 ? ", " : "") + std::to_string(rank);
  return text + "]";
}

Cell link_of(const JobGroup& group) {
  return !group.hosts_known ? Cell() : Cell(std::string(group.one_host ? "within_node" : "between_nodes"));
}

// What the links of a group carry at the very best. Between machines each of its ranks there has a port of its own, and the
// machine with fewest ranks bounds the ring.
std::optional<double> link_peak(const Ranks& found, const JobGroup& group) {
  if (!group.hosts_known) return std::nullopt;
  if (group.one_host) return found.peer_bytes_per_s;
  if (!found.network_bytes_per_s) return std::nullopt;
  std::map<std::string_view, int> hosts;
  for (const std::uint32_t r : group.members) ++hosts[found.job.ranks[r].digest->host];
  const auto fewest =
      std::min_element(hosts.begin(), hosts.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  const double network = *found.network_bytes_per_s * fewest->second;
  return found.peer_bytes_per_s ? std::min(network, *found.peer_bytes_per_s) : network;
}

Cell share_of_peak(const Ranks& found, const JobGroup& group, const Cell& busbw) {
  const auto peak = link_peak(found, group);
  return peak && std::holds_alternative<double>(busbw) ? Cell(std::get<double>(busbw) / *peak * 100) : Cell();
}

Cell bus_bandwidth(const std::string& name, const JobGroup& group, const Cell& algbw) {
  const auto factor = group.size ? bus_factor(name, *group.size) : std::nullopt;
  return factor && std::holds_alternative<double>(algbw) ? Cell(std::get<double>(algbw) * *factor) : Cell();
}

Table ranks_table(const Ranks& found) {
  Table table;
  table.name = "ranks";
  table.hints.important = {"rank", "step_ns", "late_ns", "wait_ns", "transfer_ns", "compute_ns", "busy_ns", "offset_ns"};
  table.columns = {{"rank", Type::integer},
                   {"file", Type::text},
                   {"offset_ns", Type::integer, Unit::ns},
                   {"step_ns", Type::integer, Unit::ns},
                   {"busy_ns", Type::integer, Unit::ns},
                   {"compute_ns", Type::integer, Unit::ns},
                   {"comm_ns", Type::integer, Unit::ns},
                   {"wait_ns", Type::integer, Unit::ns},
                   {"transfer_ns", Type::integer, Unit::ns},
                   {"late_ns", Type::integer, Unit::ns},
                   {"exposed_ns", Type::integer, Unit::ns},
                   {"bubble_ns", Type::integer, Unit::ns},
                   {"steps", Type::integer, Unit::count},
                   {"offset_error_ns", Type::integer, Unit::ns},
                   {"drift_ppm", Type::number},
                   {"host", Type::text}};
  const JobRank* const reference = found.ranks.empty() ? nullptr : found.ranks.front().rank;
  for (const RankSums& sums : found.ranks) {
    const JobRank& rank = *sums.rank;
    const Digest& digest = *rank.digest;
    Cell offset, error, drift;
    if (rank.aligned && rank.clock == reference->clock) {
      // What is added to the times as the traces have them, where these say when they begin.
      const auto base = digest.base_time_ns, first = reference->digest->base_time_ns;
      std::int64_t apart = rank.offset_ns;
      saturating_add(&apart, -reference->offset_ns);
      saturating_add(&apart, base && first ? *first - *base : 0);
      offset = apart;
      error = rank.error_ns;
      drift = std::round((rank.drift - reference->drift) * 1e9) / 1e3;
    }
    const bool stepped = !digest.steps.empty();
    table.add_row({rank.rank, rank.file, offset, stepped ? Cell(sums.step_ns) : Cell(),
                   stepped ? Cell(sums.total.busy_ns) : Cell(), stepped ? Cell(sums.total.compute_ns) : Cell(),
                   sums.total.wait_ns + sums.total.transfer_ns, sums.total.wait_ns, sums.total.transfer_ns, sums.total.late_ns,
                   stepped ? Cell(sums.total.exposed_ns) : Cell(), sums.bubble_ns,
                   static_cast<std::int64_t>(digest.steps.size()), error, drift, cells::text(digest.host)});
  }
  return table;
}

Table stragglers_table(const Ranks& found) {
  Table table;
  table.name = "stragglers";
  table.columns = {{"rank", Type::integer},
                   {"group", Type::text},
                   {"cause", Type::text},
                   {"costs_ns", Type::integer, Unit::ns},
                   {"costs_pct", Type::number, Unit::percent},
                   {"evidence", Type::text, Unit::none, Role::plain, true}};
  for (const Straggler& straggler : found.stragglers.list) {
    Cell rank, group;
    if (straggler.rank) rank = found.job.ranks[*straggler.rank].rank;
    if (straggler.group) group = as_list(found.job.groups[*straggler.group].ranks);
    table.add_row(
        {rank, group, std::string(name_of(straggler.cause)), straggler.costs_ns, straggler.costs_pct, straggler.evidence});
  }
  return table;
}

Table collectives_table(const Ranks& found) {
  Table table;
  table.name = "collectives";
  table.hints.important = {"name", "group", "ranks", "count", "wait_ns", "transfer_ns", "busbw", "exposed_ns", "bytes"};
  table.columns = {{"name", Type::text},
                   {"group", Type::text},
                   {"ranks", Type::integer, Unit::count},
                   {"count", Type::integer, Unit::count},
                   {"bytes", Type::integer, Unit::bytes},
                   {"wait_ns", Type::integer, Unit::ns},
                   {"transfer_ns", Type::integer, Unit::ns},
                   {"algbw", Type::number, Unit::bytes_per_s},
                   {"busbw", Type::number, Unit::bytes_per_s},
                   {"pct_peak_link", Type::number, Unit::percent},
                   {"exposed_ns", Type::integer, Unit::ns},
                   {"dtype", Type::text},
                   {"role", Type::text},
                   {"link", Type::text}};
  for (const MeetingSums& sums : found.collectives) {
    const JobGroup& group = found.job.groups[sums.group];
    const std::string& name = found.job.names[sums.name];
    const Cell algbw = per(sums.bytes, sums.sized_ns), busbw = bus_bandwidth(name, group, algbw);
    table.add_row({name, cells::text(group.label), cells::integer(group.size), sums.count, cells::integer(sums.bytes),
                   rounded(sums.wait_ns), sums.transfer_ns, algbw, busbw, share_of_peak(found, group, busbw),
                   rounded(sums.exposed_ns), cells::text(found.job.names[sums.dtype]),
                   cells::text(std::string(name_of(group.role))), link_of(group)});
  }
  return table;
}

Table groups_table(const Ranks& found) {
  Table table;
  table.name = "groups";
  table.columns = {{"group", Type::text},
                   {"description", Type::text},
                   {"role", Type::text},
                   {"ranks", Type::integer, Unit::count},
                   {"given", Type::integer, Unit::count},
                   {"link", Type::text},
                   {"collectives", Type::integer, Unit::count},
                   {"wait_ns", Type::integer, Unit::ns},
                   {"transfer_ns", Type::integer, Unit::ns},
                   {"members", Type::text}};
  std::vector<std::int64_t> counts(found.job.groups.size());
  std::vector<std::int64_t> transfers(found.job.groups.size());
  std::vector<double> waits(found.job.groups.size());
  for (const MeetingSums& sums : found.collectives) {
    counts[sums.group] += sums.count;
    waits[sums.group] += sums.wait_ns;
    transfers[sums.group] += sums.transfer_ns;
  }
  for (std::size_t g = 0; g < found.job.groups.size(); ++g) {
    const JobGroup& group = found.job.groups[g];
    table.add_row({cells::text(group.label), cells::text(group.description), cells::text(std::string(name_of(group.role))),
                   cells::integer(group.size), static_cast<std::int64_t>(group.members.size()), link_of(group), counts[g],
                   rounded(waits[g]), transfers[g], listed_for_people(group.ranks)});
  }
  return table;
}

Table messages_table(const Ranks& found) {
  Table table;
  table.name = "messages";
  table.columns = {{"name", Type::text},
                   {"group", Type::text},
                   {"bytes", Type::integer, Unit::bytes},
                   {"count", Type::integer, Unit::count},
                   {"median_transfer_ns", Type::integer, Unit::ns},
                   {"busbw", Type::number, Unit::bytes_per_s}};
  for (const MessageSums& sums : found.messages) {
    const JobGroup& group = found.job.groups[sums.group];
    const std::string& name = found.job.names[sums.name];
    table.add_row({name, cells::text(group.label), sums.bytes, sums.count, sums.median_ns,
                   bus_bandwidth(name, group, per(sums.bytes, sums.median_ns))});
  }
  return table;
}

Table steps_table(const Ranks& found) {
  Table table;
  table.name = "steps";
  table.columns = {{"rank", Type::integer},
                   {"step", Type::integer},
                   {"start_ns", Type::integer, Unit::ns},
                   {"step_ns", Type::integer, Unit::ns},
                   {"busy_ns", Type::integer, Unit::ns},
                   {"compute_ns", Type::integer, Unit::ns},
                   {"wait_ns", Type::integer, Unit::ns},
                   {"transfer_ns", Type::integer, Unit::ns},
                   {"late_ns", Type::integer, Unit::ns}};
  for (const RankSums& sums : found.ranks) {
    if (sums.rank->digest->steps.empty()) continue;
    for (const RankStep& step : sums.steps) {
      table.add_row({sums.rank->rank, step.number, step.start_ns, step.step_ns, step.busy_ns, step.compute_ns, step.wait_ns,
                     step.transfer_ns, step.late_ns});
    }
  }
  return table;
}

Table job_table(const Ranks& found) {
  Table table;
  table.name = "job";
  table.hints.key_value = true;
  table.columns = {{"ranks", Type::integer, Unit::count},
                   {"world_size", Type::integer, Unit::count},
                   {"missing", Type::integer, Unit::count},
                   {"hosts", Type::integer, Unit::count},
                   {"step_ns", Type::integer, Unit::ns},
                   {"replayed_step_ns", Type::integer, Unit::ns},
                   {"step_if_median_ns", Type::integer, Unit::ns},
                   {"wait_pct", Type::number, Unit::percent},
                   {"transfer_pct", Type::number, Unit::percent},
                   {"exposed_pct", Type::number, Unit::percent},
                   {"bubble_pct", Type::number, Unit::percent},
                   {"peer_link_bytes_per_s", Type::number, Unit::bytes_per_s},
                   {"peer_link_source", Type::text}};
  double all = 0, wait = 0, transfer = 0, exposed = 0, bubble = 0;
  std::vector<std::string_view> hosts;
  for (const RankSums& sums : found.ranks) {
    all += static_cast<double>(sums.step_ns) * static_cast<double>(sums.rank->digest->steps.size());
    wait += static_cast<double>(sums.waiting_ns);
    transfer += static_cast<double>(sums.in_collectives_ns - sums.waiting_ns);
    exposed += static_cast<double>(sums.total.exposed_ns);
    bubble += static_cast<double>(sums.bubble_ns);
    hosts.push_back(sums.rank->digest->host);
  }
  std::sort(hosts.begin(), hosts.end());
  hosts.erase(std::unique(hosts.begin(), hosts.end()), hosts.end());
  const bool hosts_known = std::find(hosts.begin(), hosts.end(), "") == hosts.end();
  const auto share = [&](double ns) { return all > 0 ? Cell(ns / all * 100) : Cell(); };
  table.add_row({static_cast<std::int64_t>(found.ranks.size()), cells::integer(found.job.world_size),
                 found.job.world_size ? Cell(found.job.missing) : Cell(),
                 hosts_known ? Cell(static_cast<std::int64_t>(hosts.size())) : Cell(),
                 found.step_ns > 0 ? Cell(found.step_ns) : Cell(), cells::integer(found.stragglers.replayed_ns),
                 cells::integer(found.stragglers.if_median_ns), share(wait), share(transfer), share(exposed), share(bubble),
                 found.peer_bytes_per_s ? Cell(*found.peer_bytes_per_s) : Cell(), cells::text(found.peer_source)});
  return table;
}

// An all-clear holds for the ranks whose traces are there.
std::string no_straggler(const Ranks& found) {
  std::int64_t lost = 0;
  for (const RankSums& sums : found.ranks) lost += sums.rank->digest->damaged && sums.rank->digest->collectives.empty();
  if (found.job.missing + lost == 0) return "no straggler: no rank or link costs the step 2 % or more";
  const auto given = static_cast<std::int64_t>(found.ranks.size());
  return fmt::format("no straggler among the {} of {} ranks that could be compared: none costs the step 2 % or more",
                     given - lost, given + found.job.missing);
}

std::string headline_of(const Ranks& found) {
  if (found.stragglers.list.empty()) return no_straggler(found);
  const Straggler& first = found.stragglers.list.front();
  if (!first.alike.empty()) {
    std::vector<std::int64_t> ranks;
    for (const std::uint32_t r : first.alike) ranks.push_back(found.job.ranks[r].rank);
    const std::string of_host = first.host.empty() ? std::string() : ", all of host " + first.host;
    return fmt::format("ranks {} ({}{}) cost {:.1f} % of the step together", listed_for_people(ranks), name_of(first.cause),
                       of_host, first.alike_pct);
  }
  const std::string who = first.rank ? "rank " + std::to_string(found.job.ranks[*first.rank].rank)
                                     : "the link of ranks " + listed_for_people(found.job.groups[*first.group].ranks);
  return fmt::format("{} ({}) costs {:.1f} % of the step", who, name_of(first.cause), first.costs_pct);
}

// Links are judged by groups that do the same. Of a group that has no like it is said that nobody can tell, and how fast it
// is, where its transfers take enough of a step to matter.
bool say_lonely_links(const Ranks& found, Report* report) {
  std::map<std::tuple<std::uint32_t, std::uint32_t, GroupRole, std::int64_t>, std::set<std::uint32_t>> alike;
  const auto key_of = [&](const MeetingSums& sums) {
    const JobGroup& group = found.job.groups[sums.group];
    return std::tuple(sums.name, sums.dtype, group.role, group.size.value_or(0));
  };
  for (const MeetingSums& sums : found.collectives) alike[key_of(sums)].insert(sums.group);
  std::map<std::uint32_t, const MeetingSums*> lonely;  // its longest transfers
  const double least = 0.02 * static_cast<double>(found.step_ns) * static_cast<double>(found.stragglers.steps);
  for (const MeetingSums& sums : found.collectives) {
    if (alike[key_of(sums)].size() > 1 || found.job.groups[sums.group].members.size() < 2) continue;
    if (static_cast<double>(sums.transfer_ns) < least) continue;
    const MeetingSums*& longest = lonely[sums.group];
    if (longest == nullptr || sums.transfer_ns > longest->transfer_ns) longest = &sums;
  }
  constexpr std::size_t kMostSaid = 3;
  std::size_t said = 0;
  for (const auto& [g, sums] : lonely) {
    if (said++ == kMostSaid) break;
    const JobGroup& group = found.job.groups[g];
    const std::string& name = found.job.names[sums->name];
    const Cell busbw = bus_bandwidth(name, group, per(sums->bytes, sums->sized_ns));
    const Cell share = share_of_peak(found, group, busbw);
    std::string speed = "how fast it is cannot be told either";
    if (std::holds_alternative<double>(busbw))
      speed = fmt::format("its {} reaches {:.3g} GB/s of bus", name, std::get<double>(busbw) / 1e9);
    if (std::holds_alternative<double>(share)) speed += fmt::format(", {:.0f} % of the link's peak", std::get<double>(share));
    report->diagnostics.push_back({"link_unjudged", 1,
                                   fmt::format("whether the link of group {} (ranks {}) is slow cannot be told: no other group "
                                               "does the same to compare it with; {}",
                                               group.label, listed_for_people(group.ranks), speed),
                                   "info"});
  }
  return !lonely.empty();
}

void say_uneven_stages(const Ranks& found, Report* report) {
  if (!found.stages) return;
  const UnevenStages& stages = *found.stages;
  // A rank of it that is a straggler makes the stage long: that is told already.
  for (const Straggler& straggler : found.stragglers.list) {
    if (straggler.rank && std::ranges::find(stages.ranks, found.job.ranks[*straggler.rank].rank) != stages.ranks.end()) return;
  }
  const auto ms = [](std::int64_t ns) { return static_cast<double>(ns) / 1e6; };
  report->diagnostics.push_back(
      {"stages_uneven", 1,
       fmt::format("stage {} of the pipeline (ranks {}) computes {:.2f} ms a step, the mean stage {:.2f}: the others wait for "
                   "it. Dealt "
                   "out evenly, a step would take up to {:.2f} ms less ({:.1f} %)",
                   stages.stage, listed_for_people(stages.ranks), ms(stages.longest_ns), ms(stages.mean_ns),
                   ms(stages.longest_ns - stages.mean_ns),
                   static_cast<double>(stages.longest_ns - stages.mean_ns) * 100 / static_cast<double>(found.step_ns))});
}

}  // namespace

Report report_ranks(const Ranks& found) {
  Report report;
  report.tables.push_back(ranks_table(found));
  report.tables.push_back(stragglers_table(found));
  report.tables.push_back(collectives_table(found));
  report.tables.push_back(groups_table(found));
  report.tables.push_back(messages_table(found));
  report.tables.push_back(steps_table(found));
  report.tables.push_back(job_table(found));
  const auto known = std::ranges::count_if(found.ranks, [](const RankSums& s) { return s.rank->digest->knows_findings; });
  if (known > 0) report.tables.push_back(findings_of_ranks(found));
  report.diagnostics = found.job.diagnostics;
  for (const Diagnostic& diagnostic : found.stragglers.diagnostics) report.diagnostics.push_back(diagnostic);
  say_uneven_stages(found, &report);
  const bool lonely = say_lonely_links(found, &report);
  if (found.job.meetings.empty()) {
    report.diagnostics.push_back({"no_collectives", 1, "the traces have no communication: nothing to compare ranks by"});
  } else if (found.stragglers.list.empty() && found.stragglers.replayed_ns) {
    report.diagnostics.push_back({std::string(kNoStragglersCode), 1, no_straggler(found), "info"});
  }
  if (found.stragglers.replayed_ns) report.headline = headline_of(found);
  if (!report.headline.empty() && found.stragglers.list.empty() && lonely)
    report.headline += "; a link without its like cannot be judged";
  return report;
}

}  // namespace ridge
