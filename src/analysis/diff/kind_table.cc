// What is worked out once per kind of call: canonical name, shapes, kernels, and which ops a generated kernel fuses.
#include "analysis/diff/kind_table.h"

#include <algorithm>

namespace ridge::diff {
namespace {

// Of the kernel that says most about the call: matrix work, then anything that is no helper.
Category main_category(const CallKind& kind) {
  const auto rank = [](const KernelSlot& slot) {
    const Category c = slot.identity->category;
    if (slot.identity->helper || c == Category::memset || c == Category::memcpy) return 0;
    return c == Category::gemm || c == Category::conv || c == Category::attention || c == Category::triton_template ? 2 : 1;
  };
  const auto best = std::max_element(kind.kernels.begin(), kind.kernels.end(),
                                     [&](const KernelSlot& a, const KernelSlot& b) { return rank(a) < rank(b); });
  return best == kind.kernels.end() ? Category::other : best->identity->category;
}

}  // namespace

bool CallKind::fuses(Key canonical_name) const {
  return canonical_name != kNoKey && std::binary_search(fused.begin(), fused.end(), canonical_name);
}

KindTable::KindTable(const Scope& scope, bool places, KeyPool& pool, std::vector<CallKind>* out)
    : scope_(scope),
      trace_(scope.trace()),
      tree_(scope.model().tree()),
      ops_(ops(trace_)),
      work_(device_work(trace_)),
      places_(places ? &scope.model().locations() : nullptr),
      pool_(pool),
      keys_(trace_.strings.size()),
      out_(out) {}

std::uint32_t KindTable::kind_of(NodeId owner, NodeId shown, Phase phase, std::uint32_t device,
                                 std::span<const std::uint32_t> rows) {
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
  if (shown != owner) key = combine(key, trace_.events.name(tree_.event[shown.value]).value);
  const auto [it, is_new] = kinds_.try_emplace(key, static_cast<std::uint32_t>(out_->size()));
  if (is_new) {
    out_->push_back(make(name, dims, module, phase, device, rows));
    if (shown != kNoNode) out_->back().op_text = trace_.text(trace_.events.name(tree_.event[shown.value]));
  }
  return it->second;
}

Key KindTable::key_of(StringId id) {
  Key& key = keys_[id.value];
  if (key == kNoKey) key = pool_.of(trace_.text(id));
  return key;
}

CallKind KindTable::make(StringId name, StringId dims, std::string_view module, Phase phase, std::uint32_t device,
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

void KindTable::add_kernels(std::span<const std::uint32_t> rows, CallKind* kind) {
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
    kind->untuned_names = combine(kind->untuned_names, pool_.of(untuned_name(kind->kernels.back().text)));
    with_grids = combine(combine(with_grids, key), key_of(grid));
    grids_known = grids_known && (grid.value != 0 || trace_.kind(event).work != DeviceWork::kernel);
  }
  if (grids_known) kind->grids = with_grids;
  kind->category = main_category(*kind);
}

void KindTable::name_work(CallKind* kind) {
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

void KindTable::name_canonical(const std::string& canonical, CallKind* kind) {
  const std::string_view sort = heavy_sort(canonical);
  kind->canonical = pool_.of(canonical);
  kind->list_of = pool_.of(listed_op(canonical));
  kind->sort = pool_.of(sort);
  kind->heavy = heavy_of(canonical);
  if (kind->heavy != Heavy::none) kind->heavy_shape = heavy_shape(sort, canonical, kind->shapes);
}

void KindTable::name_generated(const KernelIdentity& identity, CallKind* kind) {
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

}  // namespace ridge::diff
