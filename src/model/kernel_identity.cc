// The rules by which an op or a launch decides, and one identity per kernel, op and way of launching.
#include "model/kernel_identity.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "base/hash.h"
#include "trace/tables.h"
#include "trace/vendor_work.h"

namespace ridge {
namespace {

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

KernelIdentity identify_kernel(std::string_view name, DeviceWork work, std::string_view op, LaunchHint hint) {
  if (work == DeviceWork::copy) return {memcpy, "", std::string(name), {}, false};
  if (work == DeviceWork::set) return {memset, "", std::string(name), {}, false};
  if (is_short_triton(name) && op.starts_with("triton_") && op != name) return identify_kernel(op, work, {}, hint);
  KernelIdentity identity = describe_kernel(name);
  if (identity.library == "inductor") return identity;
  if (hint == LaunchHint::triton_op) return describe_user_triton(name);
  const bool python = identity.python && work == DeviceWork::kernel;
  if (!identity.known && python && (hint == LaunchHint::driver_call || name.starts_with("_")))
    return describe_user_triton(name);
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
    const RecoveredOp recovered = replays.recovered_op(row);
    const NodeId op = recovered.op != kNoNode ? recovered.op : links.op[row];
    const NodeId launch = recovered.launch != kNoNode ? recovered.launch : links.launch[row];
    const IdentityKey key{trace.events.name(events[row]), op == kNoNode ? StringId{} : trace.events.name(tree.event[op.value]),
                          work_of(trace, events[row]), hint_of(trace, tree, ops_table, launch, op)};
    const auto [it, is_new] = known.try_emplace(key, static_cast<std::uint32_t>(result.identities.size()));
    if (is_new) result.identities.push_back(identify_kernel(trace.text(key.name), key.work, trace.text(key.op), key.hint));
    result.of_row[row] = it->second;
  }
  return result;
}

}  // namespace ridge
