// The functions behind the rows of the format table, one per file of this folder.
#pragma once

#include <string>

#include <ridge/render.h>
#include <ridge/report.h>

namespace ridge::render {

std::string render_terminal(const Report& report, const RenderOptions& options);
std::string render_json(const Report& report, const RenderOptions& options);
std::string render_csv(const Report& report, const RenderOptions& options);
std::string render_markdown(const Report& report, const RenderOptions& options);
std::string render_svg(const Report& report, const RenderOptions& options);

}  // namespace ridge::render
