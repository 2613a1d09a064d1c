// Table: typed columns of equal length. Values are in base units (ns, bytes, FLOP), percent as 0-100; what is unknown is null
// and never 0. A table holds data and hints; what of it is shown, and how, is the renderer's.
//
// Rows are given one by one, `table.add_row({7, "aten::mm", Cell()})`, and kept by column: 8 bytes for a number, 4 for a text,
// whose distinct values are kept once, and a bit that says whether it is known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <ridge/bitmap.h>
#include <ridge/column_vector.h>
#include <ridge/dictionary.h>

namespace ridge {

enum class Type : std::uint8_t { text, integer, number, boolean };

enum class Unit : std::uint8_t { none, count, ns, bytes, flop, percent, flop_per_s, bytes_per_s };

// As JSON has them.
std::string_view name_of(Type type);
std::string_view name_of(Unit unit);  // empty: none

// What a click on a cell opens; `plain` cells open nothing.
enum class Role : std::uint8_t { plain, event, time_start, time_end, frame };

enum class Chart : std::uint8_t { none, bars, stacked_bars, line, scatter_log, flame };

// One value outside of a column: how rows are given to a table, and the total. std::monostate: unknown.
using Cell = std::variant<std::monostate, bool, std::int64_t, double, std::string>;
using Row = std::vector<Cell>;  // one cell per column, in the columns' order

// One value as it is read from a column. The text is the table's: valid as long as nothing is added to it.
using CellView = std::variant<std::monostate, bool, std::int64_t, double, std::string_view>;

CellView view_of(const Cell& cell);
Cell owned(const CellView& cell);

inline bool is_null(const Cell& cell) { return std::holds_alternative<std::monostate>(cell); }
inline bool is_null(const CellView& cell) { return std::holds_alternative<std::monostate>(cell); }

// The values of a column, all of one type.
class Values {
 public:
  struct Texts {
    ColumnVector<std::uint32_t> codes;  // in the dictionary; 0 where it is not known
    Dictionary dictionary;
  };

  std::size_t size() const { return known_.size(); }
  bool known(std::size_t row) const { return known_[row]; }
  CellView at(std::size_t row) const;

  // All of them where they lie, for who reads a whole column; valid as long as nothing is added. Nothing where the column is of
  // another type or never had a row. What is not known is 0.
  const Bitmap& known() const { return known_; }
  std::span<const std::int64_t> integers() const;
  std::span<const double> numbers() const;
  const Bitmap* booleans() const { return std::get_if<Bitmap>(&of_); }
  const Texts* texts() const { return std::get_if<Texts>(&of_); }

  // A cell of another type than the column's is a bug of ours; an integer may stand for a number.
  void push(Type type, const CellView& cell);
  // Many texts at once; `known` has 0 where one is not known.
  void append(std::span<const std::string_view> texts, std::span<const std::uint8_t> known);
  void append_unknown(Type type, std::size_t rows);  // without a touch of their memory

  // All rows, to be written where they lie; those of other types are empty. Several threads may write, each its own rows: of
  // bits, whole words.
  struct Rows {
    std::span<std::int64_t> integers;
    std::span<double> numbers;
    std::span<std::uint32_t> codes;  // of texts that are in the dictionary
    Dictionary* dictionary = nullptr;
    std::span<std::uint64_t> booleans, known;  // words of bitmaps
  };
  Rows rows_to_write();

  // `room`: where they may lie; see Table::reserve.
  void reserve(Type type, std::size_t rows, const std::shared_ptr<ColumnRoom>& room = nullptr);
  void truncate(std::size_t rows);
  std::uint64_t heap_bytes() const;

 private:
  void hold(Type type);

  Bitmap known_;
  std::variant<std::monostate, Bitmap, ColumnVector<std::int64_t>, ColumnVector<double>, Texts> of_;
};

struct Column {
  std::string name;  // snake_case, stable: part of the JSON and CSV contract
  Type type = Type::text;
  Unit unit = Unit::none;
  Role role = Role::plain;
  bool sentence = false;  // on a terminal it stands under its row, whole, instead of in it
  Values values = {};

  void push(const CellView& cell) { values.push(type, cell); }
  std::size_t size() const { return values.size(); }
  CellView at(std::size_t row) const { return values.at(row); }

  // Nothing where it is null or the column is of another type; a number also of an integer column.
  std::optional<std::int64_t> int64(std::size_t row) const;
  std::optional<double> number(std::size_t row) const;
  std::optional<bool> boolean(std::size_t row) const;
  std::optional<std::string_view> text(std::size_t row) const;
};

// Rows that people read as one, "aten::max x12", with sums in place of each one's figures: those that have a title in common
// and every cell that is no figure.
struct JoinedRows {
  Column titles;                        // one text per row of the table; without any, no rows are joined
  std::vector<std::string> unknown;     // columns whose figure is not known of several rows together
  std::string percent_of;               // percentages are those of the figure before them, of this column
  std::vector<std::string> ordered_by;  // the largest absolute value of any of these first
};

// What an analysis knows of how people should read a table. JSON and CSV do without.
struct Hints {
  // Where not all columns fit, people see these first, in this order of importance; then the others from left to right.
  std::vector<std::string> important;
  bool key_value = false;  // one row that people read better as lines of "name  value"
  bool leads = false;      // stands before the tables that do not
  // Boolean columns: rows in which none of them is true are folded into one, "[N unchanged]".
  std::vector<std::string> fold_unless;
  JoinedRows joined;
};

struct Table {
  std::string name;  // snake_case; the first table of a report bears the command's name
  std::vector<Column> columns = {};
  std::optional<Row> total = {};
  std::optional<std::string> parent = {};  // name of the column that holds the parent row's key, when the table is a tree
  Chart chart = Chart::none;
  Hints hints = {};

  // Rows; they never hold the total.
  std::size_t size() const { return columns.empty() ? 0 : columns.front().size(); }
  bool empty() const { return size() == 0; }

  void add_row(const Row& row);  // what it lacks of the columns is null
  void add_column(Column column, const Row& cells);
  void reserve(std::size_t rows);
  void truncate(std::size_t rows);
  std::uint64_t heap_bytes() const;  // of its columns' values: names and hints are nothing beside them

  CellView cell(std::size_t row, std::size_t column) const { return columns[column].at(row); }
  Row row(std::size_t i) const;                         // a copy
  const Column* find(std::string_view column) const;    // null where there is none
  const Column& column(std::string_view called) const;  // there must be one
};

}  // namespace ridge
