// A column of a table as data: its name, unit and meaning, and a typed getter that fills a batch of values for a range of rows.
// Whoever reads a column (SQL, Arrow, Python) pays one call per batch and none per cell.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

#include "trace/arg_key.h"
#include "trace/args.h"
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
};

struct ColumnRows {
  const TableRows& table;
  const ArgColumn* argument;  // of the column's key, where it has one
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
  ColumnReader(const TableRows& rows, const Column& column) : rows_(rows), column_(column) {
    if (column.key != ArgKey::none) argument_.emplace(rows.trace, column.key, column.member);
  }

  // T is that of the column's type.
  template <class T>
  void read(std::uint64_t first, Batch<T> out) const {
    std::get<Getter<T>>(column_.get)({rows_, argument_ ? &*argument_ : nullptr}, first, out);
  }

 private:
  const TableRows& rows_;
  const Column& column_;
  std::optional<ArgColumn> argument_;
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
