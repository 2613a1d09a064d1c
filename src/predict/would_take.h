// WouldTake: what an op call of a trace would take in another form: with TF32, padded, contiguous, fused. Asked once per
// distinct call and form.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "cost/cost_model.h"
#include "ops/op_call.h"
#include "predict/expected_time.h"
#include "predict/expected_times.h"

namespace ridge {

// Of what a call took: what is left of it in the other form. About 80 % of such calls lie between low and high.
struct LeftOver {
  double part = 1, low = 1, high = 1;
};

class WouldTake {
 public:
  explicit WouldTake(const CostModel& costs);

  // Whether expected times of this device rest on measurements of it: the built-in table's device, or the user's own points.
  bool is_measured(std::int64_t device) const;
  std::optional<ExpectedTime> of(const OpCall& call, bool tf32, std::int64_t device);
  // Of a call that ran, in its other form. On a device that was not measured what is expected of both forms is compared, since
  // only their ratio carries over. Nothing where it cannot be told.
  std::optional<LeftOver> left_of(const ExpectedCall& ran, const OpCall& other, bool tf32);

 private:
  const CostModel& costs_;
  std::map<std::int64_t, std::optional<MeasuredPoints>> points_;
};

// The call with all of its tensors contiguous.
OpCall contiguous(OpCall call);
// Whether two of its tensors have the same sizes and lie dense along different dimensions: one of them is read across.
bool lies_across(const OpCall& call);
// The call with tensors of four or five dimensions in channels_last order.
OpCall channels_last(OpCall call);

// The call with other sizes: where a dimension has one of these, it gets the other. Tensors stay dense in the order in which
// their dimensions lie.
OpCall with_sizes(OpCall call, const std::map<std::int64_t, std::int64_t>& sizes);

}  // namespace ridge
