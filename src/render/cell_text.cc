// One format per unit; a heading drops the unit that its cells show.
#include "render/cell_text.h"

#include <array>
#include <cmath>

#include <fmt/format.h>

#include <ridge/render.h>

#include "base/units.h"

namespace ridge {
namespace render {
namespace {

using FormatNumber = std::string (*)(double);

// In the order of enum Unit.
constexpr std::array<FormatNumber, 8> kFormats = {
    format_plain,      [](double v) { return format_count(v); },
    format_duration,   format_bytes,
    format_flop,       format_percent,
    format_flop_per_s, format_bytes_per_s,
};

struct CellText {
  Unit unit;

  std::string operator()(std::monostate) const { return std::string(kUnknown); }
  std::string operator()(bool value) const { return value ? "yes" : "no"; }
  std::string operator()(double value) const { return with_unit(value, unit); }
  std::string operator()(std::string_view value) const { return printable(value); }
  std::string operator()(std::int64_t value) const {
    if (unit == Unit::none) return fmt::format("{}", value);  // an id or a number of a device: no separators
    if (unit == Unit::count) return format_count(value);
    return with_unit(static_cast<double>(value), unit);
  }
};

}  // namespace

std::optional<double> number_in(const CellView& cell) {
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*whole);
  if (const auto* number = std::get_if<double>(&cell)) return std::isnan(*number) ? std::nullopt : std::optional(*number);
  return std::nullopt;
}

std::string cell_text(const CellView& cell, Unit unit) { return std::visit(CellText{unit}, cell); }

std::string heading(const Column& column) {
  if (column.unit != Unit::ns) return printable(column.name);
  // "_ns" at the end of the name, or before "_per_": the cells say which unit they are in.
  constexpr std::string_view kNs = "_ns";
  std::size_t at = column.name.find("_ns_per_");
  if (at == std::string::npos && column.name.ends_with(kNs)) at = column.name.size() - kNs.size();
  return printable(at == std::string::npos || at == 0 ? column.name : std::string(column.name).erase(at, kNs.size()));
}

}  // namespace render

std::string with_unit(double value, Unit unit) { return render::kFormats.at(static_cast<std::size_t>(unit))(value); }

}  // namespace ridge
