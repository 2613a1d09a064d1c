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
    Format{.name = "table", .description = "tables for people", .cut_by_default = true, .render = render::render_terminal},
    Format{.name = "json",
           .description = "everything, exact, for programs",
           .cut_by_default = false,
           .render = render::render_json},
    Format{.name = "csv",
           .description = "the first table, exact, for spreadsheets and pandas",
           .cut_by_default = false,
           .render = render::render_csv},
    Format{.name = "md",
           .description = "Markdown tables for issues and pull requests",
           .cut_by_default = true,
           .render = render::render_markdown},
    Format{.name = "svg",
           .description = "the picture alone, for a page: roofline has one",
           .cut_by_default = false,
           .render = render::render_svg,
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
  return fail(ErrorCode::usage, fmt::format("there is no format '{}'", printable(name)), {}, std::move(hint));
}

}  // namespace ridge
