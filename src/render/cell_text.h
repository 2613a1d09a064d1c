// One cell as people read it and one column's heading. Shared by the terminal and Markdown; machines get exact values instead.
#pragma once

#include <string>
#include <string_view>

#include <ridge/report.h>

namespace ridge::render {

inline constexpr std::string_view kUnknown = "-";

bool is_null(const Cell& cell);

// With its unit, printable; an unknown cell is kUnknown.
std::string cell_text(const Cell& cell, Unit unit);

// The column's name; "time" for "time_ns", because the cells bear units of their own.
std::string heading(const Column& column);

}  // namespace ridge::render
