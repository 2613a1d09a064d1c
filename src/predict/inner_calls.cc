// By op, as seen in profiles of PyTorch 2.11.
#include "predict/inner_calls.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "ops/operands.h"
#include "predict/feature_values.h"

namespace ridge::features {
namespace {

OpArgument tensor_argument(TensorShape shape) {
  OpArgument argument;
  argument.kind = OpArgument::Kind::tensor;
  argument.tensor = std::move(shape);
  return argument;
}

OpCall call_of(std::string_view op, std::vector<OpArgument> arguments) {
  OpCall call;
  call.op = op;
  call.arguments = std::move(arguments);
  call.has_shapes = call.has_constants = true;
  return call;
}

OpCall fill_of(std::vector<std::int64_t> sizes, DType dtype) {
  return call_of("aten::fill_", {tensor_argument({std::move(sizes), {}, dtype}), OpArgument()});
}

OpCall copy_of(const TensorShape& to, const TensorShape& from) {
  return call_of("aten::copy_", {tensor_argument(to), tensor_argument(from)});
}

std::string_view inner_name(std::string_view op) {
  const std::size_t colons = op.rfind("::");
  if (colons != std::string_view::npos) op.remove_prefix(colons + 2);
  return op.substr(0, op.find('.'));
}

template <std::size_t n>
bool is_one_of(std::string_view op, const std::array<std::string_view, n>& names) {
  return std::ranges::find(names, op) != names.end();
}

bool lies_in_order(const TensorShape& t) {
  if (t.strides.size() != t.sizes.size()) return true;
  std::int64_t expected = 1;
  for (std::size_t i = t.sizes.size(); i-- > 0;) {
    if (t.sizes[i] == 1) continue;
    if (t.strides[i] != expected) return false;
    expected *= t.sizes[i];
  }
  return true;
}

// Written into zeros: a gradient of which the op sets or adds to some elements.
std::optional<OpCall> zeros_of(const OpCall& call, std::string_view op) {
  constexpr std::array<std::string_view, 5> kLikeSecond = {"nll_loss_backward", "nll_loss2d_backward",
                                                           "max_pool2d_with_indices_backward", "_adaptive_avg_pool2d_backward",
                                                           "avg_pool3d_backward"};
  if (is_one_of(op, kLikeSecond)) {
    const TensorShape* x = tensor_at(call, 1);
    if (x == nullptr) return std::nullopt;
    return fill_of(x->sizes, x->dtype);
  }
  if (op != "embedding_dense_backward") return std::nullopt;
  const TensorShape* gradient = tensor_at(call, 0);
  const auto rows = number_at(call, 2);
  if (gradient == nullptr || gradient->sizes.empty() || !rows) return std::nullopt;
  return fill_of({static_cast<std::int64_t>(*rows), gradient->sizes.back()}, gradient->dtype);
}

// Ops whose kernels want rows one behind the other.
bool wants_order(std::string_view op) {
  constexpr std::array<std::string_view, 6> kOps = {"native_layer_norm", "native_layer_norm_backward",
                                                    "_fused_rms_norm",   "_fused_rms_norm_backward",
                                                    "_softmax",          "_log_softmax"};
  return is_one_of(op, kOps);
}

InnerCalls in_order(const OpCall& call) {
  InnerCalls out;
  out.own = call;
  const std::size_t count = std::min<std::size_t>(is_backward(call.op) ? 2 : 1, call.arguments.size());
  for (std::size_t i = 0; i < count; ++i) {
    TensorShape& t = out.own->arguments[i].tensor;
    if (out.own->arguments[i].kind != OpArgument::Kind::tensor || lies_in_order(t)) continue;
    TensorShape dense{t.sizes, {}, t.dtype};
    out.others.push_back(copy_of(dense, t));
    t = std::move(dense);
  }
  return out;
}

// (gradient, sizes, ..): zeros, and the gradient copied into a part of them.
std::optional<InnerCalls> placed_in_zeros(const OpCall& call) {
  const TensorShape* gradient = tensor_at(call, 0);
  const auto sizes = integers_at(call, 1);
  if (gradient == nullptr || !sizes || sizes->empty()) return std::nullopt;
  TensorShape whole{*sizes, {}, gradient->dtype};
  InnerCalls out;
  out.others.push_back(fill_of(*sizes, gradient->dtype));
  TensorShape part = *gradient;
  part.strides.assign(part.sizes.size(), 1);
  // As the zeros lie; a dimension that was picked from is not there any more.
  std::size_t at = sizes->size();
  std::int64_t stride = 1;
  for (std::size_t i = part.sizes.size(); i-- > 0;) {
    while (at > i + 1 + (sizes->size() - part.sizes.size())) stride *= (*sizes)[--at];
    part.strides[i] = stride;
    if (at > 0) stride *= (*sizes)[--at];
  }
  out.others.push_back(copy_of(part, *gradient));
  return out;
}

// The same op into a copy of its first tensor.
std::optional<InnerCalls> into_a_copy(const OpCall& call, std::string_view in_place_op) {
  const TensorShape* x = tensor_at(call, 0);
  if (x == nullptr) return std::nullopt;
  InnerCalls out;
  if (in_place_op.empty()) {
    out.own = call;
    out.others.push_back(copy_of(*x, *x));
    return out;
  }
  OpCall changed = call;
  changed.op = in_place_op;
  out.others.push_back(std::move(changed));
  out.others.push_back(copy_of(*x, *x));
  return out;
}

// A softmax that gives zeros for rows of which nothing is left.
std::optional<InnerCalls> safe_softmax(const OpCall& call) {
  const TensorShape* x = tensor_at(call, 0);
  if (x == nullptr || x->sizes.empty()) return std::nullopt;
  const TensorShape flags{x->sizes, {}, DType::boolean};
  TensorShape of_rows = flags;
  of_rows.sizes.back() = 1;
  OpCall softmax = call, all = call;
  softmax.op = "aten::_softmax";
  all.op = "aten::all";
  all.arguments.front() = tensor_argument(flags);
  InnerCalls out;
  out.others = {std::move(softmax), call_of("aten::isneginf", {tensor_argument(*x)}), std::move(all),
                call_of("aten::where", {tensor_argument(of_rows), OpArgument(), tensor_argument({x->sizes, {}, x->dtype})})};
  return out;
}

}  // namespace

std::optional<InnerCalls> inner_calls(const OpCall& call) {
  const std::string_view op = inner_name(call.op);
  if (!call.has_shapes) return std::nullopt;
  if (auto zeros = zeros_of(call, op)) return InnerCalls{{std::move(*zeros)}, call};
  if (op == "slice_backward" || op == "select_backward") return placed_in_zeros(call);
  if (op == "masked_fill") return into_a_copy(call, "aten::masked_fill_");
  constexpr std::array<std::string_view, 3> kIntoCopies = {"index_add", "scatter", "scatter_add"};
  if (is_one_of(op, kIntoCopies)) return into_a_copy(call, {});
  if (op == "_safe_softmax") return safe_softmax(call);
  if (op == "_softmax_backward_data" && tensor_at(call, 1) != nullptr && tensor_at(call, 0) != nullptr)
    return InnerCalls{{call_of("aten::mul", {call.arguments[0], call.arguments[1]})}, call};
  if (!wants_order(op)) return std::nullopt;
  InnerCalls out = in_order(call);
  if (out.others.empty()) return std::nullopt;
  return out;
}

}  // namespace ridge::features
