// Equal rows in one, for people: twelve rows "aten::max #1" to "#12" that differ in nothing but their place read as one,
// "aten::max x12", with their sums. JSON and CSV keep every row.
#pragma once

#include "render/report_view.h"

namespace ridge::render {

// As the table's hints say. Rows that are not worth reading are left alone: they are folded into "[N unchanged]", which counts
// rows of the table.
void join_equal_rows(TableView& view);

}  // namespace ridge::render
