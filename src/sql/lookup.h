// Lookup: the rows of a relation in which a column has a value. Made when a query asks for the second time: joins do, a single
// filter is a scan.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sql/condition.h"
#include "sql/row_codes.h"

namespace ridge::sql {

class Lookup {
 public:
  Lookup(const Relation& relation, std::size_t column);

  // In the relation's order. The constant is of the column's type (Condition::make).
  std::span<const std::uint32_t> rows(const Constant& constant) const;

 private:
  std::span<const std::uint32_t> rows_of_code(std::uint64_t code) const;

  TextCodes texts_;
  std::vector<std::uint64_t> codes_;  // ascending
  Rows rows_;                         // beside them
};

}  // namespace ridge::sql
