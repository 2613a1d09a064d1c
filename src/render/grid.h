// Grid: a table as people see it, all text. Long names stand last; "[N others]" and TOTAL are its last rows.
// Shared by the terminal and Markdown, which only differ in how they draw it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "render/report_view.h"

namespace ridge::render {

struct GridColumn {
  std::string heading;
  bool right = false;    // numbers stand to the right
  bool known = false;    // some row has a value
  bool name = false;     // long text, which may be cut
  bool hinted = false;   // the table names it as one that matters
  std::size_t rank = 0;  // where not all columns fit: 0 is the last to go
};

struct Grid {
  std::vector<GridColumn> columns;
  std::vector<std::vector<std::string>> rows;  // one text per column
  bool has_others = false;
  bool has_total = false;                  // TOTAL is the last row, "[N others]" the last before it
  std::vector<std::size_t> label_columns;  // where these rows' labels stand, one for each
};

// Without the place on the timeline of tables whose rows name an event: its id and its start are for clients that can go there.
// Labels of sums do not stand in the columns `not_there` (of the grid): a terminal has no room for them.
Grid make_grid(const TableView& table, const std::vector<std::size_t>& not_there = {});

// The tables in the order in which people read them: those that lead first.
std::vector<const TableView*> in_reading_order(const ReportView& report);

// A table of one row that is read as lines of "name  value": two columns without headings.
bool is_key_value(const TableView& table);
Grid make_key_value_grid(const TableView& table);

}  // namespace ridge::render
