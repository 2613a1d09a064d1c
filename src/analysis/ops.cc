#include "analysis/ops.h"

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <tuple>
#include <unordered_map>

#include "analysis/catalog.h"
#include "analysis/choice.h"
#include "analysis/scoped_work.h"
#include "base/try.h"
#include "model/locations.h"
#include "model/phases.h"
#include "trace/tables.h"

namespace ridge {
namespace {

constexpr std::string_view kByNames[] = {"shape", "module", "location", "annotation", "phase"};

// Per node of the call tree; only ops' places mean something.
struct OpCosts {
  std::vector<std::int64_t> child_cpu_ns;  // of ops and calls right below
  std::vector<std::int64_t> device_self_ns, device_total_ns;
  std::vector<std::uint32_t> kernels;
};

// The nearest op or runtime call at or above each node.
std::vector<NodeId> nearest_calls(const CallTree& tree) {
  std::vector<NodeId> near(tree.size());
  for (std::uint32_t n = 0; n < tree.size(); ++n) {
    const bool is_call = tree.event_class[n] == EventClass::op || tree.event_class[n] == EventClass::launch;
    near[n] = is_call ? NodeId{n} : tree.parent[n] == kNoNode ? kNoNode : near[tree.parent[n].value];
  }
  return near;
}

OpCosts measure(const Scope& scope) {
  const Model& model = scope.model();
  const CallTree& tree = model.tree();
  const std::vector<NodeId> near = nearest_calls(tree);
  const auto call_above = [&](NodeId n) {
    return tree.parent[n.value] == kNoNode ? kNoNode : near[tree.parent[n.value].value];
  };
  OpCosts costs;
  costs.child_cpu_ns.resize(tree.size());
  costs.device_self_ns.resize(tree.size());
  costs.kernels.resize(tree.size());
  for_each_work(scope, [&](const Device&, const WorkRow& work) {
    const NodeId op = model.links().op[work.row];
    if (op == kNoNode) return;
    costs.device_self_ns[op.value] += duration_ns(work);
    costs.kernels[op.value] +=
        scope.trace().kind(scope.trace().of(EventClass::device_work)[work.row]).work == DeviceWork::kernel;
  });
  costs.device_total_ns = costs.device_self_ns;
  for (std::size_t i = tree.size(); i-- > 0;) {
    const NodeId n{i};
    if (near[i] != n) continue;
    NodeId above = call_above(n);
    if (above != kNoNode && tree.class_of(above) == EventClass::op) costs.child_cpu_ns[above.value] += tree.duration_ns(n);
    while (above != kNoNode && tree.class_of(above) != EventClass::op) above = call_above(above);
    if (above != kNoNode) costs.device_total_ns[above.value] += costs.device_total_ns[i];
  }
  return costs;
}

// What a row is told apart by, beside the op's name: an id that is equal for equal texts, and the text.
struct Detail {
  std::function<std::uint32_t(NodeId)> id;
  std::function<std::string(std::uint32_t)> text;
};

std::string json_spaced(std::string_view json) {  // "[[1,2],[]]" -> "[[1, 2], []]"
  std::string out;
  for (const char c : json) {
    out += c;
    if (c == ',') out += ' ';
  }
  return out;
}

// Ids for texts that are not in the trace's pool.
struct TextIds {
  std::unordered_map<std::string_view, std::uint32_t> ids;
  std::vector<std::string_view> texts;
  std::uint32_t id(std::string_view text) {
    const auto [it, is_new] = ids.try_emplace(text, static_cast<std::uint32_t>(texts.size()));
    if (is_new) texts.push_back(text);
    return it->second;
  }
};

Detail pool_detail(const Trace& trace, std::function<StringId(NodeId)> find) {
  return {[find = std::move(find)](NodeId n) { return find(n).value; },
          [&trace](std::uint32_t id) { return json_spaced(trace.text(StringId{id})); }};
}

Detail make_detail(const Scope& scope, std::optional<OpsBy> by) {
  const Trace& trace = scope.trace();
  const CallTree& tree = scope.model().tree();
  if (!by) return {[](NodeId) { return 0U; }, [](std::uint32_t) { return std::string(); }};
  switch (*by) {
    case OpsBy::shape: {
      const OpTable table = ops(trace);
      return pool_detail(trace, [&tree, dims = table.input_dims](NodeId n) {
        return tree.class_of(n) == EventClass::op ? dims.text(tree.event[n.value]).value_or(StringId{}) : StringId{};
      });
    }
    case OpsBy::annotation:
      return {[&](NodeId n) {
                const NodeId annotation = tree.nearest(n, EventClass::annotation);
                return annotation == kNoNode ? 0U : trace.events.name(tree.event[annotation.value]).value;
              },
              [&](std::uint32_t id) { return std::string(trace.text(StringId{id})); }};
    case OpsBy::phase: {
      const auto phases = std::make_shared<std::vector<Phase>>(build_phases(trace, tree));
      return {[phases](NodeId n) { return static_cast<std::uint32_t>((*phases)[n.value]); },
              [](std::uint32_t id) { return std::string(name_of(static_cast<Phase>(id))); }};
    }
    default: {
      const Locations* locations = &scope.model().locations();
      const auto texts = std::make_shared<TextIds>();
      const bool module = *by == OpsBy::module;
      return {[locations, texts, module](NodeId n) {
                return texts->id(module ? locations->module_path(n) : locations->location(n));
              },
              [texts](std::uint32_t id) { return std::string(texts->texts[id]); }};
    }
  }
}

class OpTableBuilder {
 public:
  OpTableBuilder(const Trace& trace, const CallTree& tree, Detail detail)
      : trace_(trace), tree_(tree), detail_(std::move(detail)) {}

  OpRow& row(NodeId op) { return at(trace_.events.name(tree_.event[op.value]).value, detail_.id(op), true); }

  // Rows of device work without an op. `launch` may be kNoNode.
  OpRow& orphan(std::string_view name, NodeId launch) {
    OpRow& row = at(name == kNoOp ? UINT32_MAX : UINT32_MAX - 1, launch == kNoNode ? UINT32_MAX : detail_.id(launch), false);
    row.op = name;
    return row;
  }

  std::vector<OpRow> take() { return std::move(rows_); }

 private:
  OpRow& at(std::uint32_t name, std::uint32_t detail, bool is_op) {
    const auto [it, is_new] = index_.try_emplace(static_cast<std::uint64_t>(name) << 32 | detail, rows_.size());
    if (is_new) {
      rows_.emplace_back();
      rows_.back().is_op = is_op;
      if (is_op) rows_.back().op = trace_.text(StringId{name});
      if (detail != UINT32_MAX) rows_.back().detail = detail_.text(detail);
    }
    return rows_[it->second];
  }

  const Trace& trace_;
  const CallTree& tree_;
  Detail detail_;
  std::unordered_map<std::uint64_t, std::size_t> index_;
  std::vector<OpRow> rows_;
};

}  // namespace

Ops compute_ops(const Scope& scope, std::optional<OpsBy> by) {
  const Trace& trace = scope.trace();
  const CallTree& tree = scope.model().tree();
  const LaunchLinks& links = scope.model().links();
  const OpCosts costs = measure(scope);
  OpTableBuilder builder(trace, tree, make_detail(scope, by));
  for (std::uint32_t i = 0; i < tree.size(); ++i) {
    const NodeId n{i};
    if (tree.event_class[i] != EventClass::op) continue;
    const bool held = scope.holds(n);
    if (!held && costs.device_self_ns[i] == 0 && costs.kernels[i] == 0) continue;
    OpRow& row = builder.row(n);
    row.device_self_ns += costs.device_self_ns[i];  // also of an op that began before the scope
    row.kernels += costs.kernels[i];
    if (!held) continue;
    ++row.count;
    row.cpu_total_ns += tree.duration_ns(n);
    row.cpu_self_ns += std::max<std::int64_t>(0, tree.duration_ns(n) - costs.child_cpu_ns[i]);
    row.device_total_ns += costs.device_total_ns[i];
  }
  for_each_work(scope, [&](const Device&, const WorkRow& work) {
    if (links.op[work.row] != kNoNode) return;
    OpRow& row = builder.orphan(op_name(scope.model(), work.row), links.launch[work.row]);
    row.device_self_ns += duration_ns(work);
    row.device_total_ns += duration_ns(work);
    row.kernels += trace.kind(trace.of(EventClass::device_work)[work.row]).work == DeviceWork::kernel;
  });
  Ops out;
  out.by = by;
  out.rows = builder.take();
  std::erase_if(out.rows, [&](const OpRow& row) { return !scope.matches(row.op); });
  std::sort(out.rows.begin(), out.rows.end(), [](const OpRow& a, const OpRow& b) {
    return std::tuple(-a.device_self_ns, -a.cpu_self_ns, a.op, std::string_view(a.detail)) <
           std::tuple(-b.device_self_ns, -b.cpu_self_ns, b.op, std::string_view(b.detail));
  });
  const bool told = std::any_of(out.rows.begin(), out.rows.end(), [](const OpRow& row) { return !row.detail.empty(); });
  out.no_shapes = by == OpsBy::shape && !told;
  out.no_stacks = (by == OpsBy::module || by == OpsBy::location) && !told;
  return out;
}

Report report_ops(const Ops& ops) {
  Table table;
  table.name = "ops";
  table.columns = {{"op", Type::text},
                   {"count", Type::integer, Unit::count},
                   {"cpu_total_ns", Type::integer, Unit::ns},
                   {"cpu_self_ns", Type::integer, Unit::ns},
                   {"device_total_ns", Type::integer, Unit::ns},
                   {"device_self_ns", Type::integer, Unit::ns},
                   {"flops", Type::number, Unit::flop},
                   {"kernels", Type::integer, Unit::count}};
  if (ops.by) table.columns.push_back({std::string(kByNames[static_cast<std::size_t>(*ops.by)]), Type::text});
  std::int64_t count = 0, cpu_self = 0, device_self = 0, kernels = 0;
  for (const OpRow& row : ops.rows) {
    Row& out = table.rows.emplace_back(table.columns.size());
    out[0] = std::string(row.op);
    if (row.is_op) {
      out[1] = row.count;
      out[2] = row.cpu_total_ns;
      out[3] = row.cpu_self_ns;
    }
    out[4] = row.device_total_ns;
    out[5] = row.device_self_ns;
    out[7] = row.kernels;
    if (ops.by && !row.detail.empty()) out[8] = row.detail;
    count += row.count;
    cpu_self += row.cpu_self_ns;
    device_self += row.device_self_ns;
    kernels += row.kernels;
  }
  Row& total = table.total.emplace(table.columns.size());  // totals of nested ops overlap: no sum
  total[1] = count;
  total[3] = cpu_self;
  total[5] = device_self;
  total[7] = kernels;
  Report report;
  report.tables = {std::move(table)};
  if (ops.no_shapes)
    report.diagnostics.push_back({"no_shapes", 1, "the trace has no input shapes: record it with record_shapes=True"});
  if (ops.no_stacks)
    report.diagnostics.push_back({"no_stacks", 1, "the trace has no Python stacks: record it with with_stack=True"});
  return report;
}

Result<Report> run_ops(const Scope& scope, const Arguments& arguments) {
  TRY(const std::optional<std::size_t> by, choice(arguments, "by", kByNames));
  return report_ops(compute_ops(scope, by ? std::optional(static_cast<OpsBy>(*by)) : std::nullopt));
}

}  // namespace ridge
