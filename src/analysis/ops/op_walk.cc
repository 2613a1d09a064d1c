// The device work that the walk hands out to its ops.
#include "analysis/ops/op_walk.h"

#include <optional>

#include "base/lasting.h"
#include "base/sort_runs.h"
#include "trace/vendor_work.h"

namespace ridge {

bool is_kernel(const Trace& trace, std::uint32_t row) {
  return work_of(trace, trace.of(EventClass::device_work)[row]) == DeviceWork::kernel;
}

void add_flops(const Scope& scope, std::uint32_t row, std::int64_t time_ns, FlopSum* sum) {
  const std::optional<double>& flops = scope.costs()[row].flops;
  if (flops || is_kernel(scope.trace(), row)) sum->add(flops, time_ns);
}

const CompilerWork& compiler_work_left_out(const Scope& scope, CompilerWorkFilter compilers) {
  static const auto& none = lasting(CompilerWork());
  return compilers == CompilerWorkFilter::without ? scope.model().compiler_work() : none;
}

std::vector<LaunchedWork> work_of_ops(const Scope& scope, CompilerWorkFilter compilers) {
  const Trace& trace = scope.trace();
  const LaunchLinks& links = scope.model().links();
  const GraphReplays& replays = scope.model().graph_replays();
  std::vector<LaunchedWork> list;
  list.reserve(trace.of(EventClass::device_work).size());
  const auto add = [&](const Device&, const WorkRow& work) {
    if (links.op[work.row] == kNoNode) return;
    const bool recovered = replays.recovered_op(work.row).op != kNoNode;
    list.push_back({links.op[work.row], duration_ns(work), is_kernel(trace, work.row), recovered, work.row});
  };
  for_each_work(scope, add, compilers);
  sort_runs(&list, [](const LaunchedWork& a, const LaunchedWork& b) { return a.op < b.op; });
  return list;
}

}  // namespace ridge
