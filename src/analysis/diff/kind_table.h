// KindTable: kinds of calls by what the trace says of them, each made once.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/diff/call_kind.h"
#include "facts/scope.h"
#include "trace/tables.h"

namespace ridge::diff {

class KindTable {
 public:
  // `places`: tell calls apart by the module that makes them. Kinds are put behind those of `out`.
  KindTable(const Scope& scope, bool places, KeyPool& pool, std::vector<CallKind>* out);

  // The index of the kind of a call that launched these rows of device work. `owner`: the op, or kNoNode; `shown`: the op to
  // name it by where the owner does not count.
  std::uint32_t kind_of(NodeId owner, NodeId shown, Phase phase, std::uint32_t device, std::span<const std::uint32_t> rows);

 private:
  Key key_of(StringId id);
  CallKind make(StringId name, StringId dims, std::string_view module, Phase phase, std::uint32_t device,
                std::span<const std::uint32_t> rows);
  void add_kernels(std::span<const std::uint32_t> rows, CallKind* kind);
  void name_work(CallKind* kind);
  void name_canonical(const std::string& canonical, CallKind* kind);
  void name_generated(const KernelIdentity& identity, CallKind* kind);

  const Scope& scope_;
  const Trace& trace_;
  const CallTree& tree_;
  OpTable ops_;
  DeviceWorkTable work_;
  const Locations* places_;
  KeyPool& pool_;
  std::vector<Key> keys_;  // by StringId, filled when asked for
  std::unordered_map<std::uint64_t, std::uint32_t> kinds_;
  std::vector<CallKind>* out_;
};

}  // namespace ridge::diff
