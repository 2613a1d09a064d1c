// One cell as people read it and one column's heading. Shared by the terminal and Markdown; machines get exact values instead.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <ridge/report.h>

namespace ridge::render {

inline constexpr std::string_view kUnknown = "-";

// The number of an integer or a number; nothing for one that is none.
std::optional<double> number_in(const CellView& cell);

// With its unit, printable; an unknown cell is kUnknown.
std::string cell_text(const CellView& cell, Unit unit);

// The column's name; "time" for "time_ns", because the cells bear units of their own.
std::string heading(const Column& column);

}  // namespace ridge::render
