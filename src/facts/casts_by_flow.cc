// One walk of each stream's work in order, by iteration; and one of the casts inside of layers.
#include "facts/casts_by_flow.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <string_view>

#include "facts/scoped_work.h"
#include "model/iterations.h"

namespace ridge {
namespace {

enum class Makes : std::uint8_t { narrow, cast_down, product, unknown };  // what a kernel writes, as far as its name tells

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// Kernels whose arithmetic is in float and whose result is not: the types of their operands come first.
constexpr std::string_view kNarrowResults[] = {"BinaryFunctor<c10::BFloat16, c10::BFloat16, c10::BFloat16,",
                                               "BinaryFunctor<c10::Half, c10::Half, c10::Half,",
                                               "layer_norm_kernel<c10::BFloat16, float",
                                               "layer_norm_kernel<c10::Half, float",
                                               "softmax_warp_forward<c10::BFloat16, c10::BFloat16,",
                                               "softmax_warp_forward<c10::Half, c10::Half,"};

// Of ATen's kernels the template's type is that of the arithmetic, which is also that of the result: BFloat16, Half or float.
Makes made_by(const KernelIdentity& kernel, std::string_view name) {
  const std::string_view label = kernel.label;
  const bool casts = has(label, "bfloat16_copy") || has(label, "float16_copy");
  if (casts) return has(label, "<float>") || has(label, "<double>") ? Makes::cast_down : Makes::unknown;
  if (kernel.category == Category::gemm) return Makes::product;
  if (std::ranges::any_of(kNarrowResults, [&](std::string_view part) { return has(name, part); })) return Makes::narrow;
  if (has(label, "<float") || has(label, "<double") || has(label, ", float")) return Makes::unknown;
  return has(label, "BFloat16") || has(label, "Half") ? Makes::narrow : Makes::unknown;
}

struct StepCasts {
  bool told = true;
  std::vector<std::uint32_t> rows;  // of casts with a product right behind them
};

class CastFlow {
 public:
  explicit CastFlow(const Scope& scope) : scope_(scope) {}

  // By device and step: in a file of several ranks each has its own.
  std::map<std::int64_t, std::map<std::size_t, StepCasts>> by_step() {
    for_each_work(
        scope_,
        [&](const Device& device, const WorkRow& work) {
          if (work.sort == WorkSort::set) return;
          const auto step = iteration_of_work(scope_.trace(), scope_.model().tree(), scope_.model().links(),
                                              scope_.model().iterations(), work.row);
          if (step) see(device.id, work, *step);
        },
        CompilerWorkFilter::without);
    return std::move(steps_);
  }

 private:
  struct Casts {  // one behind the other
    std::vector<std::uint32_t> rows;
    std::size_t step = 0;
  };

  void see(std::int64_t device, const WorkRow& work, std::size_t step) {
    StepCasts& its = steps_[device][step];
    const EventId event = scope_.trace().of(EventClass::device_work)[work.row];
    const Makes makes = work.sort == WorkSort::compute ? made_by(scope_.model().identities()[work.row],
                                                                 scope_.trace().text(scope_.trace().events.name(event)))
                                                       : Makes::unknown;
    its.told = its.told && makes != Makes::unknown;
    Casts& last = last_[{device, work.stream}];
    if (makes == Makes::product && last.step == step) its.rows.insert(its.rows.end(), last.rows.begin(), last.rows.end());
    if (makes != Makes::cast_down || last.step != step) last = {{}, step};
    if (makes == Makes::cast_down) last.rows.push_back(work.row);
  }

  const Scope& scope_;
  std::map<std::int64_t, std::map<std::size_t, StepCasts>> steps_;
  std::map<std::pair<std::int64_t, std::int64_t>, Casts> last_;  // by device and stream
};

// Casts that autocast makes inside of a layer's op, or that a program makes right before it: linear(x, weight.to(...), ...).
class LayerCasts {
 public:
  explicit LayerCasts(const Scope& scope) : scope_(scope) {}

  std::vector<std::uint32_t> find() {
    for_each_work(scope_, [&](const Device&, const WorkRow& work) { see(work.row); }, CompilerWorkFilter::without);
    std::vector<std::uint32_t> rows;
    std::map<std::size_t, std::size_t> by_step;
    for (const Layer& layer : std::views::values(layers_)) {
      const std::size_t parameters = layer.bias ? 2 : 1;
      const std::size_t input = layer.casts.size() - std::min(layer.casts.size(), parameters);
      if (input > 1 || layer.casts.size() < 2) continue;
      rows.insert(rows.end(), layer.casts.begin() + static_cast<std::ptrdiff_t>(input), layer.casts.end());
      by_step[layer.step] += layer.casts.size() - input;
    }
    const bool again = by_step.size() >= 2 &&
                       std::ranges::all_of(by_step, [&](const auto& step) { return step.second == by_step.begin()->second; });
    return again ? rows : std::vector<std::uint32_t>();
  }

 private:
  struct Layer {
    std::vector<std::uint32_t> casts;  // in order of time
    bool bias = false;
    std::size_t step = 0;
  };

  void see(std::uint32_t row) {
    const Model& model = scope_.model();
    const auto step = iteration_of_work(scope_.trace(), model.tree(), model.links(), model.iterations(), row);
    const NodeId layer = step ? layer_of(model.links().launch[row]) : kNoNode;
    if (layer == kNoNode) return;
    const KernelIdentity& kernel = model.identities()[row];
    if (kernel.category == Category::gemm && op_name(model, row) == "aten::addmm") layers_[layer.value].bias = true;
    const bool cast = has(kernel.label, "bfloat16_copy") || has(kernel.label, "float16_copy");
    if (!cast || !has(kernel.label, "<float>")) return;
    layers_[layer.value].step = *step;
    layers_[layer.value].casts.push_back(row);
  }

  static constexpr int kMostLevelsOfLayer = 64;  // that are climbed: a stack may be as deep as a trace is long
  static constexpr int kMostCastsToLayer = 3;    // of an input, a weight and a bias, the first of them being asked
  static constexpr std::uint32_t kMostNodesToLayer = 64;

  // The outermost op around a launch, where it is a layer; of a cast that stands alone the layer behind it.
  NodeId layer_of(NodeId launch) const {
    const CallTree& tree = scope_.model().tree();
    NodeId outermost = tree.op_of(launch);
    if (outermost == kNoNode) return kNoNode;
    for (int level = 0; tree.op_above(outermost) != kNoNode; ++level, outermost = tree.op_above(outermost)) {
      if (level == kMostLevelsOfLayer) return kNoNode;
    }
    if (is_cast(outermost)) outermost = behind_casts(outermost);
    return outermost != kNoNode && name(outermost) == "aten::linear" ? outermost : kNoNode;
  }

  // The first op of the thread behind a cast and the casts that follow it.
  NodeId behind_casts(NodeId cast) const {
    const CallTree& tree = scope_.model().tree();
    int passed = 0;
    std::int64_t until = tree.end_ns[cast.value];
    const HostThread& thread = tree.threads[thread_of(tree, cast)];
    const std::uint32_t end = std::min({tree.recorded, thread.first + thread.count, cast.value + kMostNodesToLayer});
    for (std::uint32_t n = cast.value + 1; n < end; ++n) {
      if (tree.start_ns[n] < until || tree.event_class[n] != EventClass::op) continue;
      if (!is_cast(NodeId{n})) return NodeId{n};
      if (++passed == kMostCastsToLayer) return kNoNode;
      until = tree.end_ns[n];
    }
    return kNoNode;
  }

  bool is_cast(NodeId op) const { return name(op) == "aten::to" || name(op) == "aten::_to_copy"; }
  std::string_view name(NodeId n) const {
    return scope_.trace().text(scope_.trace().events.name(scope_.model().tree().event[n.value]));
  }

  const Scope& scope_;
  std::map<std::uint32_t, Layer> layers_;  // by node
};

std::vector<std::uint32_t> by_flow(const Scope& scope) {
  constexpr std::size_t kLeastSteps = 2, kLeastCasts = 2;
  std::vector<std::uint32_t> rows;
  for (const auto& [device, steps] : CastFlow(scope).by_step()) {
    const std::size_t casts = steps.begin()->second.rows.size();
    const bool alike = std::ranges::all_of(std::views::values(steps),
                                           [&](const StepCasts& its) { return its.told && its.rows.size() == casts; });
    if (!alike || steps.size() < kLeastSteps || casts < kLeastCasts) continue;
    for (const StepCasts& its : std::views::values(steps)) rows.insert(rows.end(), its.rows.begin() + 1, its.rows.end());
  }
  return rows;
}

}  // namespace

std::vector<std::uint32_t> weight_casts_by_flow(const Scope& scope) {
  std::vector<std::uint32_t> rows = by_flow(scope);
  const std::vector<std::uint32_t> inside = LayerCasts(scope).find();
  rows.insert(rows.end(), inside.begin(), inside.end());
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

}  // namespace ridge
