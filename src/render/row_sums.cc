// A column has a sum only where its rows add up to the table's total; overflow leaves it unknown.
#include "render/row_sums.h"

#include <algorithm>
#include <cmath>

#include "render/cell_text.h"

namespace ridge::render {
namespace {

// The sum of a column over rows [first, end): int64 when every known cell is one, else a double; null when none is known
// or the sum would overflow.
Cell sum_of(const TableView& view, std::size_t column, std::size_t first, std::size_t end) {
  std::int64_t whole = 0;
  double number = 0;
  bool exact = true;
  bool any = false;
  for (std::size_t i = first; i < end; ++i) {
    const CellView cell = view.cell_of(view.rows[i], column);
    const auto value = number_in(cell);
    if (!value) continue;
    any = true;
    number += *value;
    const auto* integer = std::get_if<std::int64_t>(&cell);
    exact = exact && integer != nullptr && !__builtin_add_overflow(whole, *integer, &whole);
  }
  if (!any) return {};
  return exact ? Cell(whole) : Cell(number);
}

bool about_equal(const Cell& a, const Cell& b) {
  const auto x = number_in(view_of(a));
  const auto y = number_in(view_of(b));
  return x && y && std::abs(*x - *y) <= 1e-9 * std::max(std::abs(*x), std::abs(*y));
}

}  // namespace

Row sums_of(const TableView& view, std::size_t first, std::size_t end) {
  const std::optional<Row>& total = view.table->total;
  Row sums(view.table->columns.size());
  if (!total || total->size() != sums.size()) return sums;
  for (std::size_t column = 0; column < sums.size(); ++column) {
    if (about_equal(sum_of(view, column, 0, view.rows.size()), (*total)[column]))
      sums[column] = sum_of(view, column, first, end);
  }
  return sums;
}

}  // namespace ridge::render
