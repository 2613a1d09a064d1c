// TypicalIteration: one iteration of a trace, with every recorded iteration as an observation of it. A position is a call at
// its place; where an iteration lacks it, that iteration observed 0.
//
// Time per iteration is kept per kernel of a position and rounded there to whole nanoseconds: every sum over kernels, by
// position, group, category or in all, is then a sum of the same whole numbers, and all tables add up to the nanosecond. A call
// that one trace lacks leaves the others' numbers as they are.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/diff/noise.h"
#include "analysis/diff/sequence.h"
#include "base/saturating.h"

namespace ridge::diff {

struct SlotTime {
  KernelSlot kernel;
  EventId event;  // its first launch
  std::int64_t sum_ns = 0;
  std::int64_t launches = 0;
  std::int64_t extra_iterations = 0;    // in which it was seen besides the recorded ones: work launched before the window
  std::int64_t per_iteration_ns = 0;    // rounded
  Category category = Category::other;  // the kernel's; of a replay, which knows no ops, its partner's
};

struct Position {
  std::uint32_t kind = 0;  // of the sequence
  Key region = kNoKey;     // of its first call
  std::vector<SlotTime> slots;
  std::int64_t calls = 0;
  bool orphan = false;  // launched before the window, and repeated by no recorded iteration
  Observations observed;

  std::int64_t per_iteration_ns() const {
    std::int64_t sum = 0;
    for (const SlotTime& slot : slots) saturating_add(&sum, slot.per_iteration_ns);
    return sum;
  }
};

struct TypicalIteration {
  CallSequence sequence;
  std::vector<Position> positions;  // in order of call
  std::int64_t iterations = 1;
  Observations gpu_time;       // of whole iterations
  std::int64_t folded_ns = 0;  // recorded time of work launched before the window that repeats a position

  const CallKind& kind(std::size_t position) const { return sequence.kinds[positions[position].kind]; }
  double count_of(const Position& p) const { return static_cast<double>(p.calls) / static_cast<double>(iterations); }
};

// `sequence` must be of that scope.
TypicalIteration build_template(const Scope& scope, CallSequence sequence, KeyPool& pool);

}  // namespace ridge::diff
