// Savings: what following a finding's advice will bring, by replay of the step without the profiler (predict/what_if.h).
//
// A finding's change is one of whatif's where its remedy is one; else what it claims is gone: of device work what was claimed
// of it, and where that is all of it also the host's work to launch it; of idle time the host's time that caused it.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <ridge/result.h>

#include "analysis/catalog.h"
#include "analysis/findings/finding.h"
#include "analysis/findings/ledger.h"
#include "facts/scope.h"
#include "model/once.h"
#include "predict/removal.h"
#include "predict/what_if.h"

namespace ridge {

// What the remedy of a finding does to a step.
struct Remedy {
  std::vector<Change> changes = {};  // in whatif's terms; none: the removal
  Removal removal = {};
  WhatIf::Terms terms = {};
};

// `spreads`: of its row in the catalog.
Remedy remedy_of(const Scope& scope, const Ledger& ledger, const Finding& finding, double spreads,
                 std::span<const ClaimPart> claim);

struct Savings {
  std::optional<std::int64_t> saves_ns;  // per iteration
  std::optional<double> saves_pct, low_pct, high_pct;
  bool less_than_change = false;  // not all that the changes save is promised: of that not all is certain
};

// Of a step; nothing where there is none to replay.
class StepSavings {
 public:
  explicit StepSavings(const Scope& scope, WhatIf::From from = WhatIf::From::without_profiler,
                       std::optional<std::int64_t> measured_ns = {});
  StepSavings(const StepSavings&) = delete;
  StepSavings& operator=(const StepSavings&) = delete;

  const Scope& scope() const { return scope_; }
  const WhatIf& what_if() const { return what_if_; }
  // Of remedies together; never more than `at_most_ns`. `certain_ns`: of it what is certain to count where it is not the host
  // that decides how long a step is; nothing: all.
  Savings of(std::span<const Remedy* const> remedies, std::optional<std::int64_t> at_most_ns,
             std::optional<std::int64_t> certain_ns = {}) const;
  Outcome outcome(std::span<const Remedy* const> remedies) const;

 private:
  Scope scope_;
  WhatIf what_if_;
};

// The savings of a step, made when first asked for: its graph takes about as much memory as the rules of findings need beside
// it, and none of them asks before they are all through, unless the step was measured.
class SavingsOnce {
 public:
  explicit SavingsOnce(const Scope& scope, WhatIf::From from = WhatIf::From::without_profiler,
                       std::optional<std::int64_t> measured_ns = {})
      : scope_(scope), from_(from), measured_ns_(measured_ns) {}

  const StepSavings& get() const {
    return *made_.get([&] { return std::make_unique<const StepSavings>(scope_, from_, measured_ns_); });
  }
  // What recording cost, against what it is thought to: 1 unless a measured step says otherwise.
  double recorder_times() const { return measured_ns_ ? get().what_if().recorder_times() : 1; }

 private:
  const Scope& scope_;
  WhatIf::From from_;
  std::optional<std::int64_t> measured_ns_;
  mutable Once<std::unique_ptr<const StepSavings>> made_;
};

// --step-time, in ms: what a step takes when nobody records it; nothing where it was not given.
Result<std::optional<std::int64_t>> measured_step(const Arguments& arguments);
// Whether some cost of the recorder makes the step as long as was measured, where it was: within a fiftieth.
bool explains_measured(std::int64_t measured_ns, std::int64_t without_profiler_ns);
bool explains_measured(const WhatIf& what_if);
// And what to say where none does: what figures are of instead, and what may be wrong with the time that was given.
std::string unexplained_text(std::int64_t measured_ns, std::int64_t without_profiler_ns);

}  // namespace ridge
