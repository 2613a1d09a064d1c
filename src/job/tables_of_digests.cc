// Each table is filled digest by digest; `rank` comes first in all of them, as the trace tells it, and is null where it does
// not.
#include "job/tables_of_digests.h"

#include <optional>
#include <string>
#include <string_view>

namespace ridge {
namespace {

template <class T>
Cell known_or_null(const std::optional<T>& value) {
  return value ? Cell(static_cast<std::int64_t>(*value)) : Cell();
}

Cell text_or_null(const std::string& text) { return text.empty() ? Cell() : Cell(text); }

Cell count_cell(std::size_t count) { return static_cast<std::int64_t>(count); }

Cell name_at(const std::vector<std::string>& names, std::uint32_t index) {
  return index < names.size() ? text_or_null(names[index]) : Cell();
}

Column time_column(std::string name) { return {std::move(name), Type::integer, Unit::ns}; }
Column count_column(std::string name) { return {std::move(name), Type::integer, Unit::count}; }

constexpr std::string_view kItemNames[kLaneItemKinds] = {"run", "collective", "wait", "sync", "loader", "pause"};

Table table_of_ranks(std::span<const Digest> digests) {
  Table table{.name = "ranks"};
  table.columns = {{"rank", Type::integer},     {"file", Type::text},    {"host", Type::text},
                   {"device", Type::text},      {"backend", Type::text}, {"world_size", Type::integer, Unit::count},
                   time_column("base_time_ns"), time_column("start_ns"), time_column("end_ns"),
                   {"damaged", Type::boolean},  count_column("steps"),   count_column("collectives")};
  for (const Digest& d : digests) {
    table.add_row({known_or_null(d.rank), d.path, text_or_null(d.host), text_or_null(d.device), text_or_null(d.backend),
                   known_or_null(d.world_size), known_or_null(d.base_time_ns), d.start_ns, d.end_ns, d.damaged,
                   count_cell(d.steps.size()), count_cell(d.collectives.size())});
  }
  return table;
}

Table table_of_groups(std::span<const Digest> digests) {
  Table table{.name = "groups"};
  table.columns = {{"rank", Type::integer},
                   {"group", Type::text},
                   {"description", Type::text},
                   {"size", Type::integer, Unit::count},
                   {"ranks", Type::text}};
  for (const Digest& d : digests) {
    for (const DigestGroup& group : d.groups) {
      std::string ranks;
      for (const std::int64_t rank : group.ranks) ranks += (ranks.empty() ? "" : ",") + std::to_string(rank);
      table.add_row({known_or_null(d.rank), text_or_null(group.name), text_or_null(group.description),
                     known_or_null(group.size), text_or_null(ranks)});
    }
  }
  return table;
}

Table table_of_steps(std::span<const Digest> digests) {
  Table table{.name = "steps"};
  table.columns = {{"rank", Type::integer},       {"step", Type::integer},     time_column("start_ns"),
                   time_column("end_ns"),         time_column("busy_ns"),      time_column("compute_ns"),
                   time_column("comm_ns"),        time_column("exposed_ns"),   time_column("idle_launch_ns"),
                   time_column("idle_loader_ns"), time_column("idle_sync_ns"), time_column("idle_collective_ns"),
                   time_column("idle_other_ns")};
  for (const Digest& d : digests) {
    for (const DigestStep& step : d.steps) {
      Row row = {known_or_null(d.rank), step.number,     step.start_ns, step.end_ns,
                 step.busy_ns,          step.compute_ns, step.comm_ns,  step.exposed_ns};
      for (const std::int64_t idle : step.idle_ns) row.emplace_back(idle);
      table.add_row(row);
    }
  }
  return table;
}

Table table_of_collectives(std::span<const Digest> digests) {
  Table table{.name = "collectives"};
  table.columns = {{"rank", Type::integer},        {"number", Type::integer},
                   {"step", Type::integer},        {"group", Type::text},
                   {"name", Type::text},           {"dtype", Type::text},
                   {"sequence", Type::integer},    {"source", Type::integer},
                   {"destination", Type::integer}, {"bytes", Type::integer, Unit::bytes},
                   time_column("start_ns"),        time_column("end_ns"),
                   time_column("exposed_ns"),      {"on_host", Type::boolean}};
  for (const Digest& d : digests) {
    for (std::size_t i = 0; i < d.collectives.size(); ++i) {
      const DigestCollective& c = d.collectives[i];
      const Cell step = c.step < d.steps.size() ? Cell(d.steps[c.step].number) : Cell();
      const Cell group = c.group < d.groups.size() ? text_or_null(d.groups[c.group].name) : Cell();
      table.add_row({known_or_null(d.rank), count_cell(i), step, group, name_at(d.names, c.name), name_at(d.names, c.dtype),
                     known_or_null(c.sequence), known_or_null(c.source), known_or_null(c.destination), known_or_null(c.bytes),
                     c.start_ns, c.end_ns, c.exposed_ns, c.on_host});
    }
  }
  return table;
}

Table table_of_kernels(std::span<const Digest> digests) {
  Table table{.name = "kernels"};
  table.columns = {
      {"rank", Type::integer}, {"kernel", Type::text}, {"shape", Type::integer}, count_column("count"), time_column("time_ns")};
  for (const Digest& d : digests) {
    for (const DigestKernel& kernel : d.kernels)
      table.add_row(
          {known_or_null(d.rank), kernel.name, static_cast<std::int64_t>(kernel.shape), kernel.count, kernel.time_ns});
  }
  return table;
}

Table table_of_ops(std::span<const Digest> digests) {
  Table table{.name = "ops"};
  table.columns = {{"rank", Type::integer}, {"op", Type::text}, count_column("count"), time_column("self_ns")};
  for (const Digest& d : digests) {
    for (const DigestOp& op : d.ops) table.add_row({known_or_null(d.rank), op.name, op.count, op.self_ns});
  }
  return table;
}

// What a rank did between collectives, in the order of issue.
Table table_of_intervals(std::span<const Digest> digests) {
  Table table{.name = "intervals"};
  table.columns = {{"rank", Type::integer},       {"number", Type::integer}, {"kind", Type::text},
                   {"collective", Type::integer}, time_column("host_ns"),    time_column("device_ns"),
                   count_column("kernels"),       time_column("kernel_ns"),  {"work", Type::integer}};
  for (const Digest& d : digests) {
    for (std::size_t i = 0; i < d.items.size(); ++i) {
      const LaneItem& item = d.items[i];
      const Cell target = item.target == kNoCollective ? Cell() : count_cell(item.target);
      table.add_row({known_or_null(d.rank), count_cell(i), std::string(kItemNames[static_cast<std::size_t>(item.kind)]), target,
                     static_cast<std::int64_t>(item.host_ns), static_cast<std::int64_t>(item.device_ns),
                     static_cast<std::int64_t>(item.kernels), static_cast<std::int64_t>(item.kernel_ns),
                     static_cast<std::int64_t>(item.work_hash)});
    }
  }
  return table;
}

}  // namespace

std::vector<Table> tables_of_digests(std::span<const Digest> digests) {
  constexpr Table (*kTables[])(std::span<const Digest>) = {table_of_ranks,       table_of_groups,  table_of_steps,
                                                           table_of_collectives, table_of_kernels, table_of_ops,
                                                           table_of_intervals};
  std::vector<Table> tables;
  for (const auto table : kTables) tables.push_back(table(digests));
  return tables;
}

}  // namespace ridge
