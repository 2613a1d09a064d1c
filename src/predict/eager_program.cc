// One pass over a device's work, one over the host's views, and both in order of time. Equal calls share one description.
#include "predict/eager_program.h"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/hash.h"
#include "cost/grid_size.h"
#include "facts/scoped_work.h"
#include "model/graph_replays.h"
#include "model/name_flags.h"
#include "model/phases.h"
#include "ops/op_call.h"
#include "ops/views.h"
#include "predict/eager_call.h"
#include "trace/tables.h"

namespace ridge {

struct EagerPrograms::Shared {
  explicit Shared(const Scope& its)
      : scope(its),
        table(device_work(its.trace())),
        ops(ridge::ops(its.trace())),
        grids(its.model()),
        phases(build_phases(its.trace(), its.model().tree())),
        replays(its.trace(), is_graph_launch),
        views(its.trace(), is_view) {
    count_devices();
  }

  const Scope& scope;
  DeviceWorkTable table;
  OpTable ops;
  GridSizes grids;
  std::vector<Phase> phases;
  NameFlags replays, views;
  std::vector<std::uint32_t> devices;  // by thread: that it launches work on

 private:
  void count_devices() {
    const CallTree& tree = scope.model().tree();
    devices.resize(tree.threads.size());
    std::vector<std::size_t> latest(tree.threads.size(), SIZE_MAX);  // by thread: the last device that was counted
    const std::vector<Device>& all = scope.model().timeline().devices;
    for (std::size_t d = 0; d < all.size(); ++d) {
      for (const WorkRow& work : all[d].work) {
        const NodeId launch = scope.model().links().launch[work.row];
        if (launch == kNoNode || launch.value >= tree.recorded) continue;
        const std::size_t thread = thread_of(tree, launch);
        if (std::exchange(latest[thread], d) != d) ++devices[thread];
      }
    }
  }
};

namespace {

class Builder {
 public:
  Builder(const EagerPrograms::Shared& shared, std::int64_t device)
      : shared_(shared),
        scope_(shared.scope),
        model_(scope_.model()),
        trace_(scope_.trace()),
        tree_(model_.tree()),
        table_(shared.table),
        calls_(scope_, shared.table, shared.grids, bytes_a_ns(scope_, device)),
        launches_(tree_.threads.size()) {
    for (const Device& its : model_.timeline().devices) {
      if (its.id == device) gather(its.work);
    }
  }

  EagerProgram build() {
    std::vector<std::uint32_t> rows;
    for (std::size_t i = 0; i < out_.launched.size();) {
      const std::uint32_t node = out_.launched[i].node;
      for (rows.clear(); i < out_.launched.size() && out_.launched[i].node == node; ++i) rows.push_back(out_.launched[i].row);
      add(NodeId{node}, rows);
    }
    if (shapes_) add_views();
    std::ranges::sort(out_.flow.ops, {}, [&](const FlowOp& op) { return std::pair(tree_.start_ns[op.node], op.node); });
    return std::move(out_);
  }

 private:
  using Key = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>;

  std::string_view name(NodeId node) const { return trace_.text(trace_.events.name(tree_.event[node.value])); }
  std::string_view kernel(std::uint32_t row) const { return trace_.text(trace_.events.name(table_.events[row])); }

  // The program's own work, by the op that launched it; in its own order.
  void gather(const std::vector<WorkRow>& work) {
    for (const WorkRow& each : work) {
      const NodeId launch = model_.links().launch[each.row], op = model_.links().op[each.row];
      if (launch == kNoNode || !scope_.holds_work(each.row) || model_.links().is_inherited(each.row)) continue;
      if (launch.value >= tree_.recorded || shared_.replays[trace_.events.name(tree_.event[launch.value])]) continue;
      if (model_.compiler_work().holds_work(each.row) || shared_.phases[launch.value] == Phase::optimizer) continue;
      const bool inside = each.sort == WorkSort::compute || each.sort == WorkSort::comm ||
                          (each.sort == WorkSort::copy && kernel(each.row).find("DtoD") != std::string_view::npos);
      if (!inside) continue;
      out_.launched.push_back({(op == kNoNode ? launch : op).value, each.row});
      launches_[thread_of(tree_, launch)] = true;
    }
    std::ranges::stable_sort(out_.launched, {}, &EagerProgram::Launched::node);
  }

  bool is_compiled(const std::vector<std::uint32_t>& rows) const {
    return std::ranges::any_of(
        rows, [&](std::uint32_t row) { return model_.compiled_regions().call_at(model_.links().launch[row]) != kNoCall; });
  }

  static std::uint32_t text_of(const ArgColumn& column, EventId event) { return column.text(event).value_or(StringId{}).value; }

  // Of an op; nullptr for what is none. With the values of its arguments where asked for.
  const OpCall* parsed(NodeId node, bool values) {
    if (tree_.class_of(node) != EventClass::op) return nullptr;
    const EventId event = tree_.event[node.value];
    const auto text = [&](const ArgColumn& column) { return column.text(event).value_or(StringId{}); };
    const StringId dims = text(shared_.ops.input_dims), types = text(shared_.ops.input_type);
    const StringId constants = values ? text(shared_.ops.concrete_inputs) : StringId{};
    const StringId of = trace_.events.name(event);
    const auto [at, fresh] = parsed_.try_emplace(std::tuple(of.value, dims.value, types.value, constants.value));
    if (fresh) at->second = parse_op_call(trace_.text(of), trace_.text(dims), trace_.text(types), {}, trace_.text(constants));
    return &at->second;
  }

  // Equal where calls are: by name, arguments and what their work costs.
  Key key_of(NodeId node, const std::vector<std::uint32_t>& rows) const {
    const EventId event = tree_.event[node.value];
    std::uint64_t work = rows.size() * 2 + (is_compiled(rows) ? 1 : 0);
    for (const std::uint32_t row : rows) {
      work = mix64(work ^ scope_.costs().costs().of_row[row], 0x9E3779B97F4A7C15U);
      work = mix64(work ^ trace_.events.name(table_.events[row]).value, 0xD6E8FEB86659FD93U);
    }
    const bool op = tree_.class_of(node) == EventClass::op;
    const std::uint64_t dims = op ? text_of(shared_.ops.input_dims, event) : 0,
                        types = op ? text_of(shared_.ops.input_type, event) : 0;
    return {trace_.events.name(event).value, dims << 32 | types, work};
  }

  void add(NodeId node, const std::vector<std::uint32_t>& rows) {
    Key key = key_of(node, rows);
    const OpCall* call = parsed(node, false);
    const bool shapes = call != nullptr && call->has_shapes;
    shapes_ = shapes_ || shapes;
    if (const auto known = shapes ? ids_.find(key) : ids_.end(); known != ids_.end()) {
      if (known->second) push(node, *known->second);
      return;
    }
    std::optional<FlowCall> out = calls_.of(name(node), call, rows, is_compiled(rows));
    if (!out) {
      ids_[key] = std::nullopt;
      return;
    }
    if (!shapes) {  // what grids and times tell is of this launch
      for (const auto* tensors : {&out->reads, &out->makes}) {
        for (const FlowTensor& each : *tensors)
          std::get<2>(key) = mix64(std::get<2>(key) ^ std::bit_cast<std::uint64_t>(each.elements), 0x9E3779B97F4A7C15U);
      }
    }
    push(node, call_id(std::move(*out), key));
  }

  std::uint32_t call_id(FlowCall call, const Key& key) {
    const auto [at, fresh] = ids_.try_emplace(key, static_cast<std::uint32_t>(out_.flow.calls.size()));
    if (fresh) out_.flow.calls.push_back(std::move(call));
    return *at->second;
  }

  void push(NodeId node, std::uint32_t call) {
    const std::int64_t start = tree_.start_ns[node.value];
    const auto iteration = model_.iterations().at(start);
    out_.flow.ops.push_back({.call = call,
                             .thread = static_cast<std::uint32_t>(thread_of(tree_, node)),
                             .iteration = iteration ? static_cast<std::uint32_t>(*iteration) + 1 : 0,
                             .node = node.value});
  }

  void add_views() {
    constexpr std::uint32_t kMostDevices = 64;  // of one thread: its views are a part of each one's program
    if (!shared_.views.any()) return;
    for (std::size_t t = 0; t < launches_.size(); ++t) {
      if (shared_.devices[t] > kMostDevices) continue;
      const HostThread& thread = tree_.threads[t];
      const std::uint32_t end = std::min(tree_.recorded, thread.first + thread.count);
      for (std::uint32_t n = thread.first; launches_[t] && n < end; ++n) {
        if (is_view_op(NodeId{n})) add_view(NodeId{n});
      }
    }
  }
  bool is_view_op(NodeId node) const {
    return node != kNoNode && tree_.class_of(node) == EventClass::op &&
           shared_.views[trace_.events.name(tree_.event[node.value])];
  }

  // aten::t calls aten::transpose, and that aten::as_strided: one view.
  void add_view(NodeId node) {
    if (is_view_op(tree_.op_above(node)) || !scope_.holds(node)) return;
    if (shared_.phases[node.value] == Phase::optimizer || has_launched(node.value)) return;
    const OpCall* call = parsed(node, true);
    if (call == nullptr || !call->has_shapes) return;
    const EventId event = tree_.event[node.value];
    const auto [at, fresh] =
        view_ids_.try_emplace({trace_.events.name(event).value, text_of(shared_.ops.input_dims, event),
                               text_of(shared_.ops.input_type, event), text_of(shared_.ops.concrete_inputs, event)},
                              static_cast<std::uint32_t>(out_.flow.calls.size()));
    if (fresh) out_.flow.calls.push_back(EagerCalls::of_view(*call));
    push(node, at->second);
  }

  bool has_launched(std::uint32_t node) const {
    return std::ranges::binary_search(out_.launched, node, {}, &EagerProgram::Launched::node);
  }

  using CallText = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;

  const EagerPrograms::Shared& shared_;
  const Scope& scope_;
  const Model& model_;
  const Trace& trace_;
  const CallTree& tree_;
  const DeviceWorkTable& table_;
  EagerCalls calls_;
  std::map<CallText, OpCall> parsed_;
  std::map<Key, std::optional<std::uint32_t>> ids_;  // of flow.calls; nothing: no part of it
  std::map<CallText, std::uint32_t> view_ids_;       // likewise
  std::vector<bool> launches_;                       // by thread
  bool shapes_ = false;                              // some ops have theirs recorded
  EagerProgram out_;
};

}  // namespace

double bytes_a_ns(const Scope& scope, std::int64_t device) {
  constexpr double kUsual = 1'555, kLeastNs = 10'000, kReached = 0.9;
  const DeviceSpec* spec = scope.costs().device(device);
  if (spec != nullptr && spec->bandwidth.known()) return spec->bandwidth.high / 1e9;
  std::vector<double> rates;
  for (const Device& its : scope.model().timeline().devices) {
    if (its.id != device) continue;
    for (const WorkRow& work : its.work) {
      const LaunchCost& cost = scope.costs()[work.row];
      const auto time = static_cast<double>(duration_ns(work));
      if (!scope.holds_work(work.row) || work.sort != WorkSort::compute || cost.matrix || time < kLeastNs) continue;
      if (cost.bytes_read && cost.bytes_written) rates.push_back((*cost.bytes_read + *cost.bytes_written) / time);
    }
  }
  if (rates.empty()) return kUsual;
  const auto most = rates.begin() + static_cast<std::ptrdiff_t>(kReached * static_cast<double>(rates.size() - 1));
  std::ranges::nth_element(rates, most);
  return std::max(1.0, *most / kReached);
}

std::span<const EagerProgram::Launched> EagerProgram::launched_by(const FlowOp& op) const {
  const auto its = std::ranges::equal_range(launched, op.node, {}, &Launched::node);
  return {its.begin(), its.end()};
}

EagerPrograms::EagerPrograms(const Scope& scope) : shared_(std::make_unique<const Shared>(scope)) {}
EagerPrograms::~EagerPrograms() = default;

EagerProgram EagerPrograms::of(std::int64_t device) const { return Builder(*shared_, device).build(); }

}  // namespace ridge
