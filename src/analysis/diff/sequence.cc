#include "analysis/diff/sequence.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "analysis/diff/regions.h"
#include "analysis/scoped_work.h"
#include "model/name_flags.h"
#include "trace/tables.h"

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

// Iterations of the scope by their starts: what lies between two belongs to the one before it, what is before the first to the first.
class IterationIndex {
 public:
  explicit IterationIndex(const Scope& scope) {
    for (const std::size_t i : scope.iterations()) starts_.push_back(scope.model().iterations().list[i].start_ns);
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

// Kinds of calls by what the trace says of them.
class KindTable {
 public:
  KindTable(const Scope& scope, bool places, KeyPool& pool, CallSequence* out)
      : scope_(scope),
        trace_(scope.trace()),
        tree_(scope.model().tree()),
        ops_(ops(trace_)),
        work_(device_work(trace_)),
        places_(places ? &scope.model().locations() : nullptr),
        pool_(pool),
        keys_(trace_.strings.size()),
        out_(out) {}

  // `owner`: the op, or kNoNode.
  std::uint32_t kind_of(NodeId owner, NodeId shown, Phase phase, std::uint32_t device, std::span<const std::uint32_t> rows) {
    const EventId op = owner == kNoNode ? kNoEvent : tree_.event[owner.value];
    const StringId name = owner == kNoNode ? StringId{} : trace_.events.name(op);
    const StringId dims = owner == kNoNode ? StringId{} : ops_.input_dims.text(op).value_or(StringId{});
    const std::string_view module = places_ == nullptr || owner == kNoNode ? std::string_view() : places_->module_path(owner);
    std::uint64_t key = combine(combine(name.value, dims.value), static_cast<std::uint64_t>(phase) << 32 | device);
    key = combine(key, reinterpret_cast<std::uintptr_t>(module.data()));
    for (const std::uint32_t row : rows) {
      const EventId event = work_.events[row];
      key = combine(key, trace_.events.name(event).value);
      key = combine(key, work_.grid.text(event).value_or(StringId{}).value);
    }
    const auto [it, is_new] = kinds_.try_emplace(key, static_cast<std::uint32_t>(out_->kinds.size()));
    if (is_new) {
      out_->kinds.push_back(make(name, dims, module, phase, device, rows));
      if (shown != kNoNode) out_->kinds.back().op_text = trace_.text(trace_.events.name(tree_.event[shown.value]));
    }
    return it->second;
  }

 private:
  Key key_of(StringId id) {
    Key& key = keys_[id.value];
    if (key == kNoKey) key = pool_.of(trace_.text(id));
    return key;
  }

  CallKind make(StringId name, StringId dims, std::string_view module, Phase phase, std::uint32_t device,
                std::span<const std::uint32_t> rows) {
    CallKind kind;
    kind.op = key_of(name);
    kind.op_text = trace_.text(name);
    kind.phase = phase;
    kind.device = device;
    kind.module = pool_.of(module);
    kind.module_text = module;
    kind.dims = key_of(dims);
    kind.dims_text = trace_.text(dims);
    if (kind.dims != kNoKey) kind.shapes = parse_shapes(kind.dims_text);
    add_kernels(rows, &kind);
    name_work(&kind);
    return kind;
  }

  void add_kernels(std::span<const std::uint32_t> rows, CallKind* kind) {
    bool grids_known = true;
    std::uint64_t with_grids = 1;
    for (const std::uint32_t row : rows) {
      const EventId event = work_.events[row];
      const StringId name = trace_.events.name(event);
      const StringId grid = work_.grid.text(event).value_or(StringId{});
      const KernelIdentity& identity = scope_.model().identities()[row];
      // With unique names off every Triton kernel is called "triton_": the launching op tells them apart.
      const bool nameless = identity.library == "inductor" && identity.label != trace_.text(name);
      const Key key = nameless ? pool_.of(identity.label) : key_of(name);
      kind->kernels.push_back({key, key_of(grid), nameless ? std::string_view(identity.label) : trace_.text(name), &identity});
      kind->kernel_names = combine(kind->kernel_names, key);
      kind->counterless_names = combine(kind->counterless_names, pool_.of(without_counter(kind->kernels.back().text)));
      with_grids = combine(combine(with_grids, key), key_of(grid));
      grids_known = grids_known && (grid.value != 0 || trace_.kind(event).work != DeviceWork::kernel);
    }
    if (grids_known) kind->grids = with_grids;
    kind->category = main_category(*kind);
  }

  // Of the kernel that says most about the call: matrix work, then anything that is no helper.
  static Category main_category(const CallKind& kind) {
    const auto rank = [](const KernelSlot& slot) {
      const Category c = slot.identity->category;
      if (slot.identity->helper || c == Category::memset || c == Category::memcpy) return 0;
      return c == Category::gemm || c == Category::conv || c == Category::attention || c == Category::triton_template ? 2 : 1;
    };
    const auto best = std::max_element(kind.kernels.begin(), kind.kernels.end(),
                                       [&](const KernelSlot& a, const KernelSlot& b) { return rank(a) < rank(b); });
    return best == kind.kernels.end() ? Category::other : best->identity->category;
  }

  void name_work(CallKind* kind) {
    const bool triton = kind->op_text.starts_with("triton_") || kind->op == kNoKey;
    const KernelIdentity* inductor = nullptr;
    for (const KernelSlot& slot : kind->kernels) {
      if (triton && slot.identity->library == "inductor") inductor = slot.identity;
    }
    if (inductor != nullptr) {
      name_generated(*inductor, kind);
    } else if (kind->op != kNoKey) {
      name_canonical(canonical_op(kind->op_text), kind);
    } else if (kind->category == Category::gemm || kind->category == Category::conv) {
      kind->heavy = Heavy::matrix;
    } else if (kind->category == Category::attention) {
      kind->heavy = Heavy::attention;
    }
  }

  void name_canonical(const std::string& canonical, CallKind* kind) {
    const std::string_view sort = heavy_sort(canonical);
    kind->canonical = pool_.of(canonical);
    kind->list_of = pool_.of(listed_op(canonical));
    kind->sort = pool_.of(sort);
    kind->heavy = heavy_of(canonical);
    if (kind->heavy != Heavy::none) kind->heavy_shape = heavy_shape(sort, canonical, kind->shapes);
  }

  void name_generated(const KernelIdentity& identity, CallKind* kind) {
    const bool is_template = identity.category == Category::triton_template;
    for (const std::string& op : identity.fused_ops) {
      const std::string canonical = canonical_op(op);
      if (heavy_of(canonical) == Heavy::none) {
        kind->fused.push_back(pool_.of(canonical));
      } else if (is_template && kind->heavy == Heavy::none) {
        name_canonical(canonical, kind);
        kind->heavy_shape = 0;  // its arguments are in an order of their own
      } else if (!is_template) {
        kind->sort = pool_.of(heavy_sort(canonical));  // laid out for it, or worked on its result
      }
    }
    std::sort(kind->fused.begin(), kind->fused.end());
    kind->fused.erase(std::unique(kind->fused.begin(), kind->fused.end()), kind->fused.end());
    kind->generated = !is_template || kind->heavy == Heavy::none;
    if (is_template && kind->heavy == Heavy::none) kind->generated = true;
  }

  const Scope& scope_;
  const Trace& trace_;
  const CallTree& tree_;
  OpTable ops_;
  DeviceWorkTable work_;
  const Locations* places_;
  KeyPool& pool_;
  std::vector<Key> keys_;  // by StringId, filled when asked for
  std::unordered_map<std::uint64_t, std::uint32_t> kinds_;
  CallSequence* out_;
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
      // A replay's launch stands for all its kernels: the op around it made none of them. Which did may be known from elsewhere in the trace.
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

bool CallKind::fuses(Key canonical_name) const {
  return canonical_name != kNoKey && std::binary_search(fused.begin(), fused.end(), canonical_name);
}

bool has_places(const Trace& trace) {
  return NameFlags(trace, [](std::string_view name) { return name.starts_with("nn.Module: "); }).any();
}

namespace {

// Whether some work is known to be of the backward pass or the optimizer. A graph that was captured of a whole step is replayed in none of them.
bool tells_phases(const Scope& scope) {
  const Model& model = scope.model();
  const std::vector<Phase> phases = build_phases(scope.trace(), model.tree());
  bool any = false;
  for_each_work(scope, [&](const Device&, const WorkRow& work) {
    const NodeId recovered = model.graph_replays().recovered_op(work.row).op;
    const NodeId node = recovered != kNoNode ? recovered : model.links().launch[work.row];
    any = any || (node != kNoNode && phases[node.value] != Phase::forward);
  });
  return any;
}

}  // namespace

RunMode run_mode(const Scope& scope) {
  const Model& model = scope.model();
  const NameFlags replays(scope.trace(), is_graph_launch);
  std::int64_t works = 0, generated = 0, replayed = 0;
  for_each_work(scope, [&](const Device&, const WorkRow& work) {
    ++works;
    const KernelIdentity& identity = model.identities()[work.row];
    generated += identity.library == "inductor";
    const NodeId launch = model.links().launch[work.row];
    replayed += replays.any() && launch != kNoNode && replays[scope.trace().events.name(model.tree().event[launch.value])];
  });
  const auto iterations = static_cast<double>(std::max<std::size_t>(1, scope.iterations().size()));
  RunMode mode{static_cast<double>(generated) / iterations, replayed * 2 >= works && replayed > 0, true};
  if (mode.replayed) mode.phases = tells_phases(scope);
  return mode;
}

bool is_mixed(RunMode a, RunMode b) {
  constexpr double kMuchLess = 4;
  return std::max(a.generated, b.generated) > kMuchLess * std::min(a.generated, b.generated);
}

Grain common_grain(RunMode a, RunMode b) {
  if (is_mixed(a, b)) return Grain::op;
  return a.replayed || b.replayed ? Grain::kernel : Grain::call;
}

CallSequence build_sequence(const Scope& scope, Grain grain, Told told, KeyPool& pool) {
  CallSequence out;
  const IterationIndex iterations(scope);
  const std::vector<Item> items = items_of(scope, grain, told.phases, iterations, &out.orphans);
  out.work.reserve(items.size());
  for (const Item& item : items) out.work.push_back(item.row);
  KindTable kinds(scope, told.places, pool, &out);
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
