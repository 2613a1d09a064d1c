// Rows by name and detail: one walk over the ops (op_walk.h), then the device work that no op launched.
#include "analysis/ops/ops.h"

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <tuple>
#include <unordered_map>

#include "analysis/catalog.h"
#include "analysis/ops/op_walk.h"
#include "analysis/shared/choice.h"
#include "analysis/shared/cpu_kernels_table.h"
#include "base/saturating.h"
#include "base/try.h"
#include "facts/scoped_work.h"
#include "model/annotations.h"
#include "model/locations.h"
#include "model/phases.h"
#include "model/server_steps.h"
#include "trace/tables.h"

namespace ridge {
namespace {

constexpr std::string_view kOpsBy[] = {"shape", "module", "location", "annotation", "phase", "stage"};

// What a row is told apart by, beside the op's name: an id that is equal for equal texts, and the text. The id is of an event
// and its node; of a call without a duration, which has none, of the node around it, kNoNode where there is none.
struct Detail {
  std::function<std::uint32_t(EventId, NodeId)> id;
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

Detail pool_detail(const Trace& trace, std::function<StringId(EventId)> find) {
  return {[find = std::move(find)](EventId event, NodeId) { return find(event).value; },
          [&trace](std::uint32_t id) { return json_spaced(trace.text(StringId{id})); }};
}

Detail make_detail(const Scope& scope, std::optional<OpsBy> by) {
  const Trace& trace = scope.trace();
  const CallTree& tree = scope.model().tree();
  if (!by) return {[](EventId, NodeId) { return 0U; }, [](std::uint32_t) { return std::string(); }};
  switch (*by) {
    case OpsBy::shape: {
      const OpTable table = ops(trace);
      return pool_detail(trace, [&trace, dims = table.input_dims](EventId event) {
        return trace.kind(event).event_class == EventClass::op ? dims.text(event).value_or(StringId{}) : StringId{};
      });
    }
    case OpsBy::annotation: {
      const auto annotations = std::make_shared<Annotations>(scope.model());
      return {[&, annotations](EventId, NodeId n) {
                const NodeId annotation = n == kNoNode ? kNoNode : annotations->of(n);
                return annotation == kNoNode ? 0U : trace.events.name(tree.event[annotation.value]).value;
              },
              [&](std::uint32_t id) { return std::string(trace.text(StringId{id})); }};
    }
    case OpsBy::phase: {
      const auto phases = std::make_shared<std::vector<Phase>>(build_phases(trace, tree));
      return {[phases](EventId, NodeId n) {
                return static_cast<std::uint32_t>(n == kNoNode ? Phase::forward : (*phases)[n.value]);
              },
              [](std::uint32_t id) { return std::string(name_of(static_cast<Phase>(id))); }};
    }
    case OpsBy::stage: {
      const auto steps = std::make_shared<ServerSteps>(build_server_steps(trace, tree));
      return {[steps](EventId, NodeId n) { return static_cast<std::uint32_t>(steps->stage_of(n)); },
              [](std::uint32_t id) { return std::string(name_of(static_cast<Stage>(id))); }};
    }
    default: {
      const Locations* locations = &scope.model().locations();
      const auto texts = std::make_shared<TextIds>();
      const bool module = *by == OpsBy::module;
      return {[locations, texts, module](EventId, NodeId n) {
                if (n == kNoNode) return texts->id({});
                return texts->id(module ? locations->module_path(n) : locations->location(n));
              },
              [texts](std::uint32_t id) { return std::string(texts->texts[id]); }};
    }
  }
}

class OpTableBuilder {
 public:
  // `by_name`: the detail is the same for all.
  OpTableBuilder(const Trace& trace, const CallTree& tree, Detail detail, bool by_name)
      : trace_(trace), tree_(tree), detail_(std::move(detail)), row_of_name_(by_name ? trace.strings.size() : 0, kNoRow) {}

  // Equal for ops of one row.
  std::uint64_t key(NodeId op) const {
    const EventId event = tree_.event[op.value];
    return key(trace_.events.name(event).value, detail_.id(event, op));
  }

  OpRow& row(NodeId op) { return row(tree_.event[op.value], op); }
  // `node`: the event's own, or the one around it.
  OpRow& row(EventId event, NodeId node) {
    const StringId name = trace_.events.name(event);
    if (row_of_name_.empty()) return at(name.value, detail_.id(event, node), true);
    std::uint32_t& row = row_of_name_[name.value];
    if (row == kNoRow) {
      at(name.value, detail_.id(event, node), true);
      row = static_cast<std::uint32_t>(rows_.size() - 1);
    }
    return rows_[row];
  }

  // Rows of device work without an op. `launch` may be kNoNode.
  OpRow& orphan(std::string_view name, NodeId launch) {
    const std::uint32_t detail = launch == kNoNode ? UINT32_MAX : detail_.id(tree_.event[launch.value], launch);
    OpRow& row = at(name == kNoOp ? UINT32_MAX : UINT32_MAX - 1, detail, false);
    row.op = name;
    return row;
  }

  std::vector<OpRow> take() { return std::move(rows_); }

 private:
  static std::uint64_t key(std::uint32_t name, std::uint32_t detail) { return static_cast<std::uint64_t>(name) << 32 | detail; }

  OpRow& at(std::uint32_t name, std::uint32_t detail, bool is_op) {
    const auto [it, is_new] = index_.try_emplace(key(name, detail), rows_.size());
    if (is_new) {
      rows_.emplace_back();
      rows_.back().is_op = is_op;
      if (is_op) rows_.back().op = trace_.text(StringId{name});
      if (detail != UINT32_MAX) rows_.back().detail = detail_.text(detail);
    }
    return rows_[it->second];
  }

  static constexpr std::uint32_t kNoRow = UINT32_MAX;

  const Trace& trace_;
  const CallTree& tree_;
  Detail detail_;
  std::vector<std::uint32_t> row_of_name_;  // a short cut to rows_ when rows are told apart by name alone
  std::unordered_map<std::uint64_t, std::size_t> index_;
  std::vector<OpRow> rows_;
};

// The calls around the one at hand, by row: whether one of its own row is among them.
class OpenRows {
 public:
  void enter(std::uint64_t row) {
    rows_.push_back(row);
    ++open_[row];
  }
  bool leave() {
    const std::uint64_t row = rows_.back();
    rows_.pop_back();
    return --open_[row] > 0;
  }

 private:
  std::vector<std::uint64_t> rows_;
  std::unordered_map<std::uint64_t, std::uint32_t> open_;
};

}  // namespace

Ops compute_ops(const Scope& scope, std::optional<OpsBy> by, WithCosts with, CompilerWorkFilter compilers) {
  const Trace& trace = scope.trace();
  const CallTree& tree = scope.model().tree();
  const LaunchLinks& links = scope.model().links();
  OpTableBuilder builder(trace, tree, make_detail(scope, by), !by);
  const CompilerWork& apart = compiler_work_left_out(scope, compilers);
  OpenRows open;
  const auto enter = [&](NodeId n) {
    if (with == WithCosts::yes) open.enter(builder.key(n));
  };
  for_each_op(scope, with, compilers, enter, [&](NodeId n, const OpCost& cost) {
    const bool nested = with == WithCosts::yes && open.leave();
    const bool held = scope.holds(n) && !apart.holds(n);
    if (!held && cost.pieces == 0) return;
    // Work of the scope is its op's, also where that was called before the scope: then the row has no call and no host time of
    // it.
    OpRow& row = builder.row(n);
    saturating_add(&row.device_self_ns, cost.device_self_ns);
    saturating_add(&row.device_total_ns, cost.device_total_ns);
    row.kernels += cost.kernels;
    if (!nested) row.flops.add(cost.flops);
    if (!held) return;
    ++row.count;
    ++row.timed;
    saturating_add(&row.cpu_total_ns, tree.duration_ns(n));
    saturating_add(&row.cpu_self_ns, std::max<std::int64_t>(0, tree.duration_ns(n) - cost.child_cpu_ns));
  });
  for_each_untimed_op(scope, [&](EventId event, NodeId around) {
    if (!apart.holds(around)) ++builder.row(event, around).count;
  });
  const auto add_own = [&](OpRow& row, const WorkRow& work) {
    saturating_add(&row.device_self_ns, duration_ns(work));
    saturating_add(&row.device_total_ns, duration_ns(work));
    row.kernels += is_kernel(trace, work.row);
  };
  const GraphReplays& replays = scope.model().graph_replays();
  // Stage and annotation are those of the replay, all else is that of the op when it was captured.
  const bool of_replay = by == OpsBy::stage || by == OpsBy::annotation;
  const auto add_rest = [&](const Device&, const WorkRow& work) {  // what no op launched, and what graphs replayed
    const RecoveredOp recovered = replays.recovered_op(work.row);
    if (recovered.op == kNoNode && links.op[work.row] != kNoNode) return;
    if (recovered.op != kNoNode) {
      OpRow& row = builder.row(tree.event[recovered.op.value], of_replay ? links.launch[work.row] : recovered.op);
      saturating_add(&row.recovered_ns, duration_ns(work));
      row.op_from = recovered.source;
      if (with == WithCosts::yes) add_flops(scope, work.row, duration_ns(work), &row.flops);
      add_own(row, work);
      return;
    }
    add_own(builder.orphan(op_name(scope.model(), work.row), links.launch[work.row]), work);
  };
  for_each_work(scope, add_rest, compilers);
  Ops out;
  out.by = by;
  if (with == WithCosts::yes) {
    for_each_work(scope,
                  [&](const Device&, const WorkRow& work) { add_flops(scope, work.row, duration_ns(work), &out.flops); });
  }
  out.has_device_work = !trace.of(EventClass::device_work).empty();
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

std::span<const std::string_view> ops_by_names() { return kOpsBy; }

Result<Report> run_ops(const Scope& scope, const Arguments& arguments) {
  TRY(const std::optional<std::size_t> by, choice(arguments, "by", kOpsBy));
  Report report = report_ops(compute_ops(scope, by ? std::optional(static_cast<OpsBy>(*by)) : std::nullopt));
  if (auto kernels = cpu_kernels_table(scope)) report.tables.push_back(std::move(*kernels));
  return report;
}

}  // namespace ridge
