// Joined by their ids; whom one saves most comes first.
#include "analysis/ranks/ranks_findings.h"

#include <algorithm>
#include <map>
#include <optional>

#include "analysis/shared/cells.h"
#include "base/median.h"

namespace ridge {
namespace {

// Who asks about all ranks has a trace of each.
std::string for_whole_job(const std::string& action) {
  constexpr std::string_view kHint = "; to find a late rank, record one trace per rank";
  std::string text = action;
  if (const std::size_t at = text.find(kHint); at != std::string::npos) text.erase(at, kHint.size());
  return text;
}

}  // namespace

std::string listed_for_people(const std::vector<std::int64_t>& ranks) {
  std::string text;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    if (last == i + 1) last = i;
    text += (text.empty() ? "" : ", ") + std::to_string(ranks[i]) + (last > i ? "-" + std::to_string(ranks[last]) : "");
    i = last + 1;
  }
  return text;
}

Table findings_of_ranks(const Ranks& found) {
  struct Held {
    std::string finding, action;
    std::vector<std::int64_t> ranks, saves, at_most;
    std::int64_t most_rank = 0;  // whom it saves most
    std::optional<std::int64_t> most = {};
  };
  std::map<std::string, Held> all;
  for (const RankSums& sums : found.ranks) {
    for (const DigestFinding& finding : sums.rank->digest->findings) {
      Held& held = all[finding.id];
      if (held.ranks.empty()) held.finding = finding.finding, held.action = finding.action;
      if (!held.ranks.empty() && held.ranks.back() == sums.rank->rank) continue;
      held.ranks.push_back(sums.rank->rank);
      if (finding.saves_ns) held.saves.push_back(*finding.saves_ns);
      if (finding.saves_ns && finding.saves_ns > held.most) held.most = finding.saves_ns, held.most_rank = sums.rank->rank;
      if (finding.at_most_ns) held.at_most.push_back(*finding.at_most_ns);
    }
  }
  std::vector<std::pair<std::string, Held>> rows(all.begin(), all.end());
  const auto typical = [](const std::vector<std::int64_t>& values) {
    return values.empty() ? std::nullopt : std::optional(median(values));
  };
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const auto& a, const auto& b) { return a.second.most.value_or(-1) > b.second.most.value_or(-1); });
  Table table;
  table.name = "findings";
  table.columns = {{"id", Type::text},
                   {"finding", Type::text},
                   {"holds_for", Type::integer, Unit::count},
                   {"saves_ns", Type::integer, Unit::ns},
                   {"at_most_ns", Type::integer, Unit::ns},
                   {"ranks", Type::text},
                   {"most_saves_ns", Type::integer, Unit::ns},
                   {"most_rank", Type::integer},
                   {"do", Type::text, Unit::none, Role::plain, true}};
  for (const auto& [id, held] : rows) {
    table.add_row({id, held.finding, static_cast<std::int64_t>(held.ranks.size()), cells::integer(typical(held.saves)),
                   cells::integer(typical(held.at_most)), listed_for_people(held.ranks), cells::integer(held.most),
                   held.most ? Cell(held.most_rank) : Cell(), for_whole_job(held.action)});
  }
  return table;
}

}  // namespace ridge
