// The functions behind the rows of the format table, one per file of this folder.
#pragma once

#include <ridge/render.h>

#include "render/report_view.h"

namespace ridge::render {

Result<void> write_terminal(const ReportView& report, const RenderOptions& options, const Writer& write);
Result<void> write_json(const ReportView& report, const RenderOptions& options, const Writer& write);
Result<void> write_csv(const ReportView& report, const RenderOptions& options, const Writer& write);
Result<void> write_markdown(const ReportView& report, const RenderOptions& options, const Writer& write);
Result<void> write_svg(const ReportView& report, const RenderOptions& options, const Writer& write);

}  // namespace ridge::render
