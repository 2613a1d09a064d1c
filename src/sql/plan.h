// Plan: what SQLite asks of one reading of a table: which conditions it will give constants for, in which order it wants the
// rows. Agreed on in xBestIndex, carried as a text (EXPLAIN shows it), carried out in xFilter.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sql/condition.h"
#include "sql/row_codes.h"

struct sqlite3_index_info;

namespace ridge::sql {

struct Asked {
  std::size_t column;
  Compare op;
};

// In which order the rows come. SQLite asks for groups (sqlite3_vtab_distinct) where `order by` wants them sorted too, so that
// groups are always sorted; texts are sorted by the ranks of the distinct ones, which are few.
enum class Arrange : char {
  none = '-',
  sorted = 's',    // ORDER BY, GROUP BY
  distinct = 'd',  // sorted, and equal rows once
};

struct Plan {
  std::vector<Asked> asked;  // in the order of xFilter's values
  Arrange arrange = Arrange::none;
  std::vector<OrderKey> order;

  std::string text() const;
  static Plan read(std::string_view text);
};

// Chooses a plan and tells SQLite of it: which constraints it takes, what it costs.
Plan choose_plan(const Relation& relation, sqlite3_index_info* info);

}  // namespace ridge::sql
