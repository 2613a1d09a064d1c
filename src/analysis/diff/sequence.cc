// Finds the op that each launch works for, sorts by host order and cuts at the starts of iterations.
#include "analysis/diff/sequence.h"

#include <algorithm>
#include <tuple>

#include "analysis/diff/kind_table.h"
#include "analysis/diff/regions.h"
#include "facts/scoped_work.h"
#include "model/name_flags.h"

namespace ridge::diff {
namespace {

// The op that each node works for, by node; kNoNode where none is known. One pass: a parent stands before its children.
std::vector<NodeId> owners(const Model& model, Grain grain) {
  const Trace& trace = model.trace();
  const CallTree& tree = model.tree();
  const NameFlags calls(trace, is_call), composites(trace, is_composite);
  std::vector<NodeId> owner(tree.size(), kNoNode);
  std::vector<std::uint8_t> settled(tree.size());  // nothing further in can be the owner
  for (std::size_t n = 0; n < tree.size(); ++n) {
    const NodeId parent = tree.parent[n];
    if (parent != kNoNode) {
      owner[n] = owner[parent.value];
      settled[n] = settled[parent.value];
    }
    if (settled[n] != 0 || tree.event_class[n] != EventClass::op) continue;
    const StringId name = trace.events.name(tree.event[n]);
    if (!calls[name]) continue;
    const bool whole = grain != Grain::op || !composites[name];
    if (whole || owner[n] == kNoNode) owner[n] = NodeId{n};
    settled[n] = whole;
  }
  return owner;
}

struct Item {
  std::uint32_t iteration;
  NodeId owner;
  NodeId rank;            // the owner, where it launched the work itself
  std::int64_t order_ns;  // start of the rank, or of the launch where there is none
  std::int64_t launch_ns;
  std::int64_t start_ns;
  std::uint32_t row;
  std::uint32_t device;
  Phase phase;
  NodeId shown;  // the op to name it by where the owner does not count
  NodeId launch;

  bool is_same_call(const Item& other) const {
    return owner == other.owner && iteration == other.iteration && order_ns == other.order_ns;
  }
};

bool before(const Item& a, const Item& b) {
  return std::tuple(a.iteration, a.order_ns, a.rank, a.launch_ns, a.start_ns, a.row) <
         std::tuple(b.iteration, b.order_ns, b.rank, b.launch_ns, b.start_ns, b.row);
}

// Iterations of the scope by their starts: what lies between two belongs to the one before it, what is before the first to the
// first. A stretch of time counts as one.
class IterationIndex {
 public:
  explicit IterationIndex(const Scope& scope) {
    if (!scope.by_time()) {
      for (const std::size_t i : scope.iterations()) starts_.push_back(scope.model().iterations().list[i].start_ns);
    }
    if (starts_.empty()) starts_.push_back(scope.window().start_ns);
  }
  std::size_t count() const { return starts_.size(); }
  std::uint32_t at(std::int64_t time_ns) const {
    const auto it = std::upper_bound(starts_.begin(), starts_.end(), time_ns);
    return it == starts_.begin() ? 0 : static_cast<std::uint32_t>(it - starts_.begin() - 1);
  }

 private:
  std::vector<std::int64_t> starts_;
};

// Kernels without an op, one after the other: a library's helpers belong to the matrix work that they prepare or finish.
std::size_t end_of_bare_call(const Scope& scope, std::span<const Item> items, std::size_t first) {
  const auto identity = [&](std::size_t i) -> const KernelIdentity& { return scope.model().identities()[items[i].row]; };
  const auto heavy = [&](std::size_t i) {
    const Category c = identity(i).category;
    return !identity(i).helper && (c == Category::gemm || c == Category::conv || c == Category::attention);
  };
  const auto prologue = [&](std::size_t i) {
    return identity(i).category == Category::memset || (identity(i).helper && identity(i).category != Category::gemm);
  };
  const auto same = [&](std::size_t i) {
    return i < items.size() && items[i].owner == kNoNode && items[i].iteration == items[first].iteration &&
           items[i].device == items[first].device;
  };
  constexpr std::size_t kLongestPrologue = 6;
  std::size_t i = first;
  while (same(i) && prologue(i) && i < first + kLongestPrologue) ++i;
  if (!same(i) || !heavy(i)) return first + 1;
  for (++i; same(i) && identity(i).helper && !prologue(i);) ++i;
  return i;
}

std::vector<Item> items_of(const Scope& scope, Grain grain, bool tell_phases, const IterationIndex& iterations,
                           std::vector<std::uint32_t>* orphans) {
  const Model& model = scope.model();
  const CallTree& tree = model.tree();
  const LaunchLinks& links = model.links();
  const std::vector<NodeId> owner_of = owners(model, grain);
  const std::vector<Phase> phases = build_phases(scope.trace(), tree);
  const NameFlags replays(scope.trace(), is_graph_launch);
  std::vector<Item> items;
  std::uint32_t device_rank = 0;
  const Device* last = nullptr;
  bool linked_yet = false;
  bool any_linked = false;
  for_each_work(scope,
                [&](const Device&, const WorkRow& work) { any_linked = any_linked || links.launch[work.row] != kNoNode; });
  for_each_work(scope, [&](const Device& device, const WorkRow& work) {
    if (last != nullptr && last != &device) {
      ++device_rank;
      linked_yet = false;
    }
    last = &device;
    const NodeId launch = links.launch[work.row];
    linked_yet = linked_yet || launch != kNoNode;
    if (!linked_yet && any_linked) {
      orphans->push_back(work.row);
      return;
    }
    Item item{.iteration = 0,
              .owner = kNoNode,
              .rank = kNoNode,
              .order_ns = work.start_ns,
              .launch_ns = work.start_ns,
              .start_ns = work.start_ns,
              .row = work.row,
              .device = device_rank,
              .phase = Phase::forward,
              .shown = kNoNode,
              .launch = launch};
    if (launch != kNoNode) {
      item.launch_ns = item.order_ns = tree.start_ns[launch.value];
      // A replay's launch stands for all its kernels: the op around it made none of them. Which did may be known from elsewhere
      // in the trace.
      const bool replayed = replays.any() && replays[scope.trace().events.name(tree.event[launch.value])];
      const NodeId recovered = replayed ? model.graph_replays().recovered_op(work.row).op : kNoNode;
      const NodeId maker = replayed ? recovered : launch;
      if (tell_phases) item.phase = phases[recovered != kNoNode ? recovered.value : launch.value];
      if (maker != kNoNode) item.shown = owner_of[maker.value];
      if (grain != Grain::kernel) item.owner = item.shown;
      if (!replayed) item.rank = item.owner;
      if (item.rank != kNoNode) item.order_ns = tree.start_ns[item.rank.value];
    }
    item.iteration = iterations.at(item.launch_ns);
    items.push_back(item);
  });
  std::sort(items.begin(), items.end(), before);
  return items;
}

}  // namespace

bool has_places(const Trace& trace) {
  return NameFlags(trace, [](std::string_view name) { return name.starts_with("nn.Module: "); }).any();
}

std::uint32_t told_phases(const Scope& scope) {
  const Model& model = scope.model();
  const std::vector<Phase> phases = build_phases(scope.trace(), model.tree());
  std::uint32_t evidence = 0;
  for_each_work(scope, [&](const Device&, const WorkRow& work) {
    const NodeId recovered = model.graph_replays().recovered_op(work.row).op;
    const NodeId node = recovered != kNoNode ? recovered : model.links().launch[work.row];
    if (node != kNoNode && phases[node.value] != Phase::forward) evidence |= 1U << static_cast<unsigned>(phases[node.value]);
  });
  return evidence;
}

RunMode run_mode(const Scope& scope) {
  const Model& model = scope.model();
  const NameFlags replays(scope.trace(), is_graph_launch);
  std::int64_t works = 0, generated = 0, bare = 0;
  for_each_work(scope, [&](const Device&, const WorkRow& work) {
    ++works;
    const KernelIdentity& identity = model.identities()[work.row];
    generated += identity.library == "inductor";
    const NodeId launch = model.links().launch[work.row];
    const bool replayed =
        replays.any() && launch != kNoNode && replays[scope.trace().events.name(model.tree().event[launch.value])];
    bare += replayed || (model.links().op[work.row] == kNoNode && !model.links().is_inherited(work.row));
  });
  const auto iterations = static_cast<double>(std::max<std::size_t>(1, scope.iterations().size()));
  return {static_cast<double>(generated) / iterations, bare * 2 >= works && bare > 0};
}

bool is_mixed(RunMode a, RunMode b) {
  constexpr double kMuchLess = 4;
  return std::max(a.generated, b.generated) > kMuchLess * std::min(a.generated, b.generated);
}

Grain common_grain(RunMode a, RunMode b) {
  if (is_mixed(a, b)) return Grain::op;
  return a.bare || b.bare ? Grain::kernel : Grain::call;
}

CallSequence build_sequence(const Scope& scope, Grain grain, TraceEvidence evidence, KeyPool& pool) {
  CallSequence out;
  out.has_phases = evidence.phases;
  const IterationIndex iterations(scope);
  const std::vector<Item> items = items_of(scope, grain, evidence.phases, iterations, &out.orphans);
  out.work.reserve(items.size());
  for (const Item& item : items) out.work.push_back(item.row);
  KindTable kinds(scope, evidence.places, pool, &out.kinds);
  Regions regions(scope, pool, &out.region_names);
  std::uint32_t iteration = 0;
  out.first_call.push_back(0);
  std::size_t with_shapes = 0, with_ops = 0;
  for (std::size_t i = 0; i < items.size();) {
    for (; iteration < items[i].iteration; ++iteration) out.first_call.push_back(static_cast<std::uint32_t>(out.calls.size()));
    std::size_t end = i + 1;
    if (items[i].owner != kNoNode) {
      while (end < items.size() && items[end].is_same_call(items[i])) ++end;
    } else if (grain == Grain::op) {
      end = end_of_bare_call(scope, items, i);
    }
    const std::span<const std::uint32_t> rows(out.work.data() + i, end - i);
    const std::uint32_t kind = kinds.kind_of(items[i].owner, items[i].shown, items[i].phase, items[i].device, rows);
    out.calls.push_back({kind, regions.of(items[i].launch, items[i].phase), static_cast<std::uint32_t>(i),
                         static_cast<std::uint32_t>(end - i)});
    with_ops += out.kinds[kind].op != kNoKey;
    with_shapes += out.kinds[kind].dims != kNoKey;
    out.has_modules = out.has_modules || out.kinds[kind].module != kNoKey;
    out.has_grids = out.has_grids || out.kinds[kind].grids != 0;
    i = end;
  }
  while (out.first_call.size() <= iterations.count()) out.first_call.push_back(static_cast<std::uint32_t>(out.calls.size()));
  out.has_shapes = with_shapes * 2 > with_ops && with_shapes > 0;
  return out;
}

}  // namespace ridge::diff
