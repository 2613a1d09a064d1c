// What the files of features share: codes of types, and the tensors of a call one by one. Internal to call_features.
#pragma once

#include <string_view>

#include "ops/op_call.h"

namespace ridge::features {

inline bool is_backward(std::string_view op) { return op.find("backward") != std::string_view::npos; }

float type_code(DType type);

template <class Visit>
void each_tensor(const OpCall& call, Visit visit) {
  for (const OpArgument& a : call.arguments) {
    if (a.kind == OpArgument::Kind::tensor) visit(a.tensor);
    for (const TensorShape& t : a.list) visit(t);
  }
}

}  // namespace ridge::features
