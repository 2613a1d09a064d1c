// Element by element: each input once, with its own type, broadcast dimensions once; the broadcast shape written.
// A row says how many tensors the op reads: `.out` forms list the result behind them. Ops that are not here but run an elementwise kernel
// read every tensor that they are given.
#include <algorithm>
#include <array>

#include "ops/operands.h"

namespace ridge {
namespace {

bool in_place(const OpCall& call) {
  const std::string_view name = call.op.substr(0, call.op.find('.'));
  return name.ends_with('_') && !name.ends_with("__");
}

// Reads the first `inputs` tensors (all of them when negative).
OpWork elementwise(const OpCall& call, const Part& part, int inputs, bool gives_bool = false) {
  OpWork work{.flops = 0};
  if (part.role == KernelRole::initialise) return moves(0, 0, work.dtype);
  double read = 0;
  int seen = 0, from_memory = 0;
  const TensorShape shape = broadcast(call, inputs);
  const TensorShape* out = nullptr;
  for (const OpArgument& a : call.arguments) {
    if (a.kind != OpArgument::Kind::tensor) continue;
    // By the op's schema, or by what its kernel is told: constants of the call are no tensors there.
    const bool beyond_kernel = part.inputs >= 0 && from_memory == part.inputs && !is_scalar(a.tensor);
    if ((inputs >= 0 && seen == inputs) || beyond_kernel) {
      if (numel(a.tensor) > 0) out = &a.tensor;  // the result, where it was given
      break;
    }
    ++seen;
    if (a.tensor.dtype == DType::unknown) return work;
    if (!is_scalar(a.tensor)) {
      read += walked_bytes(a.tensor, shape, part.cache);
      ++from_memory;
    }
  }
  if (seen == 0) return work;
  work.dtype = shape.dtype;
  work.read = read;
  const TensorShape* self = tensor_at(call, 0);
  const bool self_written = in_place(call) && self != nullptr;
  if (part.role == KernelRole::fill) {
    work.read = 0;
    work.written = dense_bytes(&shape);
  } else if (self_written) {
    work.written = touched(self);
  } else if (out != nullptr) {
    work.written = touched(out);
  } else {
    work.written = numel(shape) * (gives_bool ? 1 : item_bytes(shape.dtype));
  }
  return work;
}

template <int inputs>
OpWork reads(const OpCall& c, const Part& p) {
  return elementwise(c, p, inputs);
}
template <int inputs>
OpWork compares(const OpCall& c, const Part& p) {
  return elementwise(c, p, inputs, true);
}
// As many as the kernel's name says, else every tensor.
OpWork general(const OpCall& c, const Part& p) {
  OpWork work = elementwise(c, p, -1);
  work.ambiguous = !c.op.starts_with("aten::");
  return work;
}

// (x, p, train): writes the result and a mask of bytes.
OpWork native_dropout(const OpCall& c, const Part& p) {
  OpWork work = elementwise(c, p, 1);
  if (work.written) *work.written += numel(*tensor_at(c, 0));
  return work;
}

constexpr OpFamily kFamily = OpFamily::pointwise;

constexpr std::string_view kUnary[] = {
    "abs",          "acos",          "acosh",
    "angle",        "asin",          "asinh",
    "atan",         "atanh",         "bitwise_not",
    "ceil",         "celu",          "clamp_max",
    "clamp_min",    "conj_physical", "cos",
    "cosh",         "deg2rad",       "digamma",
    "elu",          "erf",           "erfc",
    "erfinv",       "exp",           "exp2",
    "expm1",        "floor",         "frac",
    "gelu",         "hardshrink",    "hardsigmoid",
    "hardswish",    "hardtanh",      "leaky_relu",
    "lgamma",       "log",           "log10",
    "log1p",        "log2",          "log_sigmoid",
    "logit",        "mish",          "nan_to_num",
    "neg",          "positive",      "reciprocal",
    "relu",         "relu6",         "round",
    "rsqrt",        "selu",          "sgn",
    "sigmoid",      "sign",          "silu",
    "sin",          "sinc",          "sinh",
    "softplus",     "softshrink",    "sqrt",
    "square",       "tan",           "tanh",
    "threshold",    "trunc",         "i0",
    "special_entr", "glu",           "log_sigmoid_forward",
    "frexp",
};
constexpr std::string_view kUnaryToBool[] = {"isfinite", "isinf", "isnan", "isneginf", "isposinf", "logical_not", "signbit"};
constexpr std::string_view kBinary[] = {
    "add",
    "sub",
    "mul",
    "div",
    "rsub",
    "pow",
    "atan2",
    "fmod",
    "remainder",
    "maximum",
    "minimum",
    "fmax",
    "fmin",
    "hypot",
    "copysign",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "bitwise_left_shift",
    "bitwise_right_shift",
    "logaddexp",
    "logaddexp2",
    "xlogy",
    "heaviside",
    "floor_divide",
    "true_divide",
    "gelu_backward",
    "silu_backward",
    "sigmoid_backward",
    "tanh_backward",
    "threshold_backward",
    "hardtanh_backward",
    "leaky_relu_backward",
    "elu_backward",
    "hardswish_backward",
    "hardsigmoid_backward",
    "mish_backward",
    "softplus_backward",
    "softshrink_backward",
    "hardshrink_backward",
    "glu_backward",
    "prelu",
    "_prelu_kernel",
    "polar",
    "complex",
    "native_dropout_backward",
    "_masked_scale",
    "masked_fill",
    "ldexp",
    "gcd",
    "nextafter",
    "logit_backward",
    "_add_relu",
    "addr",
    "__and__",
    "__or__",
    "__xor__",
    "dropout_backward",
};
constexpr std::string_view kBinaryToBool[] = {
    "eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "logical_xor", "isclose",
};
constexpr std::string_view kTernary[] = {
    "addcmul", "addcdiv", "where", "lerp", "clamp", "_prelu_kernel_backward", "log_sigmoid_backward",
};

template <std::size_t N>
void add_rows(const std::string_view (&names)[N], OpWork (*work)(const OpCall&, const Part&), std::vector<OpFormula>* rows,
              std::vector<std::string>* texts) {
  for (const std::string_view name : names) {
    texts->push_back("aten::" + std::string(name));
    rows->push_back({{}, kFamily, work});
  }
}

struct Table {
  std::vector<std::string> texts;
  std::vector<OpFormula> rows;
  Table() {
    add_rows(kUnary, reads<1>, &rows, &texts);
    add_rows(kUnaryToBool, compares<1>, &rows, &texts);
    add_rows(kBinary, reads<2>, &rows, &texts);
    add_rows(kBinaryToBool, compares<2>, &rows, &texts);
    add_rows(kTernary, reads<3>, &rows, &texts);
    texts.emplace_back("aten::native_dropout");
    rows.push_back({{}, kFamily, native_dropout});
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i].op = texts[i];
  }
};

constexpr OpFormula kGeneral{"", kFamily, general};

}  // namespace

std::span<const OpFormula> pointwise_ops() {
  static const Table table;
  return table.rows;
}

const OpFormula& general_pointwise() { return kGeneral; }

}  // namespace ridge
