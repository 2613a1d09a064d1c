// A row per group, with the columns of all traces side by side.
#include "analysis/diff/group_tables.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/diff/columns.h"
#include "analysis/shared/cells.h"

namespace ridge::diff {
namespace {

// Where a group is to be seen: an event of each trace, `event_b` one of trace b.
Column event_column(std::size_t trace) { return {"event_" + letter_of(trace), Type::integer, Unit::none, Role::event}; }
Cell event_cell(const GroupSide& side) { return side.event ? Cell(std::int64_t{side.event->value}) : Cell(); }

std::string_view change_word(const Group& group, std::size_t t) {
  if (group.sides[0].positions.empty()) return group.sides[t].positions.empty() ? "" : "added";
  if (group.sides[t].positions.empty()) return "removed";
  if (group.changes[t].delta_ns == 0) return "same";
  return group.changes[t].significant ? "changed" : "n.s.";
}

std::string note_of(const Group& group) {
  if (group.recomputed) return "partly recomputed in the backward pass";
  return group.equal_calls > 1 ? "one of " + std::to_string(group.equal_calls) + " equal calls" : "";
}

}  // namespace

Table groups_table(const Diff& diff) {
  const std::size_t n = diff.sides.size();
  Table table;
  table.name = "diff";
  table.columns = {{"group", Type::text}, {"match", Type::text}, {"category", Type::text}};
  table.hints.important = {"group"};
  for (std::size_t t = 1; t < n; ++t) table.hints.important.push_back(change_name(n, t, "delta", "_ns"));
  for (std::size_t t = 1; t < n; ++t) table.hints.important.push_back(change_name(n, t, "delta", "_pct"));
  for (std::size_t t = 0; t < n; ++t) table.hints.important.push_back("time_" + letter_of(t) + "_ns");
  for (std::size_t t = 1; t < n; ++t) table.hints.important.push_back(change_name(n, t, "change", ""));
  table.hints.important.insert(table.hints.important.end(), {"match", "category", "note"});
  add_per_trace(table, n, "count", "", Type::number, Unit::count);
  add_per_trace(table, n, "time", "_ns", Type::integer, Unit::ns);
  for (std::size_t t = 1; t < n; ++t) {
    table.columns.push_back({change_name(n, t, "delta", "_ns"), Type::integer, Unit::ns});
    table.columns.push_back({change_name(n, t, "delta", "_pct"), Type::number, Unit::percent});
    table.columns.push_back({change_name(n, t, "significant", ""), Type::boolean});
    table.hints.fold_unless.push_back(table.columns.back().name);
    table.hints.joined.ordered_by.push_back(change_name(n, t, "delta", "_ns"));
  }
  for (std::size_t t = 1; t < n; ++t) table.columns.push_back({change_name(n, t, "change", ""), Type::text});
  for (std::size_t t = 1; t < n; ++t) {
    table.columns.push_back({change_name(n, t, "delta_low", "_ns"), Type::number, Unit::ns});
    table.columns.push_back({change_name(n, t, "delta_high", "_ns"), Type::number, Unit::ns});
    table.hints.joined.unknown.insert(table.hints.joined.unknown.end(),
                                      {change_name(n, t, "delta_low", "_ns"), change_name(n, t, "delta_high", "_ns")});
  }
  table.hints.joined.percent_of = "time_a_ns";
  for (const char* name : {"phase", "note", "kernel", "shape"}) table.columns.push_back({name, Type::text});
  for (std::size_t t = 0; t < n; ++t) {
    table.columns.push_back(event_column(t));
    table.hints.joined.unknown.push_back(table.columns.back().name);
  }
  for (const Group& group : diff.groups) {
    Row row{group.name, group.match ? cells::text(name_of(*group.match)) : Cell(), std::string(name_of(group.category))};
    for (const GroupSide& side : group.sides) row.emplace_back(side.count);
    for (const GroupSide& side : group.sides) row.emplace_back(side.time_ns);
    for (std::size_t t = 1; t < n; ++t) {
      const GroupChange& change = group.changes[t];
      row.emplace_back(change.delta_ns);
      row.push_back(change.delta_pct ? Cell(*change.delta_pct) : Cell());
      row.emplace_back(change.significant);
    }
    for (std::size_t t = 1; t < n; ++t) row.push_back(cells::text(change_word(group, t)));
    for (std::size_t t = 1; t < n; ++t) {
      const auto& interval = group.changes[t].interval;
      row.push_back(interval ? Cell(interval->low) : Cell());
      row.push_back(interval ? Cell(interval->high) : Cell());
    }
    for (const std::string& text : {group.phase, note_of(group), group.kernel, group.shape}) row.push_back(cells::text(text));
    for (const GroupSide& side : group.sides) row.push_back(event_cell(side));
    table.add_row(row);
    table.hints.joined.titles.push(group.title);
  }
  Row total(3);
  for (const ListedTime& side : diff.listed) total.emplace_back(side.work);
  for (const ListedTime& side : diff.listed) total.emplace_back(side.gpu_ns);
  for (std::size_t t = 1; t < n; ++t) {
    const std::int64_t before = diff.listed[0].gpu_ns, after = diff.listed[t].gpu_ns;
    total.emplace_back(after - before);
    total.push_back(percent_of_change(before, after));
    total.emplace_back();
  }
  total.resize(table.columns.size());
  table.total = std::move(total);
  return table;
}

Table only_in_table(const Diff& diff, std::size_t t) {
  Table table;
  table.name = "only_in_" + letter_of(t);
  table.columns = {{"group", Type::text},
                   {"category", Type::text},
                   {"count", Type::number, Unit::count},
                   {"time_ns", Type::integer, Unit::ns},
                   {"note", Type::text},
                   {"kernel", Type::text},
                   {"shape", Type::text},
                   event_column(t)};
  table.hints.joined.ordered_by = {"time_ns"};
  table.hints.joined.unknown = {table.columns.back().name};
  struct Lacking {
    Row row;
    std::int64_t time_ns;
    std::string_view title;
  };
  std::vector<Lacking> found;
  const std::size_t n = diff.sides.size();
  for (const Group& group : diff.groups) {
    const GroupSide& side = group.sides[t];
    if (side.positions.empty()) continue;
    bool lacking = t != 0 && group.sides[0].positions.empty();
    double count = side.count;
    std::int64_t time = side.time_ns;
    std::string note = note_of(group);
    for (std::size_t other = t == 0 ? 1 : 0; other < (t == 0 ? n : 1); ++other) {
      const GroupSide& there = group.sides[other];
      lacking = lacking || there.positions.empty();
      const bool same_calls = group.match && *group.match <= Match::call;
      if (lacking || !same_calls || there.calls >= side.calls - 1e-9) continue;
      lacking = true;
      count = std::max(0.0, side.count - there.count);
      time = std::max<std::int64_t>(0, side.time_ns - there.time_ns);
      if (side.positions.size() == there.positions.size()) note += note.empty() ? "in some iterations" : ", in some iterations";
    }
    if (!lacking) continue;
    found.push_back({{group.name, std::string(name_of(group.category)), count, time, cells::text(note),
                      cells::text(group.kernel), cells::text(group.shape), event_cell(side)},
                     time,
                     group.title});
  }
  std::stable_sort(found.begin(), found.end(), [](const Lacking& a, const Lacking& b) { return a.time_ns > b.time_ns; });
  for (const Lacking& each : found) {
    table.add_row(each.row);
    table.hints.joined.titles.push(each.title);
  }
  return table;
}

Table renamed_table(const Diff& diff) {
  Table table;
  table.name = "renamed";
  table.columns = {
      {"group", Type::text}, {"match", Type::text}, {"category", Type::text}, {"time_a_ns", Type::integer, Unit::ns}};
  for (std::size_t t = 0; t < diff.sides.size(); ++t) {
    table.columns.push_back(event_column(t));
    table.hints.joined.unknown.push_back(table.columns.back().name);
  }
  table.hints.joined.ordered_by = {"time_a_ns"};
  for (const Group& group : diff.groups) {
    if (!group.renamed) continue;
    Row row{group.name, std::string(name_of(*group.match)), std::string(name_of(group.category)), group.sides[0].time_ns};
    for (const GroupSide& side : group.sides) row.push_back(event_cell(side));
    table.add_row(row);
    table.hints.joined.titles.push(group.title);
  }
  return table;
}

}  // namespace ridge::diff
