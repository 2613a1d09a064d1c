// The distinct calls of a trace's ops: texts of name and arguments to a parsed OpCall, each parsed once.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>

#include "base/hash.h"
#include "model/call_tree.h"
#include "ops/op_call.h"
#include "trace/tables.h"

namespace ridge {

class OpSignatures {
 public:
  explicit OpSignatures(const Trace& trace) : trace_(trace), ops_(ops(trace)) {}

  // The id of an op event's call: equal calls have equal ids.
  std::uint32_t of(EventId event);
  const OpCall& call(std::uint32_t id) const { return calls_[id]; }
  const OpTable& table() const { return ops_; }

 private:
  struct Texts {
    StringId name, dims, types, strides, concrete;
    bool operator==(const Texts&) const = default;
  };
  struct TextsHash {
    std::size_t operator()(const Texts& t) const {
      const auto pair = [](StringId a, StringId b) { return static_cast<std::uint64_t>(a.value) << 32 | b.value; };
      return mix64(mix64(pair(t.name, t.dims) ^ 0x9E3779B97F4A7C15, pair(t.types, t.strides) ^ 0xD6E8FEB86659FD93),
                   t.concrete.value + std::uint64_t{0xA0761D6478BD642F});
    }
  };

  const Trace& trace_;
  OpTable ops_;
  std::unordered_map<Texts, std::uint32_t, TextsHash> ids_;
  std::deque<OpCall> calls_;
};

}  // namespace ridge
