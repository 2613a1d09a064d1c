// What each change does to the times of a step; the rows of changes.cc point here. Each takes the times as they are and leaves
// the rest alone, so that changes can follow each other.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "predict/changes.h"
#include "predict/expected_times.h"

namespace ridge {

// What device work takes by its work alone, where a change asks for that: the roof, or what such work takes.
class TimeByWork {
 public:
  TimeByWork(const Change& change, const ChangeContext& context);
  std::optional<std::int64_t> ns(std::uint32_t row) const;  // never more than it took; nothing where it is not known
  bool is_measured(std::uint32_t row) const { return expected_ != nullptr && expected_->is_measured(row); }
  std::string_view name() const { return expected_ ? "expected time" : "roof"; }

 private:
  const CostModel& costs_;
  std::unique_ptr<const ExpectedTimes> expected_;
};

// change_work.cc: device work.
ChangeEffect change_kernels(const Change& change, const ChangeContext& context, StepTimes* times);
ChangeEffect fuse_kernels(const Change& change, const ChangeContext& context, StepTimes* times);

// change_hardware.cc: by what the device has to do.
ChangeEffect change_dtype(const Change& change, const ChangeContext& context, StepTimes* times);
ChangeEffect change_device(const Change& change, const ChangeContext& context, StepTimes* times);
ChangeEffect change_batch(const Change& change, const ChangeContext& context, StepTimes* times);

// change_host.cc: what the host does and waits for.
ChangeEffect change_ops(const Change& change, const ChangeContext& context, StepTimes* times);
ChangeEffect change_host(const Change& change, const ChangeContext& context, StepTimes* times);
ChangeEffect drop_host_waits(const Change& change, const ChangeContext& context, StepTimes* times);
ChangeEffect drop_breaks(const Change& change, const ChangeContext& context, StepTimes* times);
ChangeEffect drop_dataloader(const Change& change, const ChangeContext& context, StepTimes* times);

// change_to_graphs.cc
ChangeEffect change_to_cuda_graphs(const Change& change, const ChangeContext& context, StepTimes* times);

}  // namespace ridge
