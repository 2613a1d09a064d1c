// Matching: which positions of one typical iteration stand for which of another, and on what evidence. Durations are never
// looked at.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/diff/typical_iteration.h"

namespace ridge::diff {

// In order of evidence. A group of several links is called by its weakest.
enum class Match : std::uint8_t {
  kernel,  // the same kernels
  call,    // the same op with the same shapes, by other kernels
  shape,   // another op with the same shapes
  anchor,  // matrix work of the same sort, by its place between matched neighbours
  fused,  // one for many: a generated kernel and the ops that it fuses, with the layout work that belongs to it; a foreach call
          // and its loop
  region,  // what the same named step of the program did, as a whole
  moved,   // the same call at another place
  family,  // nothing but the same sort of work in the same phase
};
std::string_view name_of(Match match);

struct Link {
  std::uint32_t a = 0, b = 0;  // positions
  Match match = Match::kernel;
};

using Links = std::vector<Link>;

// What both sides can tell of a call.
struct CommonEvidence {
  bool shapes = false, modules = false, grids = false;
};
CommonEvidence common_evidence(const TypicalIteration& a, const TypicalIteration& b);

// Which positions are linked already.
struct Linked {
  std::vector<std::uint8_t> a, b;
  Linked(const TypicalIteration& ta, const TypicalIteration& tb) : a(ta.positions.size()), b(tb.positions.size()) {}
  void add(const Link& link) { a[link.a] = b[link.b] = 1; }
};

// Typical iterations of one mode, or of kernels alone: by order.
Links match_calls(const TypicalIteration& a, const TypicalIteration& b);

// One typical iteration of eager ops and one of generated kernels: matrix work by order and dimensions, the rest around it.
Links match_fused(const TypicalIteration& eager, const TypicalIteration& compiled);

// Leftovers that work on a list of tensors at once (aten::_foreach_mul_) and those that do the same tensor by tensor
// (aten::mul_, ...), in a phase.
void match_lists(const TypicalIteration& a, const TypicalIteration& b, Linked& linked, Links& links);

// Leftovers of the same sort in the same phase, where one side is generated or nameless; real new work stays unmatched.
void match_families(const TypicalIteration& a, const TypicalIteration& b, Linked& linked, Links& links);

Links match(const TypicalIteration& a, const TypicalIteration& b, RunMode mode_a, RunMode mode_b);

// What a link between two calls rests on.
Match evidence_of_pair(const CallKind& a, const CallKind& b);

}  // namespace ridge::diff
