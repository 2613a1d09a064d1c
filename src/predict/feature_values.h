// What the files of features share: codes of types, and the tensors of a call one by one. Internal to call_features.
#pragma once

#include <cstdint>
#include <string_view>

#include "ops/op_call.h"

namespace ridge::features {

inline bool is_backward(std::string_view op) { return op.find("backward") != std::string_view::npos; }

float type_code(DType type);

// The largest power of two, up to 64, that divides a size: libraries choose kernels by it.
inline float alignment(double size) {
  const auto n = static_cast<std::int64_t>(size);
  if (n <= 0) return 0;
  float power = 0;
  for (std::int64_t at = 2; at <= 64 && n % at == 0; at *= 2) ++power;
  return power;
}

// Over which part of the first tensor a call goes: sizes before, within and behind the dimensions it names.
struct Span {
  double outer = 1, along = 1, inner = 1;
};

// Images whose channels lie next to each other.
bool channels_last(const TensorShape& t);

// Of a norm's backward: whether the gradients of weight or bias are asked for.
bool asks_for_weights(const OpCall& call, std::string_view op);

// What the call takes however little it moves; `x`: the tensor that it goes over.
double serial_time(const OpCall& call, std::string_view op, std::string_view kind, const Span& span, const TensorShape* x,
                   double multiprocessors);

template <class Visit>
void each_tensor(const OpCall& call, Visit visit) {
  for (const OpArgument& a : call.arguments) {
    if (a.kind == OpArgument::Kind::tensor) visit(a.tensor);
    for (const TensorShape& t : a.list) visit(t);
  }
}

}  // namespace ridge::features
