// Regions: named steps of a program. The optimizer's parts (Optimizer.step, Optimizer.zero_grad) and the user's own annotations
// bear one name in every trace of the program, whatever runs inside. Where a step was rewritten as a whole, nothing but its
// name is left to match it by.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/diff/keys.h"
#include "analysis/diff/match.h"
#include "facts/scope.h"
#include "model/phases.h"

namespace ridge::diff {

inline constexpr std::string_view kOptimizerStep = "optimizer step";

// What people call a step: "optimizer step" for "Optimizer.step#AdamW.step"; an annotation's own name without its numbers,
// which count iterations. Empty for marks that tell nothing of the program: ProfilerStep#, compiled regions, collectives.
std::string step_name(std::string_view annotation);

// The step that a launch belongs to: the innermost around it on its thread.
class Regions {
 public:
  // `names`: where the names of keys are kept.
  Regions(const Scope& scope, KeyPool& pool, std::unordered_map<Key, std::string>* names);

  Key of(NodeId launch, Phase phase);

 private:
  Key key_of(const std::string& step);

  KeyPool& pool_;
  std::unordered_map<Key, std::string>* names_;
  std::vector<Key> by_node_;  // empty: the trace has no annotations
  Key optimizer_step_ = kNoKey;
};

// Leftovers of a step on both sides, as one region, where the step was rewritten. A step that is most of an iteration says too
// little.
void match_regions(const TypicalIteration& a, const TypicalIteration& b, Linked& linked, Links& links);

}  // namespace ridge::diff
