// The order of rows by a column, and which rows a condition holds of.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "render/report_view.h"

namespace ridge::render {

// Numbers down, text up, unknown ones last; reversed: the other way. Equal ones keep their order. Only the `first` rows need be
// in their place: what is behind them is in no order, and no work is spent on it.
void sort_rows(TableView& view, std::size_t column, bool reversed, std::size_t first);

// Indices of those of the names that are columns.
std::vector<std::size_t> columns_named(const Table& table, const std::vector<std::string>& names);

// Whether one of these boolean columns is true.
bool any_true(const TableView& view, std::uint32_t row, const std::vector<std::size_t>& columns);

}  // namespace ridge::render
