// Everything that is known of one slice: its arguments as the trace has them, its op, Python frame and module, its cost and its
// flows.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/try.h"
#include "timeline/state.h"
#include "trace/args.h"

namespace ridge {
namespace {

constexpr std::size_t kMostFlows = 500;  // of each direction
constexpr std::size_t kMostText = std::size_t{1} << 18;
constexpr std::size_t kMostNesting = 64;

// A list or object is written as it stands, unless a reader could choke on it.
bool is_tame(std::string_view json) {
  std::size_t depth = 0, deepest = 0;
  for (const char c : json) {
    if (c == '[' || c == '{') deepest = std::max(deepest, ++depth);
    if ((c == ']' || c == '}') && depth > 0) --depth;
  }
  return deepest <= kMostNesting && json.size() <= kMostText;
}

std::string cut(std::string_view text) {
  if (text.size() <= kMostText) return std::string(text);
  std::size_t end = kMostText;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "… (cut)";
}

SliceArg arg_of(std::string_view key, const ArgValue& value) {
  const auto plain = [&](std::string json) { return SliceArg{std::string(key), std::move(json), false}; };
  const auto text = [&](std::string_view t) { return SliceArg{std::string(key), cut(t), true}; };
  switch (value.type) {
    case ArgType::null: return plain("null");
    case ArgType::false_value: return plain("false");
    case ArgType::true_value: return plain("true");
    case ArgType::int32:
    case ArgType::int64: return plain(std::to_string(value.integer));
    case ArgType::uint64: return plain(std::to_string(value.large_integer));
    case ArgType::real: return plain(std::isfinite(value.real) ? fmt::format("{}", value.real) : "null");
    case ArgType::json: return is_tame(value.text) ? plain(std::string(value.text)) : text(value.text);
    case ArgType::big_integer:
    case ArgType::text:
    case ArgType::fixed_text: break;
  }
  return text(value.text);
}

std::vector<SliceArg> args_of(const Trace& trace, EventId event) {
  std::vector<SliceArg> args;
  for (const Slot& slot : trace.forms.schema(trace.events.form(event)).slots) {
    if (!slot.member) args.push_back(arg_of(trace.text(slot.key), value_of(trace, slot, trace.events.words(event))));
  }
  return args;
}

// Row of the device work's table; nothing for other events.
std::optional<std::size_t> work_row(const Trace& trace, EventId event) {
  if (trace.kind(event).event_class != EventClass::device_work) return std::nullopt;
  const std::span<const EventId> work = trace.of(EventClass::device_work);
  const auto it = std::lower_bound(work.begin(), work.end(), event);
  if (it == work.end() || *it != event) return std::nullopt;
  return static_cast<std::size_t>(it - work.begin());
}

std::optional<SliceCost> cost_of(const CostModel& costs, std::size_t row) {
  const LaunchCost& cost = costs[row];
  const Roof roof = costs.roof(row);
  const bool anything = cost.flops || cost.bytes_read || cost.bytes_written || cost.flops_pointwise || roof.roof_ns;
  if (!anything) return std::nullopt;
  return SliceCost{.flops = cost.flops,
                   .flops_pointwise = cost.flops_pointwise,
                   .bytes_read = cost.bytes_read,
                   .bytes_written = cost.bytes_written,
                   .roof_ns = roof.roof_ns,
                   .headroom_ns = roof.headroom_ns,
                   .pct_peak_flops = roof.pct_peak_flops,
                   .pct_peak_bandwidth = roof.pct_peak_bandwidth,
                   .dtype = name_of(cost.dtype),
                   .estimate = name_of(cost.estimate),
                   .bound = name_of(roof.bound)};
}

// The slice that holds this one on its own track.
std::optional<Place> parent_of(const Place& place) {
  const LaneRow& own = place.lane->rows[place.row];
  const std::int64_t start = own.start_ns[place.index], end = own.end_ns[place.index];
  for (std::size_t r = place.row; r-- > 0;) {
    const LaneRow& row = place.lane->rows[r];
    const std::size_t after = row.first_from(start + 1);
    if (after > 0 && row.end_ns[after - 1] >= end && row.end_ns[after - 1] > start) return Place{place.lane, r, after - 1};
  }
  return std::nullopt;
}

// The nodes of the call tree that stand for the slice: itself, what launched it, or what launched the same kernel where no
// graph hid it.
struct Origin {
  NodeId node = kNoNode;  // tells the Python frame and the module
  NodeId op = kNoNode;
  OpSource op_from = OpSource::none;
};

Origin origin_of(const Model& model, EventId event, std::optional<std::size_t> row) {
  if (row) {
    const RecoveredOp recovered = model.graph_replays().recovered_op(*row);
    if (recovered.launch != kNoNode) return {recovered.launch, recovered.op, recovered.source};
    const NodeId launch = model.links().launch[*row];
    return {launch != kNoNode ? launch : model.links().op[*row], model.links().op[*row]};
  }
  const NodeId node = find_node(model.trace(), model.tree(), event);
  if (node == kNoNode) return {};
  const NodeId above = model.tree().class_of(node) == EventClass::op ? kNoNode : model.tree().op_of(node);
  return {node, above};
}

}  // namespace

Result<SliceDetails> Timeline::slice(std::uint32_t id) const {
  const Threads::Use use(state_->threads.get());
  TRY(const Place place, state_->place(id));
  const Trace& trace = state_->trace();
  const Model& model = state_->model;
  const EventId event{id};
  const LaneRow& own = place.lane->rows[place.row];
  const std::optional<std::size_t> row = work_row(trace, event);
  SliceDetails out;
  out.slice = state_->ref(place);
  out.slice.name = cut(out.slice.name);
  out.category = state_->lanes().categories[own.category[place.index]];
  if (!own.overlapping) out.self_ns = own.self_ns[place.index];
  out.args = args_of(trace, event);
  if (const auto parent = parent_of(place)) out.parent = state_->ref(*parent);
  const Origin origin = origin_of(model, event, row);
  if (origin.op != kNoNode) {
    const EventId op = model.tree().event[origin.op.value];
    out.op = state_->ref(op);
    if (!out.op) out.op_name = cut(trace.text(trace.events.name(op)));
  }
  if (origin.op_from != OpSource::none) out.op_from = name_of(origin.op_from);
  if (origin.node != kNoNode) {
    out.frame = model.locations().location(origin.node);
    out.module = model.locations().module_path(origin.node);
  }
  if (row) out.cost = cost_of(*state_->costs, *row);
  state_->flows().each_of(event, kMostFlows, [&](const Flows::Edge& edge) {
    const bool outgoing = edge.from == event;
    auto other = state_->ref(outgoing ? edge.to : edge.from);
    if (other) out.flows.push_back({name_of(edge.kind), outgoing ? "out" : "in", std::move(*other)});
  });
  return out;
}

}  // namespace ridge
