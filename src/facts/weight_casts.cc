// Collects the shapes of parameters from forward products, then the casts of such shapes by iteration.
#include "facts/weight_casts.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "facts/casts_by_flow.h"
#include "facts/scoped_work.h"
#include "model/iterations.h"
#include "model/name_flags.h"
#include "model/phases.h"
#include "ops/op_work.h"
#include "ops/operands.h"
#include "trace/tables.h"

namespace ridge {
namespace {

// Sizes in ascending order (a weight is stored one way and used the other), and the type that products take it in.
using Parameter = std::pair<std::vector<std::int64_t>, DType>;

std::vector<std::int64_t> sorted_sizes(const TensorShape& t) {
  std::vector<std::int64_t> sizes = t.sizes;
  if (sizes.size() == 2) std::sort(sizes.begin(), sizes.end());
  return sizes;
}

bool is_cast(const OpCall& call) {
  if (call.arguments.size() < 2) return false;
  const TensorShape &to = call.arguments[0].tensor, &from = call.arguments[1].tensor;
  const double narrow = item_bytes(to.dtype), wide = item_bytes(from.dtype);
  return to.sizes == from.sizes && !to.sizes.empty() && is_floating(to.dtype) && is_floating(from.dtype) && narrow < wide;
}

// The calls of a trace, parsed once per distinct text.
class ParsedCalls {
 public:
  explicit ParsedCalls(const Model& model) : trace_(model.trace()), tree_(model.tree()), ops_(ops(model.trace())) {}

  const OpCall& at(NodeId op) {
    const EventId event = tree_.event[op.value];
    const auto text = [&](const ArgColumn& column) { return column.text(event).value_or(StringId{}); };
    const StringId name = trace_.events.name(event), dims = text(ops_.input_dims), types = text(ops_.input_type);
    const auto [it, added] = calls_.try_emplace({name.value, dims.value, types.value});
    if (added) it->second = parse_op_call(trace_.text(name), trace_.text(dims), trace_.text(types), {}, {});
    return it->second;
  }

 private:
  const Trace& trace_;
  const CallTree& tree_;
  OpTable ops_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, OpCall> calls_;
};

class WeightCasts {
 public:
  WeightCasts(const Scope& scope, ProgramKind program)
      : scope_(scope),
        model_(scope.model()),
        trace_(scope.trace()),
        tree_(model_.tree()),
        phases_(build_phases(trace_, tree_)),
        calls_(model_),
        trains_(program == ProgramKind::trains) {}

  std::vector<std::uint32_t> repeated() {
    find_parameters();
    if (parameters_.empty() && layers_.empty())
      return trains_ || has_shapes_ ? std::vector<std::uint32_t>() : weight_casts_by_flow(scope_);
    find_casts();
    if (trains_) count_gradients();
    std::vector<std::uint32_t> rows;
    for (const auto& [of, by_iteration] : casts_) {
      if (!trains_ && by_iteration.size() < 2) continue;
      for (const auto& [iteration, casts] : by_iteration) {
        const std::size_t needed = trains_ ? needed_casts(of.second.first, iteration, casts.size()) : 0;
        rows.insert(rows.end(), casts.begin() + static_cast<std::ptrdiff_t>(needed), casts.end());
      }
    }
    std::sort(rows.begin(), rows.end());
    return rows;
  }

 private:
  std::string_view name(NodeId n) const { return trace_.text(trace_.events.name(tree_.event[n.value])); }

  void find_parameters() {
    const NameFlags products(trace_, [](std::string_view op) {
      const OpFormula* row = find_op(op);
      return row != nullptr && (product_positions(*row) != nullptr || row->family == OpFamily::convolution);
    });
    if (!products.any()) return;
    for (std::uint32_t n = 0; n < tree_.recorded; ++n) {
      const bool forward = tree_.event_class[n] == EventClass::op && phases_[n] == Phase::forward;
      if (!forward || !products[trace_.events.name(tree_.event[n])]) continue;
      const OpCall& call = calls_.at(NodeId{n});
      has_shapes_ = has_shapes_ || call.has_shapes;
      add_parameters(call);
    }
  }

  void add_parameters(const OpCall& call) {
    if (call.op == "aten::linear") add_layer(call);
    const OpFormula* row = find_op(call.op);
    if (const ProductPositions* at = product_positions(*row)) {
      const TensorShape *a = tensor(call, at->a), *b = tensor(call, at->b), *added = tensor(call, at->added);
      if (a == nullptr || b == nullptr || a->sizes.size() != 2 || b->sizes.size() != 2) return;
      if (std::find(b->sizes.begin(), b->sizes.end(), a->sizes[0]) != b->sizes.end()) return;
      add(*b);
      if (added != nullptr && added->sizes.size() == 1) add(*added);
    } else if (const TensorShape* weight = tensor(call, 1); weight != nullptr && weight->sizes.size() >= 3) {
      add(*weight);
    }
  }
  // aten::linear(x, weight): rows of sequences are no matrix, so that one of the weight's sizes in its order is the weight.
  void add_layer(const OpCall& call) {
    const TensorShape *x = tensor(call, 0), *weight = tensor(call, 1);
    if (x != nullptr && weight != nullptr && x->sizes.size() > 2 && weight->sizes.size() == 2) layers_.insert(weight->sizes);
  }
  static const TensorShape* tensor(const OpCall& call, int at) {
    if (at < 0 || static_cast<std::size_t>(at) >= call.arguments.size()) return nullptr;
    const OpArgument& argument = call.arguments[static_cast<std::size_t>(at)];
    return argument.kind == OpArgument::Kind::tensor ? &argument.tensor : nullptr;
  }
  void add(const TensorShape& t) { parameters_.insert({sorted_sizes(t), t.dtype}); }

  void find_casts() {
    for_each_work(
        scope_,
        [&](const Device& device, const WorkRow& work) {
          const NodeId op = model_.links().op[work.row];
          if (work.sort != WorkSort::compute || op == kNoNode || name(op) != "aten::copy_") return;
          if (phases_[op.value] != Phase::forward) return;
          const OpCall& call = calls_.at(op);
          const auto iteration = iteration_of_work(trace_, tree_, model_.links(), model_.iterations(), work.row);
          if (!iteration || !is_cast(call)) return;
          const TensorShape& to = call.arguments[0].tensor;
          const Parameter parameter{sorted_sizes(to), to.dtype};
          if (!parameters_.contains(parameter) && !layers_.contains(to.sizes)) return;
          casts_[{device.id, parameter}][*iteration].push_back(work.row);
          devices_.insert(device.id);
        },
        CompilerWorkFilter::without);
  }

  void count_gradients() {
    const NameFlags sums(trace_, [](std::string_view op) { return op == "torch::autograd::AccumulateGrad"; });
    if (!sums.any()) return;
    for (std::uint32_t n = 0; n < tree_.recorded; ++n) {
      if (!sums[trace_.events.name(tree_.event[n])] || tree_.event_class[n] != EventClass::op) continue;
      const OpCall& call = calls_.at(NodeId{n});
      const auto iteration = model_.iterations().at(tree_.start_ns[n]);
      if (iteration && !call.arguments.empty()) ++gradients_[{sorted_sizes(call.arguments[0].tensor), *iteration}];
    }
  }

  // One for each parameter of that shape, of a rank's; all, where no gradient tells how many there are.
  std::size_t needed_casts(const std::vector<std::int64_t>& sizes, std::size_t iteration, std::size_t made) const {
    const auto found = gradients_.find({sizes, iteration});
    return found == gradients_.end() ? made : std::min((found->second + devices_.size() - 1) / devices_.size(), made);
  }

  const Scope& scope_;
  const Model& model_;
  const Trace& trace_;
  const CallTree& tree_;
  std::vector<Phase> phases_;
  ParsedCalls calls_;
  bool trains_;
  bool has_shapes_ = false;
  std::set<Parameter> parameters_;
  std::set<std::vector<std::int64_t>> layers_;  // of weights, in their order
  std::map<std::pair<std::int64_t, Parameter>, std::map<std::size_t, std::vector<std::uint32_t>>> casts_;  // rows by iteration
  std::set<std::int64_t> devices_;                                                                         // that cast
  std::map<std::pair<std::vector<std::int64_t>, std::size_t>, std::size_t> gradients_;  // by sizes and iteration
};

}  // namespace

std::vector<std::uint32_t> repeated_weight_casts(const Scope& scope, ProgramKind program) {
  if (program == ProgramKind::unknown) return {};
  return WeightCasts(scope, program).repeated();
}

}  // namespace ridge
