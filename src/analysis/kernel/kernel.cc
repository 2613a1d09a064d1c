// Groups the launches of one name by launch configuration, shape, stack, source and stream. Tables: kernel_report.cc.
#include "analysis/kernel/kernel.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <unordered_map>

#include "analysis/catalog.h"
#include "analysis/kernel/kernel_choice.h"
#include "analysis/shared/cost_diagnostics.h"
#include "base/saturating.h"
#include "base/try.h"
#include "cost/roof/launch_occupancy.h"
#include "facts/scoped_work.h"
#include "model/annotations.h"
#include "model/frame_name.h"
#include "predict/expected_times.h"
#include "trace/tables.h"
#include "trace/vendor_work.h"

namespace ridge {
namespace {

constexpr std::size_t kMostFrames = 24;

// Rows of one sort by key; a new one is filled by `fill`.
template <class Key, class Row>
class Groups {
 public:
  template <class Fill>
  Row& at(const Key& key, Fill fill) {
    const auto [it, is_new] = index_.try_emplace(key, rows_.size());
    if (is_new) fill(&rows_.emplace_back());
    return rows_[it->second];
  }

  std::vector<Row> take() {
    std::stable_sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) { return a.time_ns > b.time_ns; });
    return std::move(rows_);
  }

 private:
  std::map<Key, std::size_t> index_;
  std::vector<Row> rows_;
};

class KernelDetailBuilder {
 public:
  KernelDetailBuilder(const Scope& scope, std::string_view kernel)
      : scope_(scope),
        trace_(scope.trace()),
        model_(scope.model()),
        kernel_(kernel),
        work_(device_work(trace_)),
        ops_(ops(trace_)),
        annotations_(model_),
        frame_(model_.tree().size(), kNoNode) {
    const CallTree& tree = model_.tree();
    for (std::uint32_t n = 0; n < frame_.size(); ++n) {
      const bool is_frame = tree.event_class[n] == EventClass::python_frame;
      frame_[n] = is_frame ? NodeId{n} : frame_at(tree.parent[n]);
    }
  }

  void add(const Device& device, const WorkRow& work) {
    const EventId event = trace_.of(EventClass::device_work)[work.row];
    if (work_of(trace_, event) != DeviceWork::kernel) return;
    saturating_add(&out_.kernel_time_ns, duration_ns(work));
    if (trace_.text(trace_.events.name(event)) != kernel_) return;
    identify(work);
    const auto count = [&](LaunchGroup* group) {
      ++group->count;
      group->timed += trace_.events.dur_ns(event).has_value();
      saturating_add(&group->time_ns, duration_ns(work));
      group->cost.add(scope_.costs(), work.row, device.id, duration_ns(work));
      if (const auto ns = expected_.ns(work.row)) group->expected.add(*ns, duration_ns(work));
    };
    count(&out_.all);
    if (trace_.events.dur_ns(event)) out_.durations_ns.push_back(duration_ns(work));
    out_.autotune_count += model_.autotuning().holds_work(work.row) ? 1 : 0;
    out_.graph_count += is_replayed(work.row, event) ? 1 : 0;
    count(&config(event, device.id));
    count(&shape(work.row));
    count(&stack(work.row));
    count(&streams_.at(work.stream, [&](Stream* s) { s->stream = work.stream; }));
    if (KernelSourceUse* use = source(work.row)) count(use);
  }

  KernelDetail take() {
    std::sort(out_.durations_ns.begin(), out_.durations_ns.end());
    out_.configs = configs_.take();
    out_.shapes = shapes_.take();
    out_.stacks = stacks_.take();
    out_.sources = sources_.take();
    for (const Stream& s : streams_.take()) out_.streams.emplace_back(s.stream, s);
    for (KernelSourceUse& use : out_.sources) find_source(&use);
    out_.diagnostics = cost_diagnostics(scope_, out_.all.cost);
    return std::move(out_);
  }

 private:
  // By a graph: the event says so, or the call that launched it.
  bool is_replayed(std::uint32_t row, EventId event) const {
    if (work_.graph_node_id.integer(event).value_or(0) != 0) return true;
    const NodeId launch = model_.links().launch[row];
    if (launch == kNoNode) return false;
    return trace_.text(trace_.events.name(model_.tree().event[launch.value])).find("GraphLaunch") != std::string_view::npos;
  }

  struct Stream : LaunchGroup {
    std::int64_t stream = 0;
  };

  std::string_view text(const ArgColumn& column, EventId event) const {
    const auto id = column.text(event);
    return id ? trace_.text(*id) : std::string_view();
  }

  void identify(const WorkRow& work) {
    if (out_.all.count > 0) return;
    const KernelIdentity& identity = model_.identities()[work.row];
    out_.kernel = kernel_;
    out_.label = identity.label;
    out_.library = identity.library;
    out_.fused_ops = identity.fused_ops;
    out_.category = identity.category;
  }

  LaunchConfig& config(EventId event, std::int64_t device) {
    LaunchConfig c;
    c.grid = text(work_.grid, event);
    c.block = text(work_.block, event);
    c.registers_per_thread = work_.registers_per_thread.integer(event);
    c.shared_memory_bytes = work_.shared_memory.integer(event);
    c.blocks_per_sm = work_.blocks_per_sm.number(event);
    c.warps_per_sm = work_.warps_per_sm.number(event);
    return configs_.at(std::tuple(c.grid, c.block, c.registers_per_thread, c.shared_memory_bytes), [&](LaunchConfig* row) {
      *row = c;
      row->occupancy_pct = occupancy_of(scope_.costs(), work_, event, device).pct;
    });
  }

  KernelShape& shape(std::size_t row) {
    const NodeId op = op_of(model_, row);
    KernelShape s;
    s.op = op_name(model_, row);
    if (op != kNoNode) {
      s.input_dims = text(ops_.input_dims, model_.tree().event[op.value]);
      s.input_types = text(ops_.input_type, model_.tree().event[op.value]);
    }
    return shapes_.at(std::tuple(s.op, s.input_dims, s.input_types), [&](KernelShape* r) { *r = s; });
  }

  KernelStack& stack(std::size_t row) {
    const NodeId launch = model_.links().launch[row], caller = caller_of(model_, row);
    std::vector<std::uint32_t> frames;
    for (NodeId n = frame_at(caller); n != kNoNode && frames.size() < kMostFrames;
         n = frame_at(model_.tree().parent[n.value])) {
      frames.push_back(name_id(n));
    }
    const NodeId annotation = annotations_.of(launch);
    const std::string_view place = caller == kNoNode ? std::string_view() : model_.locations().location(caller);
    const std::string_view module = caller == kNoNode ? std::string_view() : model_.locations().module_path(caller);
    const std::uint32_t mark = annotation == kNoNode ? 0 : name_id(annotation);
    return stacks_.at(std::tuple(frames, place, module, mark), [&](KernelStack* s) {
      s->location = place;
      s->module = module;
      if (annotation != kNoNode) s->annotation = trace_.text(StringId{mark});
      for (const std::uint32_t frame : frames)
        s->stack += (s->stack.empty() ? "" : " < ") + std::string(trace_.text(StringId{frame}));
    });
  }

  NodeId frame_at(NodeId n) const { return n == kNoNode ? kNoNode : frame_[n.value]; }
  std::uint32_t name_id(NodeId n) const { return trace_.events.name(model_.tree().event[n.value]).value; }

  KernelSourceUse* source(std::size_t row) {
    const NodeId op = op_of(model_, row);
    if (op == kNoNode) return nullptr;
    const EventId event = model_.tree().event[op.value];
    KernelSourceUse use;
    use.file = text(ops_.kernel_file, event);
    use.hash = text(ops_.kernel_hash, event);
    use.kwargs = text(ops_.kernel_kwargs, event);
    use.backend = text(ops_.kernel_backend, event);
    if (use.file.empty() && use.hash.empty()) return nullptr;
    return &sources_.at(std::tuple(use.file, use.hash, use.kwargs), [&](KernelSourceUse* s) { *s = use; });
  }

  void find_source(KernelSourceUse* use) const {
    const KernelSources* sources = scope_.costs().options().sources;
    if (sources != nullptr) use->text = sources->find(use->file);
    use->match = match_source(use->text, use->hash);
  }

  const Scope& scope_;
  ExpectedTimes expected_{scope_.costs()};
  const Trace& trace_;
  const Model& model_;
  std::string_view kernel_;
  DeviceWorkTable work_;
  OpTable ops_;
  Annotations annotations_;
  std::vector<NodeId>
      frame_;  // of each node: the innermost Python frame at or around it; stacks may be deep where frames are few
  KernelDetail out_;
  Groups<std::tuple<std::string_view, std::string_view, std::optional<std::int64_t>, std::optional<std::int64_t>>, LaunchConfig>
      configs_;
  Groups<std::tuple<std::string_view, std::string_view, std::string_view>, KernelShape> shapes_;
  Groups<std::tuple<std::vector<std::uint32_t>, std::string_view, std::string_view, std::uint32_t>, KernelStack> stacks_;
  Groups<std::tuple<std::string_view, std::string_view, std::string_view>, KernelSourceUse> sources_;
  Groups<std::int64_t, Stream> streams_;
};

// Every name of a kernel in the scope with its label, most time first.
std::vector<KernelCandidate> candidates_in(const Scope& scope) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> times;  // by name and identity
  const Trace& trace = scope.trace();
  for_each_work(scope, [&](const Device&, const WorkRow& work) {
    const EventId event = trace.of(EventClass::device_work)[work.row];
    if (work_of(trace, event) != DeviceWork::kernel) return;
    saturating_add(&times[{trace.events.name(event).value, scope.model().identities().of_row[work.row]}], duration_ns(work));
  });
  std::vector<KernelCandidate> candidates;
  for (const auto& [key, time] : times)
    candidates.push_back({trace.text(StringId{key.first}), scope.model().identities().identities[key.second].label, time});
  std::stable_sort(candidates.begin(), candidates.end(), [](const KernelCandidate& a, const KernelCandidate& b) {
    return std::tuple(-a.time_ns, a.kernel) < std::tuple(-b.time_ns, b.kernel);
  });
  return candidates;
}

}  // namespace

std::int64_t percentile(const std::vector<std::int64_t>& durations, double share) {
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(durations.size())));
  return durations[std::clamp<std::size_t>(rank, 1, durations.size()) - 1];
}

Result<KernelDetail> compute_kernel(const Scope& scope, const std::string& name) {
  TRY(const std::string_view kernel, choose_kernel(candidates_in(scope), name));
  KernelDetailBuilder builder(scope, kernel);
  for_each_work(scope, [&](const Device& device, const WorkRow& work) { builder.add(device, work); });
  return builder.take();
}

Result<Report> run_kernel(const Scope& scope, const Arguments& arguments) {
  const auto name = arguments.find("name");
  if (name == arguments.end()) return fail(ErrorCode::usage, "kernel needs a kernel's name", "", "ridge kernel NAME TRACE");
  TRY(const KernelDetail detail, compute_kernel(scope, name->second));
  return report_kernel(detail);
}

}  // namespace ridge
