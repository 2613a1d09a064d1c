// Columns of an answer, from SQLite's values.
#include "sql/answer.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <sqlite3.h>

#include "sql/trace_sql.h"

namespace ridge::sql {
namespace {

// The column of a table that a column of the answer is, as it stands.
const RelationColumn* origin(sqlite3_stmt* statement, int index, const TraceSql& tables) {
  const char* const table = sqlite3_column_table_name(statement, index);
  const char* const name = sqlite3_column_origin_name(statement, index);
  if (table == nullptr || name == nullptr) return nullptr;
  const Relation* const relation = tables.made(table);
  if (relation == nullptr) return nullptr;
  const auto columns = relation->columns();
  const auto found = std::ranges::find(columns, std::string_view(name), &RelationColumn::name);
  return found == columns.end() ? nullptr : &*found;
}

// Of what a query calls by a name with a unit in it.
Unit unit_in_name(std::string_view name) {
  if (name.ends_with("_ns")) return Unit::ns;
  if (name == "bytes" || name.ends_with("_bytes")) return Unit::bytes;
  return name.ends_with("_pct") ? Unit::percent : Unit::none;
}

std::string text_of_cell(const CellView& cell) {
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return std::to_string(*whole);
  if (const auto* number = std::get_if<double>(&cell)) return fmt::format("{}", *number);
  if (const auto* truth = std::get_if<bool>(&cell)) return *truth ? "1" : "0";
  return std::string(std::get<std::string_view>(cell));
}

Type declared_type(sqlite3_stmt* statement, int index) {
  const char* const declared = sqlite3_column_decltype(statement, index);
  const std::string_view text = declared == nullptr ? "" : declared;
  return text == "INTEGER" ? Type::integer : text == "REAL" ? Type::number : Type::text;
}

}  // namespace

Answer::Answer(sqlite3_stmt* statement, const TraceSql& tables) {
  for (int i = 0; i < sqlite3_column_count(statement); ++i) {
    Result& result = results_.emplace_back();
    const char* const name = sqlite3_column_name(statement, i);
    result.column.name = free_name(name == nullptr ? "" : name);
    result.column.type = declared_type(statement, i);
    if (const RelationColumn* from = origin(statement, i, tables)) {
      result.column.unit = from->unit;
      result.column.role = from->role;
      result.boolean = from->type == Type::boolean;
      if (result.boolean) result.column.type = Type::boolean;
    } else {
      result.column.unit = unit_in_name(result.column.name);
    }
  }
}

// Two columns of one name (a join's) would be one to whoever reads rows by name.
std::string Answer::free_name(const std::string& wanted) const {
  const auto taken = [&](const std::string& name) {
    return std::any_of(results_.begin(), results_.end() - 1, [&](const Result& r) { return r.column.name == name; });
  };
  std::string name = wanted;
  for (int n = 2; taken(name); ++n) name = wanted + "_" + std::to_string(n);
  return name;
}

// The values so far under another type.
void Answer::become(Type type, Result& result) {
  Column column = result.column;
  column.type = type;
  column.values = {};
  for (std::size_t row = 0; row < result.column.size(); ++row) {
    const CellView cell = result.column.at(row);
    if (is_null(cell)) {
      column.push(CellView());
    } else if (type == Type::text) {
      const std::string text = text_of_cell(cell);
      column.push(CellView(std::string_view(text)));
    } else {
      column.push(cell);
    }
  }
  if (type == Type::text) column.unit = Unit::none;
  result.column = std::move(column);
}

void Answer::add(sqlite3_stmt* statement, int index, Result& result) {
  const int met = sqlite3_column_type(statement, index);
  if (met == SQLITE_NULL) return result.column.push(CellView());
  const Type type = met == SQLITE_INTEGER ? (result.boolean ? Type::boolean : Type::integer)
                    : met == SQLITE_FLOAT ? Type::number
                                          : Type::text;
  if (!result.typed) {
    result.typed = true;
    if (result.column.type != type) become(type, result);
  } else if (type != result.column.type && result.column.type != Type::text) {
    const bool numbers = type != Type::text && type != Type::boolean && result.column.type != Type::boolean;
    if (!numbers) {
      become(Type::text, result);
    } else if (result.column.type == Type::integer) {
      become(Type::number, result);
    }
  }
  const auto whole = [&] { return sqlite3_column_int64(statement, index); };
  switch (result.column.type) {
    case Type::boolean: return result.column.push(CellView(whole() != 0));
    case Type::integer: return result.column.push(CellView(std::int64_t{whole()}));
    case Type::number: return result.column.push(CellView(sqlite3_column_double(statement, index)));
    default: break;
  }
  const auto* text =
      static_cast<const char*>(met == SQLITE_BLOB ? sqlite3_column_blob(statement, index)
                                                  : static_cast<const void*>(sqlite3_column_text(statement, index)));
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement, index));
  result.column.push(CellView(std::string_view(text == nullptr ? "" : text, text == nullptr ? 0 : size)));
  bytes_ += size;
}

void Answer::add_row(sqlite3_stmt* statement) {
  for (std::size_t i = 0; i < results_.size(); ++i) add(statement, static_cast<int>(i), results_[i]);
  bytes_ += results_.size() * sizeof(std::int64_t);
}

Table Answer::table() && {
  Table table;
  table.name = "sql";
  for (Result& result : results_) table.columns.push_back(std::move(result.column));
  return table;
}

}  // namespace ridge::sql
