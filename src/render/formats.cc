// The table of output formats.
#include "render/formats.h"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include "base/nearest.h"

namespace ridge {
namespace {

constexpr std::array kFormats = {
    Format{.name = "table", .description = "tables for people", .cut_by_default = true, .write = render::write_terminal},
    Format{
        .name = "json", .description = "everything, exact, for programs", .cut_by_default = false, .write = render::write_json},
    Format{.name = "csv",
           .description = "the first table, exact, for spreadsheets and pandas",
           .cut_by_default = false,
           .write = render::write_csv},
    Format{.name = "md",
           .description = "Markdown tables for issues and pull requests",
           .cut_by_default = true,
           .write = render::write_markdown},
    Format{.name = "svg",
           .description = "the picture alone, for a page: roofline has one",
           .cut_by_default = false,
           .write = render::write_svg,
           .draws = true},
};

}  // namespace

std::span<const Format> formats() { return kFormats; }

Result<const Format*> find_format(std::string_view name) {
  const auto found = std::ranges::find(kFormats, name, &Format::name);
  if (found != kFormats.end()) return &*found;
  std::vector<std::string_view> names;
  names.reserve(kFormats.size());
  for (const Format& format : kFormats) names.push_back(format.name);
  std::string hint = did_you_mean(name, names);
  if (hint.empty()) hint = fmt::format("formats: {}", fmt::join(names, ", "));
  return fail(ErrorCode::usage, fmt::format("unknown format '{}'", printable(name)), {}, std::move(hint));
}

Result<void> write_report(const Report& report, const Format& format, const View& view, const RenderOptions& options,
                          const Writer& write) {
  const auto shown = render::view_report(report, view, format.cut_by_default);
  if (!shown) return tl::unexpected(shown.error());
  if (format.draws && report.plots.empty()) {
    return fail(ErrorCode::usage, fmt::format("{} has nothing to draw", report.command), {},
                "only roofline has a picture; it needs shapes and a known device");
  }
  return format.write(*shown, options, write);
}

Result<std::string> report_text(const Report& report, const Format& format, const View& view, const RenderOptions& options) {
  std::string text;
  const auto written = write_report(report, format, view, options, [&](std::string_view piece) -> Result<void> {
    text += piece;
    return {};
  });
  return written.map([&] { return std::move(text); });
}

}  // namespace ridge
