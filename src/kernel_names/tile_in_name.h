// The tile of a block where a kernel's name spells it between other numbers. Names that mark it ("tilesize64x128", nvjet's) are
// read with their other facts: kernel_facts.h.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

namespace ridge {

// "cutlass_80_simt_sgemm_256x128_8x4_nn_align1": the first pair behind an underscore, from `mark` on; zeros when there is none.
std::pair<double, double> tile_in_name(std::string_view name, std::size_t mark);

// "..._320x128_64x3...", "tilesize256x128x8": the first pair of numbers of at least 16 each, wherever it stands.
std::optional<std::pair<double, double>> first_tile(std::string_view name);

}  // namespace ridge
