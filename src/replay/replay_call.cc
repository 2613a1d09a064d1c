// Groups launches by the texts of kernel and call, then looks at one call of each group: its arguments and all its launches.
#include "replay/replay_call.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>

#include "base/median.h"
#include "base/saturating.h"
#include "cost/library/parameter_sizes.h"
#include "facts/scoped_work.h"
#include "model/device_properties.h"
#include "ops/dispatcher_op.h"
#include "replay/list_order.h"
#include "replay/queued_launches.h"
#include "replay/replay_limits.h"
#include "trace/tables.h"
#include "trace/vendor_work.h"

namespace ridge {
namespace {

// Ops of differing inputs inside each other; deeper ones are no call that a program makes, and would cost their square.
constexpr int kMostNested = 8;
constexpr std::string_view kNoShapes = "the op's inputs are not in the trace: record with record_shapes=True";

// Namespaces that torch itself registers. Others come from libraries that a script cannot know how to import.
constexpr std::array<std::string_view, 9> kTorchNamespaces = {
    "aten", "prims", "quantized", "_quantized", "inductor", "mkldnn", "torchvision", "quantized_decomposed", "sparse"};

std::string_view namespace_of(std::string_view op) { return op.substr(0, op.find("::")); }

// A number with a fraction: the same kernel runs whatever its value, and an optimizer's differ from step to step.
bool is_fraction(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && text.find_first_of(".e") != std::string_view::npos;
}

struct Group {
  ReplayCall call;
  NodeId node = kNoNode;
  std::uint32_t row = 0;
  std::int64_t device = 0;
  std::vector<std::int64_t> durations_ns;
};

// One launch of a group.
struct LaunchRow {
  std::pair<std::int64_t, std::int64_t> stream;  // of a device
  std::size_t group = 0;
  std::int64_t duration_ns = 0;
  bool timed = false;  // its duration is known
};

class ReplayCallBuilder {
 public:
  explicit ReplayCallBuilder(const Scope& scope)
      : trace_(scope.trace()), model_(scope.model()), work_(device_work(trace_)), ops_(ops(trace_)) {}

  void add(const Device& device, const WorkRow& work) {
    const EventId event = trace_.of(EventClass::device_work)[work.row];
    if (work_of(trace_, event) != DeviceWork::kernel) return;
    const std::size_t index = group_of(event, work.row);
    Group& group = groups_[index];
    rows_.push_back({{device.id, work.stream}, index, duration_ns(work), trace_.events.dur_ns(event).has_value()});
    if (group.call.count == 0) begin(&group, device, work.row, event);
    ++group.call.count;
    saturating_add(&group.call.time_ns, duration_ns(work));
    if (trace_.events.dur_ns(event)) group.durations_ns.push_back(duration_ns(work));
  }

  std::vector<ReplayCall> take() {
    adopt_earlier();
    add_launches();
    std::vector<ReplayCall> calls;
    for (Group& group : groups_) {
      finish(&group);
      calls.push_back(std::move(group.call));
    }
    std::stable_sort(calls.begin(), calls.end(), [](const ReplayCall& a, const ReplayCall& b) {
      return std::tuple(a.by_compiler, -a.time_ns, a.launch.kernel, a.op, a.dims, a.launch.grid) <
             std::tuple(b.by_compiler, -b.time_ns, b.launch.kernel, b.op, b.dims, b.launch.grid);
    });
    return calls;
  }

 private:
  // Grid and block too: one call may launch a kernel with several, and each takes its own time. And whose: what a tuner tries,
  // and times a hundred times, is no launch of the program.
  using Key = std::tuple<ReplayLaunch, std::string_view, std::string_view, std::string_view, std::string_view, std::string,
                         std::string_view, std::string_view, bool>;

  std::string_view text(const ArgColumn& column, EventId event) const {
    const auto id = column.text(event);
    return id ? trace_.text(*id) : std::string_view();
  }

  // The arguments that are no tensors, those with fractions as one.
  const std::string& constants_of(EventId op) {
    const StringId id = ops_.concrete_inputs.text(op).value_or(StringId{});
    const auto [it, is_new] = constants_.try_emplace(id);
    if (is_new) {
      for (const OpArgument& argument : parse_op_call({}, {}, {}, {}, trace_.text(id)).arguments)
        it->second += (is_fraction(argument.value) ? std::string("f") : argument.value) + "\n";
    }
    return it->second;
  }

  std::size_t group_of(EventId event, std::uint32_t row) {
    const NodeId node = op_of(model_, row);
    Key key;
    std::get<0>(key) = launch_of(event);
    std::get<1>(key) = op_name(model_, row);
    if (node != kNoNode) {
      const EventId op = model_.tree().event[node.value];
      key =
          Key(std::get<0>(key), std::get<1>(key), text(ops_.input_dims, op), text(ops_.input_type, op),
              text(ops_.input_strides, op), constants_of(op), text(ops_.kernel_file, op), text(ops_.kernel_kwargs, op), false);
    }
    std::get<bool>(key) = model_.compiler_work().holds_work(row);
    const auto [it, is_new] = index_.try_emplace(std::move(key), groups_.size());
    if (is_new) groups_.emplace_back();
    return it->second;
  }

  void begin(Group* group, const Device& device, std::uint32_t row, EventId event) {
    group->device = device.id;
    group->call.op = op_name(model_, row);
    group->row = row;
    group->node = op_of(model_, row);
    group->call.launch = launch_of(event);
    group->call.by_compiler = model_.compiler_work().holds_work(row);
  }

  ReplayLaunch launch_of(EventId event) const {
    return {trace_.text(trace_.events.name(event)), text(work_.grid, event), text(work_.block, event)};
  }

  // What was queued before the recording has no op. Where one call of the trace launched the same kernel with the same grid and
  // block, and no other did, it is more of that one; of several, the launches around it may tell.
  void adopt_earlier() {
    std::map<ReplayLaunch, std::vector<std::size_t>> by_launch;
    std::vector<bool> queued(groups_.size());
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      const Group& group = groups_[i];
      if (group.node != kNoNode && !group.call.by_compiler) by_launch[group.call.launch].push_back(i);
      queued[i] = group.node == kNoNode && model_.links().launch[group.row] == kNoNode && !group.call.launch.grid.empty();
    }
    bool several = false;
    std::vector<std::optional<std::size_t>> only(groups_.size());
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      const auto same = queued[i] ? by_launch.find(groups_[i].call.launch) : by_launch.end();
      if (same == by_launch.end()) continue;
      if (same->second.size() == 1) only[i] = same->second.front();
      several = several || same->second.size() > 1;
    }
    const std::vector<std::optional<std::uint32_t>> told =
        several ? queued_calls(queued) : std::vector<std::optional<std::uint32_t>>();
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      if (queued[i]) groups_[i].durations_ns.clear();
    }
    std::size_t next = 0;
    for (const LaunchRow& row : rows_) {
      if (!queued[row.group]) continue;
      std::optional<std::size_t> whole = only[row.group];
      if (several && told[next] && !whole) whole = *told[next];
      ++next;
      Group* to = &groups_[whole.value_or(row.group)];
      if (row.timed) to->durations_ns.push_back(row.duration_ns);
      if (whole) move_count(row, to);
    }
    std::erase_if(groups_, [](const Group& group) { return group.call.count == 0; });
  }

  std::vector<std::optional<std::uint32_t>> queued_calls(const std::vector<bool>& queued) const {
    std::map<ReplayLaunch, std::uint32_t> kernels;
    QueuedLaunches launches;
    for (const LaunchRow& row : rows_) {
      const Group& group = groups_[row.group];
      const auto kernel = kernels.try_emplace(group.call.launch, static_cast<std::uint32_t>(kernels.size())).first->second;
      const bool known = group.node != kNoNode;
      launches.add(row.stream, kernel, queued[row.group],
                   known ? std::optional(static_cast<std::uint32_t>(row.group)) : std::nullopt);
    }
    return launches.calls();
  }

  void move_count(const LaunchRow& row, Group* to) {
    Group& from = groups_[row.group];
    --from.call.count;
    from.call.time_ns -= row.duration_ns;
    ++to->call.count;
    saturating_add(&to->call.time_ns, row.duration_ns);
  }

  // The kernels of each chosen call: those of ops that it calls, too.
  void add_launches() {
    std::unordered_map<std::uint32_t, std::vector<std::size_t>> chosen;  // groups by node
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      if (groups_[i].node != kNoNode) chosen[groups_[i].node.value].push_back(i);
    }
    const std::vector<NodeId> above = nearest_of(chosen);
    for (const Device& device : model_.timeline().devices) {
      for (const WorkRow& work : device.work) {
        const EventId event = trace_.of(EventClass::device_work)[work.row];
        if (work_of(trace_, event) != DeviceWork::kernel) continue;
        const NodeId op = op_of(model_, work.row);
        NodeId node = op == kNoNode ? kNoNode : above[op.value];
        for (int depth = 0; node != kNoNode && depth < kMostNested; ++depth) {
          for (const std::size_t i : chosen.find(node.value)->second) groups_[i].call.launches.push_back(launch_of(event));
          const NodeId parent = model_.tree().parent[node.value];
          node = parent == kNoNode ? kNoNode : above[parent.value];
        }
      }
    }
  }

  // For each node the chosen one at it or nearest above it, so that a deep stack is not walked again for each of its launches.
  std::vector<NodeId> nearest_of(const std::unordered_map<std::uint32_t, std::vector<std::size_t>>& chosen) const {
    const auto& parent = model_.tree().parent;
    std::vector<NodeId> above(parent.size(), kNoNode);
    for (std::uint32_t n = 0; n < parent.size(); ++n) {
      if (chosen.contains(n))
        above[n] = NodeId{n};
      else if (parent[n] != kNoNode)
        above[n] = above[parent[n].value];
    }
    return above;
  }

  void finish(Group* group) {
    ReplayCall& call = group->call;
    if (!group->durations_ns.empty()) call.median_ns = median(group->durations_ns);
    if (const DeviceProperties* properties = properties_of(model_, group->device)) call.device = properties->name;
    if (group->node == kNoNode) {
      call.cannot = without_op(group->row);
      return;
    }
    const EventId op = model_.tree().event[group->node.value];
    call.dims = text(ops_.input_dims, op);
    call.call = parse_op_call(call.op, call.dims, text(ops_.input_type, op), text(ops_.input_strides, op),
                              text(ops_.concrete_inputs, op));
    call.source = {text(ops_.kernel_file, op), text(ops_.kernel_hash, op), text(ops_.kernel_kwargs, op),
                   ops_.num_warps.integer(op), ops_.num_stages.integer(op)};
    call.triton = text(ops_.kernel_backend, op) == "triton" || is_triton(model_.identities()[group->row].category);
    call.cannot = reason(*group);
    if (call.cannot.empty()) call.cannot = missing_inputs(call.call, call.triton);
    call.note = made_up_inputs(call.call, call.triton);
    if (call.cannot.empty() && !call.triton) add_list_sizes(*group, &call);
  }

  static bool is_triton(Category category) { return name_of(category).starts_with("triton_"); }

  std::string without_op(std::uint32_t row) const {
    const NodeId launch = model_.links().launch[row];
    if (launch == kNoNode) return "its launch is not in the trace: it was queued before the recording";
    if (in_graph(row)) return not_of_graph(row);
    if (trace_.of(EventClass::op).empty())
      return "the trace has no ops: record CPU activity too (ProfilerActivity.CPU), with record_shapes=True";
    if (is_collective(row)) return std::string(kCollective);
    return is_triton(model_.identities()[row].category) ? "a Triton kernel that Python launched itself, whose arguments are "
                                                          "not recorded: call it under torch.compile or "
                                                          "through torch.library.triton_op"
                                                        : "no op launched it, so its inputs are not known";
  }

  // Why the call cannot be made; empty where it can.
  std::string reason(const Group& group) const {
    const ReplayCall& call = group.call;
    const EventId op = model_.tree().event[group.node.value];
    const bool recorded = ops_.input_dims.text(op).has_value();
    if (call.triton) {
      if (is_dispatcher_op(call.op) && call.source.kernel_file.empty())
        return "a Triton kernel that a library's op launches: the op's inputs are not the kernel's";
      if (!recorded) return in_graph(group.row) ? not_of_graph(group.row) : std::string(kNoShapes);
      return {};
    }
    if (!is_dispatcher_op(call.op)) {
      if (in_graph(group.row)) return not_of_graph(group.row);
      if (is_collective(group.row)) return std::string(kCollective);
      return "launched by " + std::string(call.op) + ", which is no op with a schema";
    }
    const std::string_view space = namespace_of(call.op);
    if (std::ranges::find(kTorchNamespaces, space) == kTorchNamespaces.end())
      return space == "c10d" || space == "_c10d_functional"
                 ? std::string(kCollective)
                 : "the op is not PyTorch's: its library has to be imported (" + std::string(space) + ")";
    if (!recorded) return std::string(kNoShapes);
    return {};
  }

  static constexpr std::string_view kCollective = "a collective: it needs the other ranks";
  bool is_collective(std::uint32_t row) const { return model_.identities()[row].category == Category::comm; }

  std::string not_of_graph(std::uint32_t row) const {
    return missing_of_graph(model_.identities()[row].category, trace_.borrowed != nullptr);
  }

  bool in_graph(std::uint32_t row) const {
    const NodeId launch = model_.links().launch[row];
    if (launch == kNoNode) return false;
    return trace_.text(trace_.events.name(model_.tree().event[launch.value])).find("GraphLaunch") != std::string_view::npos;
  }

  // An optimizer's lists are longer than a trace keeps: the gradients before it tell the sizes.
  void add_list_sizes(const Group& group, ReplayCall* call) {
    const auto left_out = [](const OpArgument& argument) { return argument.list_left_out; };
    if (!std::ranges::any_of(call->call.arguments, left_out)) return;
    if (call->launch.kernel.find("multi_tensor_apply") == std::string_view::npos) {
      call->cannot = "the trace leaves out lists of more than 30 tensors";
      return;
    }
    if (!sizes_) sizes_.emplace(model_);
    call->list_sizes = sizes_->sizes(sizes_->before(model_.tree().start_ns[group.node.value]));
    fit_to_grid(call);
    if (call->list_sizes.empty())
      call->cannot = "the trace leaves out lists of more than 30 tensors, and no gradients before it tell their sizes";
  }

  // ATen's kernels over lists give each tensor as many blocks as it has chunks. Where the blocks are as many as the tensors,
  // the lists hold numbers: an optimizer's steps. Any other count means other tensors.
  static void fit_to_grid(ReplayCall* call) {
    std::vector<std::int64_t> blocks;
    for (const ReplayLaunch& launch : call->launches) {
      if (launch.kernel == call->launch.kernel) blocks.push_back(parse_dim3(launch.grid).value_or(Dim3{}).x);
    }
    const auto all = static_cast<double>(std::accumulate(blocks.begin(), blocks.end(), std::int64_t{0}));
    double chunks = 0;
    for (const double elements : call->list_sizes) chunks += chunks_of(elements);
    if (all == chunks) {
      call->list_sizes = order_for(std::move(call->list_sizes), blocks, most_tensors(call->launch.kernel));
      return;
    }
    const bool numbers = all == static_cast<double>(call->list_sizes.size());
    call->list_sizes.assign(numbers ? call->list_sizes.size() : 0, 1.0);
  }

  const Trace& trace_;
  const Model& model_;
  DeviceWorkTable work_;
  OpTable ops_;
  std::map<Key, std::size_t> index_;
  std::vector<Group> groups_;
  std::vector<LaunchRow> rows_;  // in order of start on each device
  std::unordered_map<StringId, std::string> constants_;
  std::optional<ParameterSizes> sizes_;
};

}  // namespace

std::vector<ReplayCall> replay_calls(const Scope& scope) {
  ReplayCallBuilder builder(scope);
  for_each_work(scope, [&](const Device& device, const WorkRow& work) { builder.add(device, work); });
  return builder.take();
}

std::string shape_text(const OpCall& call) {
  std::string out;
  const auto add = [&](const TensorShape& shape) {
    if (!out.empty()) out += ", ";
    out += shape.sizes.empty() ? "()" : fmt::format("{}", fmt::join(shape.sizes, "x"));
  };
  for (const OpArgument& argument : call.arguments) {
    if (argument.kind == OpArgument::Kind::tensor) add(argument.tensor);
    for (const TensorShape& shape : argument.list) add(shape);
  }
  return out;
}

}  // namespace ridge
