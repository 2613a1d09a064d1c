// One function per level of the document: report, table, column, row, cell. What is not as docs/formats.md has it is an error
// that says where.
#include "saved_report.h"

#include <fstream>
#include <iostream>

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "mcp/json_value.h"

namespace ridge::cli {
namespace {

using mcp::JsonValue;

constexpr std::int64_t kSchemas[] = {1, 2};
constexpr std::array kTypes = {Type::text, Type::integer, Type::number, Type::boolean};
constexpr std::array kUnits = {Unit::none, Unit::count,   Unit::ns,         Unit::bytes,
                               Unit::flop, Unit::percent, Unit::flop_per_s, Unit::bytes_per_s};

// As render/json.cc writes them; a plain cell has none.
struct RoleName {
  std::string_view name;
  Role role;
};
constexpr std::array kRoles = {RoleName{"event", Role::event}, RoleName{"time_start", Role::time_start},
                               RoleName{"time_end", Role::time_end}, RoleName{"frame", Role::frame}};

tl::unexpected<Error> wrong(std::string what) {
  return fail(ErrorCode::not_a_trace, "not a saved answer of ridge: " + what, {}, "give a file that ridge wrote with --json");
}

const JsonValue::List* list_in(const JsonValue& object, std::string_view name) {
  const JsonValue* found = object.find(name);
  return found == nullptr ? nullptr : found->list();
}

std::string text_in(const JsonValue& object, std::string_view name) {
  const JsonValue* found = object.find(name);
  const std::string* text = found == nullptr ? nullptr : found->text();
  return text == nullptr ? std::string() : *text;
}

std::int64_t count_in(const JsonValue& object, std::string_view name) {
  const JsonValue* found = object.find(name);
  const std::int64_t* whole = found == nullptr ? nullptr : found->integer();
  return whole == nullptr ? 0 : *whole;
}

// Nothing: the value is not of the column's type.
std::optional<Cell> cell_of(const JsonValue& value, Type type) {
  if (value.is_null()) return Cell();
  switch (type) {
    case Type::text: return value.text() != nullptr ? std::optional<Cell>(*value.text()) : std::nullopt;
    case Type::boolean: return value.boolean() != nullptr ? std::optional<Cell>(*value.boolean()) : std::nullopt;
    case Type::integer: return value.integer() != nullptr ? std::optional<Cell>(*value.integer()) : std::nullopt;
    case Type::number: break;
  }
  if (value.integer() != nullptr) return Cell(static_cast<double>(*value.integer()));
  const double* number = std::get_if<double>(&value.of);
  return number != nullptr ? std::optional<Cell>(*number) : std::nullopt;
}

Result<Column> column_of(const JsonValue& value) {
  Column column{.name = text_in(value, "name")};
  if (column.name.empty()) return wrong("a column has no name");
  const std::string type = text_in(value, "type"), unit = text_in(value, "unit");
  const auto* const known = std::ranges::find(kTypes, type, [](Type each) { return name_of(each); });
  if (known == kTypes.end()) return wrong(fmt::format("column '{}' has no type", column.name));
  column.type = *known;
  for (const Unit each : kUnits) {
    if (name_of(each) == unit) column.unit = each;
  }
  const std::string role = text_in(value, "role");
  for (const RoleName& each : kRoles) {
    if (each.name == role) column.role = each.role;
  }
  const JsonValue* sentence = value.find("sentence");
  column.sentence = sentence != nullptr && sentence->boolean() != nullptr && *sentence->boolean() && column.type == Type::text;
  return column;
}

Result<Row> row_of(const JsonValue& value, const Table& table) {
  const JsonValue::List* cells = value.list();
  if (cells == nullptr || cells->size() != table.columns.size())
    return wrong(fmt::format("a row of table '{}' does not have {} cells", table.name, table.columns.size()));
  Row row;
  for (std::size_t i = 0; i < cells->size(); ++i) {
    auto cell = cell_of((*cells)[i], table.columns[i].type);
    if (!cell) {
      return wrong(fmt::format("column '{}' of table '{}' has a value that is no {}", table.columns[i].name, table.name,
                               name_of(table.columns[i].type)));
    }
    row.push_back(std::move(*cell));
  }
  return row;
}

Result<Table> table_of(const JsonValue& value) {
  Table table{.name = text_in(value, "name")};
  const JsonValue::List* columns = list_in(value, "columns");
  const JsonValue::List* rows = list_in(value, "rows");
  if (table.name.empty() || columns == nullptr || columns->empty() || rows == nullptr)
    return wrong("a table needs a name, columns and rows");
  for (const JsonValue& each : *columns) {
    auto column = column_of(each);
    if (!column) return tl::unexpected(column.error());
    if (table.find(column->name) != nullptr)
      return wrong(fmt::format("table '{}' has two columns '{}'", table.name, column->name));
    table.columns.push_back(std::move(*column));
  }
  if (const auto* important = list_in(value, "important")) {
    for (const JsonValue& each : *important) {
      if (each.text() != nullptr && table.find(*each.text()) != nullptr) table.hints.important.push_back(*each.text());
    }
  }
  for (const JsonValue& each : *rows) {
    const auto row = row_of(each, table);
    if (!row) return tl::unexpected(row.error());
    table.add_row(*row);
  }
  if (const JsonValue* total = value.find("total"); total != nullptr && !total->is_null()) {
    auto row = row_of(*total, table);
    if (!row) return tl::unexpected(row.error());
    table.total = std::move(*row);
  }
  if (const std::string parent = text_in(value, "parent"); !parent.empty() && table.find(parent) != nullptr)
    table.parent = parent;
  return table;
}

Series series_of(const JsonValue& value) {
  Series series;
  series.name = text_in(value, "name");
  const std::string unit = text_in(value, "unit");
  for (const Unit each : kUnits) {
    if (name_of(each) == unit) series.unit = each;
  }
  const JsonValue::List* points = list_in(value, "points");
  for (const JsonValue& each : points == nullptr ? JsonValue::List() : *points) {
    const JsonValue::List* pair = each.list();
    if (pair == nullptr || pair->size() != 2 || (*pair)[0].integer() == nullptr) continue;
    const auto number = cell_of((*pair)[1], Type::number);
    if (number && !is_null(*number)) series.points.emplace_back(*(*pair)[0].integer(), std::get<double>(*number));
  }
  return series;
}

Diagnostic diagnostic_of(const JsonValue& value) {
  const std::string severity = text_in(value, "severity");
  return {.code = text_in(value, "code"),
          .count = count_in(value, "count"),
          .message = text_in(value, "message"),
          .severity = severity.empty() ? "warning" : severity};
}

constexpr std::size_t kMostBytes = std::size_t{1} << 30;

Result<std::string> text_of_file(const std::string& path) {
  std::ifstream file;
  if (path != "-") file.open(path, std::ios::binary);
  std::istream& in = path == "-" ? std::cin : file;
  std::string text;
  std::string piece(std::size_t{1} << 20, '\0');
  while (in && text.size() <= kMostBytes) {
    in.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    text.append(piece, 0, static_cast<std::size_t>(in.gcount()));
  }
  if (text.size() > kMostBytes) return fail(ErrorCode::too_large, "a saved answer of more than 1 GiB", path);
  if (path != "-" && !file.is_open())
    return fail(ErrorCode::cannot_open, "the saved answer cannot be read", path, "give a file that ridge wrote with --json");
  return text;
}

}  // namespace

Result<Report> read_saved_report(std::string_view json) {
  const auto document = mcp::parse_json(json);
  if (!document) return wrong(document.error().message);
  const std::int64_t schema = count_in(*document, "schema");
  if (std::ranges::find(kSchemas, schema) == std::end(kSchemas)) return wrong("it names no schema that this version knows");
  Report report;
  report.command = text_in(*document, "command");
  const JsonValue::List* tables = list_in(*document, "tables");
  if (report.command.empty() || tables == nullptr) return wrong("it needs a command and tables");
  for (const JsonValue& each : *tables) {
    auto table = table_of(each);
    if (!table) return tl::unexpected(table.error());
    report.tables.push_back(std::move(*table));
  }
  if (const auto* traces = list_in(*document, "traces")) {
    for (const JsonValue& each : *traces) report.traces.push_back({text_in(each, "path"), text_in(each, "name")});
  }
  if (const auto* series = list_in(*document, "series")) {
    for (const JsonValue& each : *series) report.series.push_back(series_of(each));
  }
  if (const auto* diagnostics = list_in(*document, "diagnostics")) {
    for (const JsonValue& each : *diagnostics) report.diagnostics.push_back(diagnostic_of(each));
  }
  return report;
}

Result<Report> load_saved_report(const std::string& path) {
  const auto text = text_of_file(path);
  if (!text) return tl::unexpected(text.error());
  auto report = read_saved_report(*text);
  if (!report) report.error().where = path;
  return report;
}

}  // namespace ridge::cli
