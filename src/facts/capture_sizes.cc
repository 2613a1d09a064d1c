// One count over the scope's kernels, by the innermost compiled call around their launch.
#include "facts/capture_sizes.h"

#include <algorithm>
#include <map>

#include "facts/scoped_work.h"
#include "model/iterations.h"

namespace ridge {

CaptureSizes::CaptureSizes(const Scope& scope) : scope_(scope) {
  std::map<std::int64_t, std::int64_t> by_device;
  for_each_work(
      scope,
      [&](const Device& device, const WorkRow& work) {
        if (work.sort != WorkSort::compute) return;
        const std::uint32_t call = call_of(work.row);
        ++(call == kNoCall ? by_device[device.id] : by_call_[call]);
      },
      CompilerWorkFilter::without);
  std::int64_t eager = 0;  // a graph holds one device's
  for (const auto& [device, kernels] : by_device) eager = std::max(eager, kernels);
  // What nothing marks may be the body of a loop, of which a graph can hold as many as there are.
  const bool marked = !is_guess(scope.model().iterations().rule);
  eager_ = eager / std::max<std::int64_t>(1, marked ? static_cast<std::int64_t>(scope.iterations().size()) : 1);
}

std::int64_t CaptureSizes::kernels_with(std::uint32_t row) const {
  const auto found = by_call_.find(call_of(row));
  return found == by_call_.end() ? eager_ : found->second;
}

std::uint32_t CaptureSizes::call_of(std::uint32_t row) const {
  return scope_.model().compiled_regions().call_at(scope_.model().links().launch[row]);
}

}  // namespace ridge
