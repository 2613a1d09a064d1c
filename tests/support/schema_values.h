// A whole column of the schema, read in batches of a length that fits nothing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "trace/schema/schema.h"

namespace ridge::test {

template <class T>
struct SchemaValues {
  explicit SchemaValues(std::size_t rows) : values(std::make_unique<T[]>(rows)), known(rows, 2), size(rows) {}

  std::optional<T> operator[](std::size_t row) const { return known[row] == 1 ? std::optional(values[row]) : std::nullopt; }

  std::unique_ptr<T[]> values;
  std::vector<std::uint8_t> known;
  std::size_t size;
};

template <class T>
SchemaValues<T> read_column(const schema::TableRows& rows, const schema::Column& column, std::size_t batch = 37) {
  SchemaValues<T> all(rows.count);
  const schema::ColumnReader reader(rows, column);
  for (std::size_t first = 0; first < all.size; first += batch) {
    const std::size_t count = std::min(batch, all.size - first);
    reader.read<T>(first, {{all.values.get() + first, count}, {all.known.data() + first, count}});
  }
  return all;
}

inline const schema::Column& find_column(const schema::Table& table, std::string_view name) {
  const auto found = std::ranges::find(table.columns, name, &schema::Column::name);
  EXPECT_NE(found, table.columns.end()) << table.name << " has no " << name;
  return found == table.columns.end() ? table.columns[0] : *found;
}

// A column by names; its type is the caller's to know.
template <class T>
SchemaValues<T> read_column(const Trace& trace, std::string_view table, std::string_view column) {
  const schema::Table* found = schema::find_table(table);
  EXPECT_NE(found, nullptr) << table;
  return read_column<T>(found->rows(trace), find_column(*found, column));
}

}  // namespace ridge::test
