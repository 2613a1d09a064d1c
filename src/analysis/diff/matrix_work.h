// Matrix work (products, convolutions, attention) of two typical iterations. It is called in eager and in compiled mode alike,
// and it is where the time is: aligned by its dimensions and kernel, then by order, then across, because a compiler may swap
// the two products of a backward.
#pragma once

#include <cstdint>

#include "analysis/diff/match.h"

namespace ridge::diff {

// What must agree for two calls to be one: phase, sort of matrix work, device.
std::uint64_t place_key(const CallKind& kind);

// `shapes`: both sides tell shapes.
Links match_matrix_work(const TypicalIteration& a, const TypicalIteration& b, bool shapes);

}  // namespace ridge::diff
