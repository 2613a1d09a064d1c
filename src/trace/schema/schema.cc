// The list of all tables, and the schema as a document.
#include "trace/schema/schema.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/lasting.h"

namespace ridge::schema {
namespace {

std::vector<Table> all_tables() {
  std::vector<Table> all;
  for (const auto part : {trace_tables(), event_tables(), argument_tables()}) all.insert(all.end(), part.begin(), part.end());
  return all;
}

// How many columns a table of events has in common with `events`, which has them first; 0 for `events` itself.
std::size_t shared_columns(const Table& table) {
  const std::span<const Column> all = event_tables()[0].columns;
  if (table.name == event_tables()[0].name) return 0;
  const auto same = [](const Column& a, const Column& b) { return a.name == b.name && a.line == b.line; };
  return static_cast<std::size_t>(std::ranges::mismatch(table.columns, all, same).in1 - table.columns.begin());
}

}  // namespace

std::span<const Table> tables() {
  static const auto& kTables = lasting<std::vector<Table>>(all_tables());
  return kTables;
}

const Table* find_table(std::string_view name) {
  const auto found = std::ranges::find(tables(), name, &Table::name);
  return found == tables().end() ? nullptr : &*found;
}

std::string_view name_of(ColumnType type) {
  constexpr std::array<std::string_view, 4> kNames = {"integer", "number", "boolean", "text"};
  return kNames[static_cast<std::size_t>(type)];
}

std::string as_markdown() {
  std::string out;
  const auto row = [&](std::initializer_list<std::string_view> cells) {
    out += '|';
    for (const std::string_view cell : cells) out.append(cell.empty() ? "" : " ").append(cell).append(" |");
    out += '\n';
  };
  for (const Table& table : tables()) {
    out.append("\n## ").append(table.name).append("\n\n").append(table.line).append("\n");
    const std::size_t shared = shared_columns(table);
    if (shared > 0) {
      out.append("Columns `").append(table.columns[0].name).append("` to `").append(table.columns[shared - 1].name);
      out.append(shared < table.columns.size() ? "` as in `events`, and:\n" : "` as in `events`.\n");
      if (shared == table.columns.size()) continue;
    }
    out += '\n';
    row({"column", "type", "unit", "meaning"});
    out += "|---|---|---|---|\n";
    for (const Column& column : table.columns.subspan(shared))
      row({"`" + std::string(column.name) + "`", name_of(column.type()), column.unit, column.line});
  }
  return out;
}

}  // namespace ridge::schema
