// Reads the signs of launches off kernels that ran, off launch calls, and off the ops around them.
#include "model/launch_sequence.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/hash.h"
#include "model/graph_replays.h"
#include "model/kernel_identity.h"
#include "model/name_flags.h"
#include "trace/tables.h"

namespace ridge {
namespace {

constexpr std::string_view kShortTriton = "triton_";

std::uint64_t sign_of(std::string_view text) { return text.empty() ? 0 : hash_text(text) | 1U; }

// Copies and sets have names of their own.
NodeKind kind_of_work(std::string_view name) {
  if (name.starts_with("Memcpy")) return NodeKind::copy;
  if (name.starts_with("Memset")) return NodeKind::set;
  if (name == kShortTriton) return NodeKind::short_triton;
  const Category category = identify_kernel(name, DeviceWork::kernel, {}, LaunchHint::none).category;
  return category == Category::gemm || category == Category::conv ? NodeKind::matrix : NodeKind::kernel;
}

bool is_matrix_op(std::string_view op) {
  return op.ends_with("mm") || op.find("convolution") != op.npos || op.find("conv_") != op.npos;
}

NodeKind kind_of_call(std::string_view call, std::string_view op) {
  if (call.find("emcpy") != call.npos) return NodeKind::copy;
  if (call.find("emset") != call.npos) return NodeKind::set;
  if (op.starts_with(kShortTriton)) return NodeKind::triton;
  return is_matrix_op(op) ? NodeKind::matrix : NodeKind::kernel;
}

// Signs by text: a trace has thousands of launches and a few hundred names.
class Signs {
 public:
  explicit Signs(const Trace& trace) : trace_(trace), dims_(ops(trace).input_dims) {}

  LaunchSign of_work(StringId name, StringId grid) {
    const auto [it, is_new] = works_.try_emplace(name);
    if (is_new) it->second = {sign_of(trace_.text(name)), 0, kind_of_work(trace_.text(name))};
    LaunchSign sign = it->second;
    sign.grid = sign_of(trace_.text(grid));
    return sign;
  }

  std::uint64_t call(const CallTree& tree, NodeId op) {
    if (op == kNoNode) return 0;
    const EventId event = tree.event[op.value];
    const StringId name = trace_.events.name(event), dims = dims_.text(event).value_or(StringId{});
    return mix64(text(name) ^ 0x9E3779B97F4A7C15, text(dims) ^ 0xD6E8FEB86659FD93) | 1U;
  }

 private:
  std::uint64_t text(StringId id) {
    const auto [it, is_new] = texts_.try_emplace(id, 0U);
    if (is_new) it->second = sign_of(trace_.text(id));
    return it->second;
  }

  const Trace& trace_;
  ArgColumn dims_;
  std::unordered_map<StringId, LaunchSign> works_;
  std::unordered_map<StringId, std::uint64_t> texts_;
};

// The kernel that a captured call says it launches: its own `kernel` argument (ROCm), or the name of the Triton op around it.
LaunchSign sign_of_call(const Trace& trace, const LaunchTable& table, EventId event, std::string_view op) {
  LaunchSign sign;
  sign.kind = kind_of_call(trace.text(trace.events.name(event)), op);
  const auto kernel = table.kernel.text(event), grid = table.grid.text(event);
  if (kernel) sign.name = sign_of(trace.text(*kernel));
  if (grid) sign.grid = sign_of(trace.text(*grid));
  if (!kernel && sign.kind == NodeKind::triton) sign.name = sign_of(op);
  return sign;
}

}  // namespace

std::vector<LaunchSign> signs_of(const Trace& trace, std::span<const StringId> names, std::span<const StringId> grids) {
  Signs signs(trace);
  std::vector<LaunchSign> out;
  out.reserve(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) out.push_back(signs.of_work(names[i], grids[i]));
  return out;
}

std::vector<LaunchSequence> eager_runs(const Trace& trace, const CallTree& tree, const LaunchLinks& links) {
  const NameFlags graph_launches(trace, is_graph_launch);
  const DeviceWorkTable table = device_work(trace);
  std::vector<std::pair<NodeId, std::uint32_t>> order;
  for (std::uint32_t row = 0; row < links.launch.size(); ++row) {
    const NodeId launch = links.launch[row];
    if (launch != kNoNode && !graph_launches[trace.events.name(tree.event[launch.value])]) order.emplace_back(launch, row);
  }
  std::sort(order.begin(), order.end());
  Signs signs(trace);
  std::vector<LaunchSequence> runs;
  TrackId last;
  for (const auto& [launch, row] : order) {  // the nodes of a thread stand together
    const TrackId track = trace.track(tree.event[launch.value]);
    if (runs.empty() || track != last) runs.emplace_back().ran = true;
    last = track;
    const EventId event = table.events[row];
    const LaunchSign sign = signs.of_work(trace.events.name(event), table.grid.text(event).value_or(StringId{}));
    runs.back().items.push_back({sign, launch, links.op[row], signs.call(tree, links.op[row])});
  }
  return runs;
}

std::vector<LaunchSequence> captures(const Trace& trace, const CallTree& tree) {
  std::vector<LaunchSequence> found;
  const NameFlags begins(trace, [](std::string_view name) { return name.ends_with("StreamBeginCapture"); });
  if (!begins.any()) return found;
  const NameFlags ends(trace, [](std::string_view name) { return name.ends_with("StreamEndCapture"); });
  const NameFlags starting(trace, [](std::string_view name) { return starts_work(name) && !is_graph_launch(name); });
  const LaunchTable table = launches(trace);
  Signs signs(trace);
  for (const HostThread& thread : tree.threads) {
    bool open = false;
    LaunchSequence capture;
    for (std::uint32_t n = thread.first; n < thread.first + thread.count; ++n) {
      if (tree.event_class[n] != EventClass::launch) continue;
      const EventId event = tree.event[n];
      const StringId name = trace.events.name(event);
      if (begins[name] || ends[name]) {
        if (!capture.items.empty()) found.push_back(std::move(capture));
        open = begins[name];
        capture = {};
      } else if (open && starting[name]) {
        const NodeId op = tree.op_of(NodeId{n});
        const std::string_view op_name =
            op == kNoNode ? std::string_view() : trace.text(trace.events.name(tree.event[op.value]));
        capture.items.push_back({sign_of_call(trace, table, event, op_name), NodeId{n}, op, signs.call(tree, op)});
      }
    }
    if (!capture.items.empty()) found.push_back(std::move(capture));  // its end was not recorded
  }
  return found;
}

}  // namespace ridge
