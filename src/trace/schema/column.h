// A column of a table as data: its name, unit and meaning, and a typed getter that fills a batch of values for a range of rows.
// Whoever reads a column (SQL, Arrow, Python) pays one call per batch and none per cell.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

#include "trace/arg_key.h"
#include "trace/schema/arg_rows.h"
#include "trace/schema/table_rows.h"

namespace ridge::schema {

// Where the values go. Both spans have the length that is asked for.
template <class T>
struct Batch {
  std::span<T> values;            // T{} where the value is not known
  std::span<std::uint8_t> known;  // 0: null

  void set(std::size_t i, const std::optional<T>& value) const {
    known[i] = value.has_value();
    values[i] = value.value_or(T{});
  }
  void set_unknown() const {  // all of them
    std::ranges::fill(known, std::uint8_t{0});
    std::ranges::fill(values, T{});
  }
};

struct ColumnRows {
  const TableRows& table;
  const ArgReader* argument;         // of the column's key, where it has one
  std::span<const ArgRow> arg_rows;  // of the rows that are asked for, where they were looked up

  ArgRow arg_row(std::uint64_t first, std::size_t i) const {
    return arg_rows.empty() ? schema::arg_row(table.trace, table.event(first + i)) : arg_rows[i];
  }
};

// Fills `out` with the rows from `first` on. Texts belong to the trace.
template <class T>
using Getter = void (*)(const ColumnRows& rows, std::uint64_t first, Batch<T> out);

enum class ColumnType : std::uint8_t { integer, number, boolean, text };  // in the order of the getters below

struct Column {
  std::string_view name;
  std::string_view unit;  // ns, bytes, percent, ...; empty: none
  std::string_view line;  // what it means
  std::variant<Getter<std::int64_t>, Getter<double>, Getter<bool>, Getter<std::string_view>> get;
  ArgKey key = ArgKey::none;  // of a column that is one argument of its events
  bool member = false;        // the argument is the event's own member, not one of its args

  ColumnType type() const { return static_cast<ColumnType>(get.index()); }
};

std::string_view name_of(ColumnType type);

// A column made ready for reading; `rows` and `column` must outlive it. Reading is thread-safe.
class ColumnReader {
 public:
  ColumnReader(const TableRows& rows, const Column& column) : rows_(&rows), column_(&column) {
    if (column.key != ArgKey::none) argument_.emplace(rows.trace, column.key, column.member);
  }

  bool reads_arguments() const { return argument_ && !argument_->is_absent(); }

  // T is that of the column's type. `arg_rows` are those of the same rows: who reads several columns of arguments looks them up
  // once.
  template <class T>
  void read(std::uint64_t first, Batch<T> out, std::span<const ArgRow> arg_rows = {}) const {
    if (argument_ && argument_->is_absent()) return out.set_unknown();
    std::get<Getter<T>>(column_->get)({*rows_, argument_ ? &*argument_ : nullptr, arg_rows}, first, out);
  }

 private:
  const TableRows* rows_;
  const Column* column_;
  std::optional<ArgReader> argument_;
};

// Getters of a function that gives one value, an optional<T>: of an event, or of a row. It is inlined into the loop.
template <auto Value>
constexpr auto of_event() {
  using T = typename decltype(Value(std::declval<const Trace&>(), EventId{}))::value_type;
  return Getter<T>([](const ColumnRows& rows, std::uint64_t first, Batch<T> out) {
    for (std::size_t i = 0; i < out.values.size(); ++i) out.set(i, Value(rows.table.trace, rows.table.event(first + i)));
  });
}

template <auto Value>
constexpr auto of_row() {
  using T = typename decltype(Value(std::declval<const Trace&>(), std::size_t{}))::value_type;
  return Getter<T>([](const ColumnRows& rows, std::uint64_t first, Batch<T> out) {
    for (std::size_t i = 0; i < out.values.size(); ++i) out.set(i, Value(rows.table.trace, first + i));
  });
}

}  // namespace ridge::schema
