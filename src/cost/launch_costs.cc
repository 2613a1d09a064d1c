// From device work to costs: each launch goes to its op's formula, or to what it tells itself (own_costs.h).
#include "cost/launch_costs.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <unordered_map>

#include "cost/library/call_cost.h"
#include "cost/library/made_tensors.h"
#include "cost/library/op_signatures.h"
#include "cost/library/parameter_sizes.h"
#include "cost/own_costs.h"
#include "cost/triton/triton_cost.h"
#include "model/server_steps.h"
#include "ops/allocations.h"
#include "ops/dispatcher_op.h"
#include "trace/tables.h"

namespace ridge {
namespace {

// One launch on its way to its op call. Launches of one call stand together when sorted.
struct Entry {
  NodeId owner;
  std::uint32_t instance = 0;  // 0: launched under the op itself; else the replay of a graph that repeats it
  std::uint32_t form = 0;      // the op's own formula, or one of the general ones
  std::uint32_t order = 0;
  std::uint32_t row = 0;

  bool same_owner(const Entry& other) const { return owner == other.owner && instance == other.instance; }
  bool same_call(const Entry& other) const { return same_owner(other) && form == other.form; }
  auto operator<=>(const Entry&) const = default;
};

class Builder {
 public:
  Builder(const Model& model, const CostOptions& options)
      : model_(model),
        options_(options),
        trace_(model.trace()),
        tree_(model.tree()),
        links_(model.links()),
        identities_(model.identities()),
        work_(device_work(trace_)),
        signatures_(trace_) {
    general_ = {nullptr, &general_pointwise(), &general_reduction(), &any_single_kernel()};
  }

  LaunchCosts build() {
    result_.costs.emplace_back();
    result_.of_row.assign(work_.events.size(), 0);
    find_replays();
    for (std::size_t row = 0; row < work_.events.size(); ++row) add(row);
    if (!std::is_sorted(entries_.begin(), entries_.end())) std::sort(entries_.begin(), entries_.end());
    for (std::size_t i = 0; i < entries_.size();) {
      std::size_t end = i + 1;
      while (end < entries_.size() && entries_[end].same_owner(entries_[i])) ++end;
      cost_owner(std::span(entries_).subspan(i, end - i));
      i = end;
    }
    return std::move(result_);
  }

 private:
  struct Replayed {
    NodeId op = kNoNode;
    std::uint32_t replay = 0, place = 0;
  };

  // Work of a graph's replay whose op was recovered.
  void find_replays() {
    const GraphReplays& replays = model_.graph_replays();
    for (std::size_t r = 0; r < replays.replays.size(); ++r) {
      const ReplayedGraph& graph = replays.graphs[replays.replays[r].graph];
      if (graph.ops.empty()) continue;
      const auto rows = replays.rows_of(replays.replays[r]);
      for (std::size_t i = 0; i < rows.size() && i < graph.ops.size(); ++i) {
        replayed_[rows[i]] = {graph.ops[i], static_cast<std::uint32_t>(r + 1), static_cast<std::uint32_t>(i)};
      }
    }
  }

  void add(std::size_t row) {
    const EventId event = work_.events[row];
    const DeviceWork kind = trace_.kind(event).work;
    if (kind != DeviceWork::kernel) {
      result_.of_row[row] = own_.copy(event, kind);
      return;
    }
    Entry entry;
    entry.row = static_cast<std::uint32_t>(row);
    entry.owner = links_.op[row];
    entry.order = links_.launch[row].value;
    if (!replayed_.empty()) {
      if (const auto it = replayed_.find(entry.row); it != replayed_.end()) {
        entry.owner = it->second.op;
        entry.instance = it->second.replay;
        entry.order = it->second.place;
      }
    }
    if (is_triton(identities_[row].category) && !of_library(row, entry.owner)) {
      result_.of_row[row] = own_.triton(row, entry.owner);
      return;
    }
    if (identities_[row].category == Category::comm && !tells_transfer(entry.owner)) {
      result_.of_row[row] = own_.collective(row);
      return;
    }
    if (!find_owner(&entry)) {
      result_.of_row[row] = unknown_op(trace_.events.name(event));
      return;
    }
    entries_.push_back(entry);
  }

  // --- which op a kernel belongs to ---

  const OpFormula* row_of(StringId name) {
    const auto [it, is_new] = rows_.try_emplace(name, nullptr);
    if (is_new) it->second = find_op(trace_.text(name));
    return it->second;
  }
  const KernelFacts& facts(StringId kernel) {
    const auto [it, is_new] = facts_.try_emplace(kernel);
    if (is_new) it->second = facts_of(trace_.text(kernel));
    return it->second;
  }

  // A plain name may be a user's Triton kernel or one that a library compiled as it ran ("conv1D_NCHW"): under an op that has a
  // formula it does that op's work; also where a part of a server's op stands between them ("vllm::moe_forward", "TopK").
  bool of_library(std::size_t row, NodeId op) {
    if (identities_[row].category != Category::triton_user || op == kNoNode) return false;
    return row_of_op(op) != nullptr || experts_around(op) != kNoNode;
  }

  static constexpr int kMostLevels = 64;  // that are climbed: a stack may be as deep as a trace is long

  // The nearest op around that has a formula, if it is a mixture of experts.
  NodeId experts_around(NodeId op) {
    for (int level = 0; op != kNoNode && row_of_op(op) == nullptr; ++level)
      op = level < kMostLevels ? tree_.op_above(op) : kNoNode;
    return op != kNoNode && row_of_op(op)->family == OpFamily::experts ? op : kNoNode;
  }

  // Of a collective: whether its op says what it moves.
  bool tells_transfer(NodeId op) {
    const OpFormula* row = op == kNoNode ? nullptr : row_of_op(op);
    return row != nullptr && row->family == OpFamily::transfer;
  }

  const OpFormula* row_of_op(NodeId op) { return row_of(trace_.events.name(tree_.event[op.value])); }

  // What only calls ops (CompiledFunction, an autograd node, a hook) tells nothing of a kernel's operands.
  bool find_owner(Entry* entry) {
    const NodeId innermost = entry->owner;
    if (innermost == kNoNode) return false;
    const StringId name = trace_.events.name(tree_.event[innermost.value]);
    if (row_of(name) != nullptr) return true;
    if (!is_dispatcher_op(trace_.text(name))) {
      entry->owner = experts_around(innermost);
      return entry->owner != kNoNode;
    }
    const KernelFacts& kernel = facts(trace_.events.name(work_.events[entry->row]));
    if (kernel.elementwise || kernel.reduce) {
      entry->form = kernel.elementwise ? kPointwise : kReduction;
      return true;
    }
    NodeId node = innermost;
    for (int level = 0; level < kMostLevels && node != kNoNode; ++level, node = tree_.parent[node.value]) {
      if (tree_.class_of(node) != EventClass::op) continue;
      const StringId around = trace_.events.name(tree_.event[node.value]);
      if (row_of(around) != nullptr) {
        entry->owner = node;
        return true;
      }
      if (!is_dispatcher_op(trace_.text(around))) break;
    }
    // Of other libraries' ops the arguments may be caches and buffers of which a kernel touches a part.
    entry->form = kAny;
    return trace_.text(name).starts_with("aten::");
  }

  // --- op calls ---

  // All launches under one call of an op. Where the op has no row, a general form stands for the op's only kernel: of several,
  // nobody says which of the arguments each takes. ATen's own elementwise kernels and reductions are still taken to go over
  // them, as a guess.
  void cost_owner(std::span<const Entry> launches) {
    const bool several = launches.size() > 1;
    const bool aten = trace_.text(trace_.events.name(tree_.event[launches[0].owner.value])).starts_with("aten::");
    for (std::size_t i = 0; i < launches.size();) {
      std::size_t end = i + 1;
      while (end < launches.size() && launches[end].same_call(launches[i])) ++end;
      const auto call = launches.subspan(i, end - i);
      i = end;
      if (call[0].form != 0 && several && (call[0].form == kAny || !aten)) {
        for (const Entry& e : call) result_.of_row[e.row] = unknown_op(trace_.events.name(work_.events[e.row]));
      } else {
        cost_call(call, call[0].form != 0 && several);
      }
    }
  }

  void cost_call(std::span<const Entry> call, bool guessed) {
    const Entry& first = call[0];
    const EventId op = tree_.event[first.owner.value];
    const OpFormula* row = first.form == 0 ? row_of(trace_.events.name(op)) : general_[first.form];
    const std::uint32_t signature = signatures_.of(op);
    const std::uint32_t parameters =
        needs_parameters(*row, signature) ? parameter_sizes().before(tree_.start_ns[first.owner.value]) + 1 : 0;
    const std::uint32_t step =
        std::holds_alternative<PagedPositions>(row->positions) ? step_around(links_.launch[first.row]) : 0;
    const std::vector<std::uint32_t> made =
        asks_for_allocations(*row) ? allocations_under(trace_, tree_, first.owner, &signatures_) : std::vector<std::uint32_t>();
    key_.clear();
    key_.insert(key_.end(),
                {signature, first.form | (guessed ? kGuessed : 0U), parameters, step, static_cast<std::uint32_t>(made.size())});
    key_.insert(key_.end(), made.begin(), made.end());
    for (const Entry& e : call) {
      const EventId event = work_.events[e.row];
      key_.insert(key_.end(), {trace_.events.name(event).value, work_.grid.text(event).value_or(StringId{}).value,
                               work_.block.text(event).value_or(StringId{}).value});
    }
    auto it = calls_.find(key_);
    if (it == calls_.end()) it = calls_.emplace(key_, work_out(*row, signature, parameters, step, made, call, guessed)).first;
    for (std::size_t i = 0; i < call.size(); ++i) result_.of_row[call[i].row] = it->second + static_cast<std::uint32_t>(i);
  }

  // The index of the first of the launches' costs.
  std::uint32_t work_out(const OpFormula& row, std::uint32_t signature, std::uint32_t parameters, std::uint32_t step,
                         std::span<const std::uint32_t> made, std::span<const Entry> call, bool guessed) {
    std::vector<CallLaunch> launches;
    launches.reserve(call.size());
    for (const Entry& e : call) {
      const EventId event = work_.events[e.row];
      const StringId name = trace_.events.name(event);
      launches.push_back(
          {trace_.text(name), &facts(name), dim3_at(trace_, work_.grid, event), dim3_at(trace_, work_.block, event)});
    }
    CallContext context{.tf32 = options_.tf32, .dtype = options_.dtype, .parameters = {}, .device = limits_};
    if (parameters > 0) context.parameters = parameter_sizes().sizes(parameters - 1);
    if (step > 0) context.tokens = server_steps().steps[step - 1].tokens;
    const std::vector<TensorShape> tensors = made_tensors(signatures_, made);
    context.made = tensors;
    const auto first = static_cast<std::uint32_t>(result_.costs.size());
    for (LaunchCost cost : call_costs(row, signatures_.call(signature), launches, context)) {
      if (guessed && cost.estimate != Estimate::none) cost.estimate = Estimate::ambiguous;
      keep(cost);
    }
    remember_call(signature, context, first, launches.size());
    return first;
  }

  void remember_call(std::uint32_t signature, const CallContext& context, std::uint32_t first, std::size_t launches) {
    CostedCall& kept = result_.calls.emplace_back();
    kept.call = signatures_.call(signature);
    kept.first_cost = first;
    kept.launches = static_cast<std::uint32_t>(launches);
    for (OpArgument& argument : kept.call.arguments) {
      if (argument.kind != OpArgument::Kind::tensor_list) continue;
      if (argument.list.empty() &&
          kept.call.op.find("_fused_") != std::string_view::npos) {  // what else is in a list is not told
        for (const double size : context.parameters)
          argument.list.push_back({{static_cast<std::int64_t>(size)}, {}, DType::unknown});
      }
      for (TensorShape& shape : argument.list) {
        if (shape.dtype == DType::unknown) shape.dtype = result_.costs[first].dtype;
      }
    }
  }

  bool needs_parameters(const OpFormula& row, std::uint32_t signature) const {
    if (row.family != OpFamily::optimizer) return false;
    const OpCall& call = signatures_.call(signature);
    return std::none_of(call.arguments.begin(), call.arguments.end(), [](const OpArgument& a) { return !a.list.empty(); });
  }
  ParameterSizes& parameter_sizes() {
    if (!parameters_) parameters_.emplace(model_);
    return *parameters_;
  }

  // 1 + the index of the server's step that a launch belongs to; 0 where no mark says so.
  std::uint32_t step_around(NodeId launch) {
    const ServerSteps& steps = server_steps();
    return launch == kNoNode || steps.of.empty() ? 0 : steps.of[launch.value];
  }
  const ServerSteps& server_steps() {
    if (!steps_) steps_ = build_server_steps(trace_, tree_);
    return *steps_;
  }

  // Of a kernel without an op that has a formula: its name may tell in which type it computes.
  std::uint32_t unknown_op(StringId kernel) {
    const auto [it, is_new] = unknown_.try_emplace(kernel, 0U);
    if (!is_new) return it->second;
    LaunchCost cost;
    cost.dtype = facts(kernel).dtype;
    if (cost.dtype == DType::unknown) cost.dtype = options_.dtype;
    return it->second = keep(cost);
  }

  std::uint32_t keep(const LaunchCost& cost) {
    result_.costs.push_back(cost);
    return static_cast<std::uint32_t>(result_.costs.size() - 1);
  }

  static constexpr std::uint32_t kPointwise = 1, kReduction = 2, kAny = 3;
  static constexpr std::uint32_t kGuessed = 1U << 31;  // in a call's key, beside its form

  const Model& model_;
  const CostOptions& options_;
  const Trace& trace_;
  DeviceLimits limits_ = limits_of(trace_.metadata, options_);
  const CallTree& tree_;
  const LaunchLinks& links_;
  const KernelIdentities& identities_;
  DeviceWorkTable work_;
  OpSignatures signatures_;
  std::array<const OpFormula*, 4> general_{};
  std::optional<ParameterSizes> parameters_;
  std::optional<ServerSteps> steps_;
  std::unordered_map<std::uint32_t, Replayed> replayed_;
  std::vector<Entry> entries_;
  CostKey key_;
  std::unordered_map<CostKey, std::uint32_t, CostKeyHash> calls_;
  std::unordered_map<StringId, const OpFormula*> rows_;
  std::unordered_map<StringId, KernelFacts> facts_;
  std::unordered_map<StringId, std::uint32_t> unknown_;
  LaunchCosts result_;
  OwnCosts own_{model_, options_, limits_, &signatures_, &result_};
};

}  // namespace

LaunchCosts build_launch_costs(const Model& model, const CostOptions& options) { return Builder(model, options).build(); }

}  // namespace ridge
