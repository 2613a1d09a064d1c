// Tensors of which a kernel reads every few elements: columns of rows, the real part of complex numbers. Memory hands out whole
// sectors, so that such a read moves several times what it uses.
#pragma once

#include "ops/op_call.h"

namespace ridge {

// No dimension lies dense, and none repeats itself.
inline bool lies_apart(const TensorShape& t) {
  if (t.strides.size() != t.sizes.size()) return false;  // not recorded
  bool wide = false;
  for (std::size_t i = 0; i < t.sizes.size(); ++i) {
    if (t.sizes[i] <= 1) continue;
    if (t.strides[i] < 2) return false;
    wide = true;
  }
  return wide;
}

inline bool has_apart(const OpCall& call) {
  for (const OpArgument& argument : call.arguments) {
    if (argument.kind == OpArgument::Kind::tensor && lies_apart(argument.tensor)) return true;
  }
  return false;
}

}  // namespace ridge
