// A plot as lines of text: curves in Braille dots, the weightiest points as digits with a legend, the others as dots.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <ridge/report.h>

namespace ridge::render {

// Lines without their ends, none wider than `width` columns (a default for 0).
std::vector<std::string> plot_lines(const Plot& plot, std::size_t width);

}  // namespace ridge::render
