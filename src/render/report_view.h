// ReportView: what of a report is shown, and in which order. Renderers work on this; the report itself is never changed.
// Rows and columns are indices into those of the table.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <ridge/render.h>
#include <ridge/report.h>

namespace ridge::render {

struct TableView {
  const Table* table = nullptr;
  std::vector<std::size_t> columns;  // that are shown, in their order
  std::vector<std::uint32_t> rows;   // that are shown, in their order; from table->size() on they are those of `joined`
  std::vector<Row> joined;           // rows that stand for several
  std::int64_t others = 0;           // rows cut off by a limit
  std::int64_t folded = 0;           // rows not worth reading
  // Sums over these, one cell per column of the table: in the columns whose rows add up to the total. For people only.
  Row others_row, folded_row;
  std::vector<std::string> important;  // as in Hints

  const Column& column(std::size_t i) const { return table->columns[columns[i]]; }
  CellView cell(std::size_t row, std::size_t i) const { return cell_of(rows[row], columns[i]); }
  // One of a row of sums: null where it has none.
  CellView sum(const Row& sums, std::size_t i) const {
    return columns[i] < sums.size() ? view_of(sums[columns[i]]) : CellView();
  }
  bool is_empty() const { return rows.empty() && folded == 0; }

  // By indices of the table, and of `joined` behind them.
  CellView cell_of(std::uint32_t row, std::size_t column) const {
    return row < table->size() ? table->cell(row, column) : view_of(joined[row - table->size()][column]);
  }
};

struct ReportView {
  const Report* report = nullptr;
  std::vector<TableView> tables;  // in the report's order
};

// `report` must outlive it. `for_people`: with sums over what is cut off, which cost a pass over the rows.
Result<ReportView> view_report(const Report& report, const View& view, bool for_people);

// The same table with those columns alone for which `keep(index)`.
template <class Keep>
TableView with_columns(TableView view, Keep keep) {
  std::erase_if(view.columns, [&](std::size_t column) { return !keep(column); });
  return view;
}

}  // namespace ridge::render
