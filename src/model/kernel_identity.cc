#include "model/kernel_identity.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "base/hash.h"
#include "model/kernel_name.h"
#include "model/kernel_rules.h"
#include "ops/known_ops.h"
#include "trace/tables.h"

namespace ridge {
namespace {

constexpr std::string_view kCategoryNames[] = {
    "triton_pointwise",
    "triton_reduction",
    "triton_persistent_reduction",
    "triton_template",
    "triton_foreach",
    "triton_split_scan",
    "triton_user",
    "triton_other",
    "gemm",
    "conv",
    "attention",
    "norm",
    "elementwise",
    "reduction",
    "layout",
    "optimizer",
    "comm",
    "memcpy",
    "memset",
    "other",
};
static_assert(std::size(kCategoryNames) == kCategories);

using enum Category;

// What the launching op says where the kernel's name alone is not enough.
struct OpRule {
  std::string_view op_has;
  Category from;
  Category to;
};
constexpr OpRule kOpRules[] = {
    {"conv", gemm, conv},  // cuDNN and MIOpen use plain GEMM kernels
    {"attention", other, attention},
    {"_fused_adam", elementwise, optimizer},
    {"_fused_sgd", elementwise, optimizer},
};

// "triton_poi_fused__to_copy_add_3" -> "_to_copy_add". Old releases end the name in "_0d1d2de" and the like.
std::string_view fused_part(std::string_view name) {
  const std::size_t fused = name.find("_fused_");
  if (fused == std::string_view::npos) return {};
  std::string_view part = name.substr(fused + 7);
  while (!part.empty()) {
    const std::size_t underscore = part.rfind('_');
    const std::string_view tail = part.substr(underscore == std::string_view::npos ? 0 : underscore + 1);
    if (tail.empty() || tail.find_first_not_of("0123456789dce") != std::string_view::npos || tail[0] < '0' || tail[0] > '9')
      break;
    part = part.substr(0, underscore == std::string_view::npos ? 0 : underscore);
  }
  return part;
}

// "triton_" and "triton__0d1d2d3de": a name that tells nothing.
bool is_short_triton(std::string_view name) {
  return name.starts_with("triton_") && name.find_first_not_of("_0123456789dce", 6) == std::string_view::npos;
}

KernelIdentity inductor_identity(std::string_view name, const KernelRule& rule) {
  KernelIdentity identity{rule.category, rule.library, std::string(name), {}, false};
  identity.fused_ops = split_op_names(fused_part(name));
  return identity;
}

// A Python function's name: what a Triton kernel of the user has.
bool looks_like_python(const KernelName& name) {
  return name.plain && !name.base.empty() && (name.base[0] < '0' || name.base[0] > '9');
}

KernelIdentity user_triton(std::string_view name) { return {triton_user, "triton", std::string(name), {}, false}; }

LaunchHint hint_of(const Trace& trace, const CallTree& tree, const OpTable& ops_table, NodeId launch, NodeId op) {
  if (op != kNoNode) {
    const auto backend = ops_table.kernel_backend.text(tree.event[op.value]);
    if (backend && trace.text(*backend) == "triton") return LaunchHint::triton_op;
  }
  if (launch == kNoNode) return LaunchHint::none;
  const std::string_view call = trace.text(trace.events.name(tree.event[launch.value]));
  return call.starts_with("cuLaunchKernel") || call == "hipModuleLaunchKernel" ? LaunchHint::driver_call : LaunchHint::none;
}

struct IdentityKey {
  StringId name, op;
  DeviceWork work;
  LaunchHint hint;
  bool operator==(const IdentityKey&) const = default;
};
struct IdentityKeyHash {
  std::size_t operator()(const IdentityKey& key) const {
    const std::uint64_t names = static_cast<std::uint64_t>(key.name.value) << 32 | key.op.value;
    return mix64(names,
                 0x9E3779B97F4A7C15 + static_cast<std::uint64_t>(key.hint) * 8 + static_cast<std::uint64_t>(key.work) * 64);
  }
};

}  // namespace

std::string_view name_of(Category category) { return kCategoryNames[static_cast<std::size_t>(category)]; }

KernelIdentity identify_kernel(std::string_view name, DeviceWork work, std::string_view op, LaunchHint hint) {
  if (work == DeviceWork::copy) return {memcpy, "", std::string(name), {}, false};
  if (work == DeviceWork::set) return {memset, "", std::string(name), {}, false};
  if (is_short_triton(name) && op.starts_with("triton_") && op != name) return identify_kernel(op, work, {}, hint);
  const KernelName parts = take_apart(name);
  const KernelRule* rule = find_kernel_rule(parts);
  if (rule != nullptr && rule->library == "inductor") return inductor_identity(name, *rule);
  if (hint == LaunchHint::triton_op) return user_triton(name);
  const bool python = looks_like_python(parts) && work == DeviceWork::kernel;
  if (rule == nullptr && python && (hint == LaunchHint::driver_call || name.starts_with("_"))) return user_triton(name);
  KernelIdentity identity;
  if (rule != nullptr) {
    identity.category = rule->category;
    identity.library = rule->library;
    identity.helper = rule->helper;
    const bool general = parts.head.find("elementwise_kernel") != std::string::npos;  // its name tells less than its functor's
    const std::string_view family = rule->family.empty() && general ? "elementwise" : rule->family;
    const std::string functor = family.empty() ? "" : functor_of(parts.arguments);
    if (!functor.empty()) identity.label = std::string(family) + " " + functor;
  }
  if (identity.label.empty()) identity.label = short_name(parts);
  for (const OpRule& op_rule : kOpRules) {
    if (op_rule.from == identity.category && op.find(op_rule.op_has) != std::string_view::npos) identity.category = op_rule.to;
  }
  return identity;
}

KernelIdentities build_kernel_identities(const Trace& trace, const CallTree& tree, const LaunchLinks& links,
                                         const GraphReplays& replays) {
  const std::span<const EventId> events = trace.of(EventClass::device_work);
  const OpTable ops_table = ops(trace);
  KernelIdentities result;
  result.of_row.resize(events.size());
  std::unordered_map<IdentityKey, std::uint32_t, IdentityKeyHash> known;
  for (std::size_t row = 0; row < events.size(); ++row) {
    const NodeId recovered = replays.recovered_op(row).op;
    const NodeId op = recovered != kNoNode ? recovered : links.op[row];
    const IdentityKey key{trace.events.name(events[row]), op == kNoNode ? StringId{} : trace.events.name(tree.event[op.value]),
                          trace.kind(events[row]).work, hint_of(trace, tree, ops_table, links.launch[row], op)};
    const auto [it, is_new] = known.try_emplace(key, static_cast<std::uint32_t>(result.identities.size()));
    if (is_new) result.identities.push_back(identify_kernel(trace.text(key.name), key.work, trace.text(key.op), key.hint));
    result.of_row[row] = it->second;
  }
  return result;
}

}  // namespace ridge
