// A stable sort with unknown cells last; integers are compared as integers.
#include "render/row_order.h"

#include <algorithm>
#include <cmath>

#include "render/cell_text.h"

namespace ridge::render {
namespace {

bool is_unknown(const CellView& cell) {
  const auto* number = std::get_if<double>(&cell);
  return is_null(cell) || (number != nullptr && std::isnan(*number));
}

// A strict order over known cells of one column. Integers are compared as such: doubles cannot tell large ones apart.
bool less(const CellView& a, const CellView& b) {
  if (a.index() == b.index()) return a < b;
  const auto x = number_in(a);
  const auto y = number_in(b);
  return x && y ? *x < *y : a.index() < b.index();
}

}  // namespace

void sort_rows(TableView& view, std::size_t column, bool reversed, std::size_t first) {
  const bool down = (view.table->columns[column].type != Type::text) != reversed;
  const auto known = [&](std::uint32_t row) { return !is_unknown(view.cell_of(row, column)); };
  const auto known_end = std::ranges::stable_partition(view.rows, known).begin();
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    const CellView x = view.cell_of(a, column), y = view.cell_of(b, column);
    return down ? less(y, x) : less(x, y);
  };
  if (first >= static_cast<std::size_t>(known_end - view.rows.begin())) {
    std::stable_sort(view.rows.begin(), known_end, before);
    return;
  }
  std::partial_sort(view.rows.begin(), view.rows.begin() + static_cast<std::ptrdiff_t>(first), known_end,
                    [&](std::uint32_t a, std::uint32_t b) { return before(a, b) || (!before(b, a) && a < b); });
}

std::vector<std::size_t> columns_named(const Table& table, const std::vector<std::string>& names) {
  std::vector<std::size_t> columns;
  for (const std::string& name : names) {
    if (const Column* column = table.find(name)) columns.push_back(static_cast<std::size_t>(column - table.columns.data()));
  }
  return columns;
}

bool any_true(const TableView& view, std::uint32_t row, const std::vector<std::size_t>& columns) {
  return std::ranges::any_of(columns, [&](std::size_t column) { return view.cell_of(row, column) == CellView(true); });
}

}  // namespace ridge::render
