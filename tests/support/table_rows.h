// A table as rows, for tests that look at rows or change some: copies, as a table keeps columns.
#pragma once

#include <utility>
#include <vector>

#include <ridge/table.h>

namespace ridge {

inline std::vector<Row> rows_of(const Table& table) {
  std::vector<Row> rows;
  for (std::size_t i = 0; i < table.size(); ++i) rows.push_back(table.row(i));
  return rows;
}

inline void set_rows(Table& table, const std::vector<Row>& rows) {
  for (Column& column : table.columns) column.values = {};
  for (const Row& row : rows) table.add_row(row);
}

// What `edit` makes of each row.
template <class Edit>
void edit_rows(Table& table, Edit edit) {
  std::vector<Row> rows = rows_of(table);
  for (Row& row : rows) edit(row);
  set_rows(table, rows);
}

}  // namespace ridge
