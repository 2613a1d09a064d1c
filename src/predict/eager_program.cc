// One pass over a device's work, one over the host's views, and both in order of time. Equal calls share one description.
#include "predict/eager_program.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/hash.h"
#include "cost/grid_size.h"
#include "cost/launch_costs.h"
#include "facts/scoped_work.h"
#include "model/graph_replays.h"
#include "model/name_flags.h"
#include "model/phases.h"
#include "ops/op_call.h"
#include "ops/operands.h"
#include "ops/views.h"
#include "trace/tables.h"

namespace ridge {
namespace {

// Ops for which a compiler calls the library again, by the beginnings of their names.
constexpr std::string_view kOfLibraries[] = {
    "aten::_cdist",       "aten::_ctc_loss",  "aten::_cudnn_rnn",   "aten::_convolution", "aten::_embedding_bag",
    "aten::_fft_",        "aten::_thnn_",     "aten::_unique",      "aten::bincount",     "aten::cholesky",
    "aten::conv",         "aten::cudnn_conv", "aten::grid_sampler", "aten::histc",        "aten::linalg_",
    "aten::lu_",          "aten::miopen_",    "aten::multinomial",  "aten::nonzero",      "aten::randperm",
    "aten::searchsorted", "aten::sort",       "aten::topk",         "aten::triangular",   "aten::unique",
};
constexpr std::string_view kGeneratedAll = "aten::linalg_vector_norm";  // a sum like any other
// Ops that write without reading.
constexpr std::string_view kFills[] = {"aten::fill_",   "aten::zero_",      "aten::normal_",     "aten::uniform_",
                                       "aten::random_", "aten::bernoulli_", "aten::exponential_"};
// Ops whose results have sizes of their own: told by what was written.
constexpr std::string_view kOwnSize[] = {"aten::embedding", "aten::gather", "aten::index", "aten::index_select",
                                         "aten::sum",       "aten::mean",   "aten::amax",  "aten::amin",
                                         "aten::norm",      "aten::std",    "aten::var"};
constexpr std::string_view kJoins = "aten::cat", kDropout = "aten::native_dropout";
// Ops that write small things, or a mask, beside a result of their input's size.
constexpr std::string_view kWithMore[] = {kDropout, "aten::native_layer_norm", "aten::_fused_rms_norm"};
// Norms over channels: what they sum goes over all of the input before any of it is written.
constexpr std::string_view kOverChannels[] = {"batch_norm", "group_norm"};

constexpr double kMostElements = 9e18;   // that a size can tell
constexpr double kMostSums = 65'536;     // numbers summed to one: all of a tensor is
constexpr double kReachedUnknown = 0.7;  // of the bandwidth, by a kernel that tells no size
constexpr double kReachedAtMost = 1.04;  // and by one that tells: an operand more than it had time for is a small one
constexpr double kSumsOf = 256;          // numbers to one, where that is not told
constexpr double kOctaveParts = 32;      // to which sizes told by times are rounded: equal calls stay equal

bool begins_with_one(std::string_view name, std::span<const std::string_view> list) {
  return std::ranges::any_of(list, [&](std::string_view text) { return name.starts_with(text); });
}
bool has_one(std::string_view name, std::span<const std::string_view> list) {
  return std::ranges::any_of(list, [&](std::string_view text) { return name.find(text) != name.npos; });
}
bool is_one(std::string_view name, std::span<const std::string_view> list) {
  return std::ranges::find(list, name) != list.end();
}

std::uint64_t shape_hash(const std::vector<std::int64_t>& sizes) {
  std::uint64_t hash = 0xD6E8FEB86659FD93U;
  for (const std::int64_t size : sizes) hash = mix64(hash ^ static_cast<std::uint64_t>(size), 0x9E3779B97F4A7C15U);
  return hash | 1U;  // 0 is none
}
FlowTensor flow_tensor(const TensorShape& shape) {
  return {numel(shape), item_bytes(shape.dtype), shape_hash(shape.sizes), false};
}

}  // namespace

struct EagerPrograms::Shared {
  explicit Shared(const Scope& its)
      : scope(its),
        table(device_work(its.trace())),
        ops(ridge::ops(its.trace())),
        grids(its.model()),
        phases(build_phases(its.trace(), its.model().tree())),
        replays(its.trace(), is_graph_launch),
        views(its.trace(), is_view) {}

  const Scope& scope;
  DeviceWorkTable table;
  OpTable ops;
  GridSizes grids;
  std::vector<Phase> phases;
  NameFlags replays, views;
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
        rate_(bytes_a_ns(scope_, device)),
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
  const KernelIdentity& identity(std::uint32_t row) const { return model_.identities()[row]; }
  const LaunchCost& cost(std::uint32_t row) const { return scope_.costs()[row]; }
  double time_ns(std::uint32_t row) const { return static_cast<double>(trace_.events.dur_ns(table_.events[row]).value_or(0)); }

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

  bool is_generated(NodeId node, const std::vector<std::uint32_t>& rows) const {
    const std::string_view op = name(node);
    if (is_compiled(rows) || !op.starts_with("aten::") || (begins_with_one(op, kOfLibraries) && op != kGeneratedAll))
      return false;
    return std::ranges::all_of(rows, [&](std::uint32_t row) {
      switch (identity(row).category) {
        case Category::norm:
        case Category::elementwise:
        case Category::reduction:
        case Category::layout:
        case Category::memcpy: return true;
        default: return false;
      }
    });
  }

  // What is neither: several tensors at once already, or an optimizer's.
  bool is_aside(const std::vector<std::uint32_t>& rows) const {
    return std::ranges::any_of(rows, [&](std::uint32_t row) {
      return identity(row).category == Category::optimizer || identity(row).label.starts_with("foreach");
    });
  }

  void by_shapes(const OpCall& call, const std::vector<std::uint32_t>& rows, FlowCall* out) {
    std::vector<FlowTensor> tensors;
    for (const OpArgument& argument : call.arguments) {
      if (argument.kind == OpArgument::Kind::tensor) tensors.push_back(flow_tensor(argument.tensor));
      for (const TensorShape& each : argument.list) tensors.push_back(flow_tensor(each));
    }
    const bool copies = call.op == "aten::copy_" && tensors.size() >= 2;
    const bool fills = is_one(call.op, kFills);
    for (std::size_t i = copies ? 1 : 0; i < (copies ? 2 : fills ? 0 : tensors.size()); ++i) {
      if (tensors[i].elements > 1) out->reads.push_back(tensors[i]);
    }
    if (copies) {
      out->makes = {tensors.front()};
    } else {
      out->makes = {made(call, tensors, rows, out->sort == FlowSort::stays)};
      if (call.op == kDropout) out->makes.push_back({out->makes.front().elements, 1, out->makes.front().shape, false});
    }
    for (FlowTensor& each : out->reads) {
      if (each.width == 0) each.width = out->makes.front().width;  // in a list: a trace does not tell the type of these
    }
    if (out->sort == FlowSort::stays) return;
    note_sums(call.op, rows, out);
  }

  // Of the widest type that has fractions, and where none has of the widest: what counts rows is wider than the rows.
  static double result_width(const OpCall& call) {
    double real = 0, whole = 0;
    for (const OpArgument& argument : call.arguments) {
      if (argument.kind != OpArgument::Kind::tensor || numel(argument.tensor) <= 1) continue;
      double& width = is_floating(argument.tensor.dtype) ? real : whole;
      width = std::max(width, item_bytes(argument.tensor.dtype));
    }
    return real > 0 ? real : whole > 0 ? whole : 4;
  }

  // Tensors put side by side. What type they have a list does not tell.
  static FlowTensor joined(const OpCall& call, double written) {
    double elements = 0, width = 4;
    for (const OpArgument& argument : call.arguments) {
      for (const TensorShape& each : argument.list) elements += numel(each);
    }
    for (const double known : {8.0, 2.0, 1.0}) {
      if (elements > 0 && std::abs(written / elements - known) < 0.05) width = known;
    }
    elements = std::max(1.0, elements);
    return {elements, width, shape_hash({static_cast<std::int64_t>(std::min(elements, kMostElements))}), false};
  }

  // The result, by what was written.
  FlowTensor made(const OpCall& call, const std::vector<FlowTensor>& tensors, const std::vector<std::uint32_t>& rows,
                  bool of_library) const {
    double written = 0;
    for (const std::uint32_t row : rows) written += cost(row).bytes_written.value_or(0);
    if (call.op == kJoins) return joined(call, written);
    const double width = result_width(call);
    const TensorShape spread = broadcast(call, -1);
    FlowTensor whole = flow_tensor(spread);
    whole.width = width;
    if (written == 0 || is_one(call.op, kWithMore)) return whole;
    const double each = written / std::max(1.0, whole.elements);
    const bool own_size = of_library || is_one(call.op, kOwnSize);
    for (const double known : {1.0, 2.0, 4.0, 8.0}) {
      if (!own_size && std::abs(each - known) < 0.05) return {whole.elements, known, whole.shape, false};
    }
    FlowTensor out{std::max(1.0, std::round(written / width)), width, 0, false};
    for (const FlowTensor& tensor : tensors) {
      if (tensor.elements == out.elements) out.shape = tensor.shape;
    }
    if (out.shape == 0) out.shape = shape_hash({static_cast<std::int64_t>(out.elements)});
    return out;
  }

  void note_sums(std::string_view op, const std::vector<std::uint32_t>& rows, FlowCall* out) const {
    double largest = 0;
    const FlowTensor* of = nullptr;
    for (const FlowTensor& each : out->reads) {
      if (each.elements > largest) largest = each.elements, of = &each;
    }
    const bool channels = has_one(op, kOverChannels) ||
                          std::ranges::any_of(rows, [&](std::uint32_t row) { return has_one(kernel(row), kOverChannels); });
    if (channels && of != nullptr) {
      const double width = out->makes.front().width;
      out->makes = {{of->elements, width == 1 || width == 2 || width == 4 || width == 8 ? width : of->width, of->shape, false}};
    }
    const bool sums = op.find("softmax") == op.npos && std::ranges::any_of(rows, [&](std::uint32_t row) {
                        return identity(row).category == Category::reduction;
                      });
    const bool columns = std::ranges::any_of(rows, [&](std::uint32_t row) {
      const std::string_view name = kernel(row);
      return name.find("reduce_kernel") != name.npos && name.find("reduce_kernel<512, 1,") == name.npos;
    });
    out->whole = channels || (sums && (columns || out->makes.front().elements * kMostSums < largest));
    out->twice = channels;
  }

  static double rounded(double elements) {
    return std::exp2(std::round(std::log2(std::max(1.0, elements)) * kOctaveParts) / kOctaveParts);
  }

  void by_grids(const std::vector<std::uint32_t>& rows, FlowCall* out) {
    // Of several kernels the one that moves most.
    const std::uint32_t row = *std::ranges::max_element(rows, {}, [&](std::uint32_t r) { return time_ns(r); });
    double time = 0;
    for (const std::uint32_t each : rows) time += time_ns(each);
    const Category category = identity(row).category;
    if (const auto size = shared_.grids.of(row)) {
      const double width = size->bytes_written / size->elements, most = kReachedAtMost * rate_ * time - size->bytes_written;
      double read = size->bytes_read;
      const double wide =
          std::max(width, read > 0 && read < 1.5 * size->elements * 4 && read > size->elements * 3 ? 4.0 : width);
      int operands = static_cast<int>(std::lround(read / std::max(1.0, size->elements * wide)));
      while (operands > 1 && static_cast<double>(operands) * size->elements * wide > most) --operands;
      for (int i = 0; i < operands; ++i) out->reads.push_back({size->elements, wide, 0, false});
      out->makes = {{size->elements, width, 0, false}};
      return;
    }
    const double width =
        kernel(row).find("BFloat16") != std::string_view::npos || kernel(row).find("Half") != std::string_view::npos ? 2 : 4;
    const bool sums = category == Category::reduction && kernel(row).find("oft") == std::string_view::npos &&
                      kernel(row).find("SoftMax") == std::string_view::npos;
    const double bytes = rounded(time * rate_ * kReachedUnknown);
    const double elements = sums ? bytes / width : bytes / 2 / width;
    out->reads = {{elements, width, 0, true}};
    out->makes = {{sums ? elements / kSumsOf : elements, width, 0, true}};
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
    if (is_aside(rows)) {
      ids_[key] = std::nullopt;
      return;
    }
    FlowCall out;
    out.sort = is_generated(node, rows) ? FlowSort::generated : FlowSort::stays;
    if (shapes) {
      by_shapes(*call, rows, &out);
    } else if (out.sort == FlowSort::stays) {
      out.known = false;
    } else {
      by_grids(rows, &out);
      // What grids and times tell is of this launch.
      for (const std::vector<FlowTensor>& tensors : {out.reads, out.makes}) {
        for (const FlowTensor& each : tensors)
          std::get<2>(key) = mix64(std::get<2>(key) ^ std::bit_cast<std::uint64_t>(each.elements), 0x9E3779B97F4A7C15U);
      }
    }
    push(node, call_id(std::move(out), key));
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
    if (!shared_.views.any()) return;
    for (std::size_t t = 0; t < launches_.size(); ++t) {
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
    if (fresh) out_.flow.calls.push_back(view_call(*call));
    push(node, at->second);
  }

  bool has_launched(std::uint32_t node) const {
    return std::ranges::binary_search(out_.launched, node, {}, &EagerProgram::Launched::node);
  }

  static FlowCall view_call(const OpCall& call) {
    FlowCall out{.sort = FlowSort::view, .reads = {}, .makes = {}};
    if (const TensorShape* tensor = tensor_at(call, 0)) out.reads = {flow_tensor(*tensor)};
    for (const TensorShape& each : viewed(call)) out.makes.push_back(flow_tensor(each));
    return out;
  }

  using CallText = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;

  const EagerPrograms::Shared& shared_;
  const Scope& scope_;
  const Model& model_;
  const Trace& trace_;
  const CallTree& tree_;
  const DeviceWorkTable& table_;
  double rate_;
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
