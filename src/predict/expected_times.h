// ExpectedTimes: what each launch of a trace should have taken. The table knows whole op calls: where a call has several
// kernels, its expected time is divided among them as their own times are, so that all of them are as many times slower as the
// call is. Worked out once per distinct call; a million launches have a few hundred.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cost/cost_model.h"
#include "cost/launch_costs.h"
#include "predict/expected_time.h"

namespace ridge {

// One distinct op call or generated kernel.
struct ExpectedCall {
  const CostedCall* call = nullptr;      // of an op; else
  const CostedKernel* kernel = nullptr;  // of a generated kernel
  std::int64_t device = -1;              // where it ran
  std::int64_t count = 0;                // how often
  double time_ns = 0;                    // of all its launches together
  CallFeatures features;
  std::optional<ExpectedTime> expected;  // of one call
  std::string why;                       // where there is none
};

class ExpectedTimes {
 public:
  // With the user's own points and kernels that were measured alone, where the options hold any.
  explicit ExpectedTimes(const CostModel& costs);

  // Of one launch, by row of trace.of(EventClass::device_work); nothing where it cannot be told.
  std::optional<double> ns(std::size_t row) const { return of_cost_[(*of_row_)[row]]; }
  // Whether that is what --table tells of it.
  bool is_measured(std::size_t row) const { return !measured_.empty() && measured_[(*of_row_)[row]]; }
  const std::vector<ExpectedCall>& calls() const { return calls_; }
  // Of the call that a launch belongs to; nullptr where it is none that was looked at.
  const ExpectedCall* call(std::size_t row) const;

 private:
  const std::vector<std::uint32_t>* of_row_ = nullptr;
  std::vector<std::optional<double>> of_cost_;
  std::vector<bool> measured_;               // by cost; empty without a table
  std::vector<std::uint32_t> call_of_cost_;  // 1 + index; 0: none
  std::vector<ExpectedCall> calls_;
};

}  // namespace ridge
