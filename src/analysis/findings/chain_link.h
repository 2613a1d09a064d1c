// What a kernel is to a chain of pointwise kernels that a compiler would fuse into one.
#pragma once

#include <cstdint>

#include "analysis/findings/facts.h"

namespace ridge {

enum class Link : std::uint8_t {
  none,      // ends it
  beside,    // neither: part of a neighbour, or work that stays
  columns,   // the same, but goes over its input by itself, down the columns: a compiler writes that anew, too
  computes,  // element by element
  copies,    // casts and layouts: fuse with arithmetic
  joins,     // tensors into one: of a chain only with arithmetic before and behind
  reduces,   // along rows: with what is before and behind it one kernel, as a norm is
  scans,     // the same, and as many numbers come out
  norms,     // rows by what they sum to, in one kernel already: softmaxes, layer norms
  product,   // ends it, unless it reads nothing of its size: what is behind may be of the chain still
};
constexpr bool along_rows(Link link) { return link == Link::reduces || link == Link::scans || link == Link::norms; }

Link link_of(Facts& facts, const WorkSlot& slot);

// The call of a compiled graph that launched a kernel; kNoCall where none did.
std::uint32_t graph_of(const Facts& facts, std::uint32_t row);

}  // namespace ridge
