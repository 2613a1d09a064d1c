// Gradients in the order of their accumulation, and those of them that stand between one step of the optimizer and the next.
#include "cost/library/parameter_sizes.h"

#include <algorithm>
#include <unordered_map>

#include "ops/op_call.h"
#include "ops/op_work.h"
#include "trace/tables.h"

namespace ridge {

ParameterSizes::ParameterSizes(const Model& model) {
  const Trace& trace = model.trace();
  const CallTree& tree = model.tree();
  const OpTable table = ops(trace);
  enum class Is : std::uint8_t { neither, gradient, optimizer };
  std::unordered_map<StringId, Is> kinds;
  std::unordered_map<StringId, double> elements;  // of distinct dims
  for (std::size_t i = 0; i < tree.recorded; ++i) {
    if (tree.event_class[i] != EventClass::op) continue;
    const EventId event = tree.event[i];
    const StringId name = trace.events.name(event);
    const auto [kind, is_new] = kinds.try_emplace(name, Is::neither);
    if (is_new) {
      const std::string_view text = trace.text(name);
      const OpFormula* row = text == "torch::autograd::AccumulateGrad" ? nullptr : find_op(text);
      if (text == "torch::autograd::AccumulateGrad") kind->second = Is::gradient;
      if (row != nullptr && row->family == OpFamily::optimizer) kind->second = Is::optimizer;
    }
    if (kind->second == Is::optimizer) optimizer_times_ns_.push_back(tree.start_ns[i]);
    if (kind->second != Is::gradient) continue;
    const auto dims = table.input_dims.text(event);
    if (!dims) continue;
    const auto [size, new_dims] = elements.try_emplace(*dims, 0.0);
    if (new_dims) {
      const OpCall call = parse_op_call({}, trace.text(*dims), "[\"float\"]", {}, {});
      size->second = call.arguments.empty() ? 0 : numel(call.arguments[0].tensor);
    }
    gradients_.push_back({tree.start_ns[i], size->second});
  }
  std::stable_sort(gradients_.begin(), gradients_.end(),
                   [](const Gradient& a, const Gradient& b) { return a.time_ns < b.time_ns; });
  std::sort(optimizer_times_ns_.begin(), optimizer_times_ns_.end());
  of_end_.resize(gradients_.size() + 1);
}

std::uint32_t ParameterSizes::before(std::int64_t time_ns) {
  const auto earlier = [](const Gradient& g, std::int64_t t) { return g.time_ns < t; };
  const auto end = std::lower_bound(gradients_.begin(), gradients_.end(), time_ns, earlier);
  // Where the list ends decides where it begins: it is made once, however many calls a step has.
  std::optional<std::uint32_t>& known = of_end_[static_cast<std::size_t>(end - gradients_.begin())];
  if (known) return *known;
  auto begin = end;
  if (end != gradients_.begin()) {
    // Back to the optimizer op that stands before these gradients: the step before.
    const auto step = std::lower_bound(optimizer_times_ns_.begin(), optimizer_times_ns_.end(), std::prev(end)->time_ns);
    begin = step == optimizer_times_ns_.begin() ? gradients_.begin()
                                                : std::lower_bound(gradients_.begin(), end, *std::prev(step), earlier);
  }
  std::vector<double> list;
  for (auto g = end; g != begin;) list.push_back((--g)->elements);
  const auto [it, is_new] = ids_.try_emplace(list, static_cast<std::uint32_t>(lists_.size()));
  if (is_new) lists_.push_back(std::move(list));
  known = it->second;
  return it->second;
}

}  // namespace ridge
