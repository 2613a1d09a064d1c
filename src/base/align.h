// Alignment of two sequences (calls of two traces, kernels of a graph and of its capture): which element of one stands for
// which of the other, in order.
//
// Ends that are equal are taken off; elements that are unique on both sides anchor the rest (patience); between anchors the
// same is tried with weaker evidence; small gaps are then aligned by the best total score, large ones by the fewest edits
// (Myers), and where even that would take too long by the n-th occurrence of each value. Linear for equal sequences, near
// linear for similar ones, never quadratic. Durations are no evidence: the aligner does not see them.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace ridge::alignment {

// One strength of evidence: a value per element of either side; equal values pair, 0 pairs with nothing.
struct Evidence {
  std::vector<std::uint64_t> a, b;
};

struct AlignInput {
  std::vector<Evidence> levels;  // strongest first; all of one length per side
  // How well two elements that no level pairs would do as a pair; 0: not at all. May be empty.
  std::function<int(std::uint32_t a, std::uint32_t b)> score;

  std::size_t size_a() const { return levels.front().a.size(); }
  std::size_t size_b() const { return levels.front().b.size(); }
};

using Pair = std::pair<std::uint32_t, std::uint32_t>;

// In order of both sides.
std::vector<Pair> align(const AlignInput& input);

// Leftovers with equal evidence, wherever they stand: the n-th of one side with the n-th of the other. In order of `a`.
std::vector<Pair> pair_by_occurrence(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b,
                                     const Evidence& evidence);

}  // namespace ridge::alignment
