// The rows of a view, without what renderers need beside them.
#include <ridge/shown_rows.h>

#include "base/try.h"
#include "render/report_view.h"

namespace ridge {

Result<std::vector<std::vector<std::uint32_t>>> shown_rows(const Report& report, const View& view) {
  TRY(render::ReportView shown, render::view_report(report, view, false));
  std::vector<std::vector<std::uint32_t>> rows;
  for (render::TableView& table : shown.tables) rows.push_back(std::move(table.rows));
  return rows;
}

}  // namespace ridge
