// Element by element: each input once, with its own type, broadcast dimensions once; the broadcast shape written.
// A row says how many tensors the op reads: `.out` forms list the result behind them. Ops that are not here but run an
// elementwise kernel read every tensor that they are given.
#include <algorithm>
#include <array>

#include "base/lasting.h"
#include "ops/operands.h"

namespace ridge {
namespace {

// Of what type a new result is, by that of the inputs.
enum class Gives : std::uint8_t {
  input,    // theirs
  boolean,  // one byte
  real,     // theirs where it has fractions; of integers float32, torch's default
  complex,  // a pair of theirs
};

double result_item(DType input, Gives gives) {
  switch (gives) {
    case Gives::boolean: return item_bytes(DType::boolean);
    case Gives::real: return item_bytes(input == DType::unknown || is_floating(input) ? input : DType::f32);
    case Gives::complex: return 2 * item_bytes(input);
    default: return item_bytes(input);
  }
}

// Reads the first `inputs` tensors (all of them when negative).
OpWork elementwise(const OpCall& call, const Part& part, double cache, int inputs, Gives gives = Gives::input) {
  OpWork work{.flops = 0};
  const int of_kernel = part.as<PointwisePart>().inputs;
  if (part.role == KernelRole::initialise) return moves(0, 0, work.dtype);
  double read = 0;
  int seen = 0, from_memory = 0;
  const TensorShape shape = broadcast(call, inputs);
  const TensorShape* out = nullptr;
  for (const OpArgument& a : call.arguments) {
    if (a.kind != OpArgument::Kind::tensor) continue;
    // By the op's schema, or by what its kernel is told: constants of the call are no tensors there.
    const bool beyond_kernel = of_kernel >= 0 && from_memory == of_kernel && !is_scalar(a.tensor);
    if ((inputs >= 0 && seen == inputs) || beyond_kernel) {
      if (numel(a.tensor) > 0) out = &a.tensor;  // the result, where it was given
      break;
    }
    ++seen;
    if (a.tensor.dtype == DType::unknown) return work;
    if (!is_scalar(a.tensor)) {
      read += walked_bytes(a.tensor, shape, cache);
      ++from_memory;
    }
  }
  if (seen == 0) return work;
  work.dtype = shape.dtype;
  work.read = read;
  // abs and angle of complex tensors: the kernel makes complex numbers, of which a copy takes the real parts.
  if (out != nullptr && inputs == 1 && gives != Gives::boolean && is_complex(shape.dtype) && !is_complex(out->dtype))
    out = nullptr;
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
    work.written = numel(shape) * result_item(shape.dtype, gives);
  }
  return work;
}

template <int inputs, Gives gives = Gives::input>
OpWork reads(const OpCall& c, const Part& p, double cache) {
  return elementwise(c, p, cache, inputs, gives);
}
// As many as the kernel's name says, else every tensor. A list may hold what the kernel takes.
OpWork general(const OpCall& c, const Part& p, double cache) {
  if (has_list(c)) return {.flops = 0};
  OpWork work = elementwise(c, p, cache, -1);
  work.ambiguous = !c.op.starts_with("aten::");
  return work;
}

// (x, p, train): writes the result and a mask of bytes.
OpWork native_dropout(const OpCall& c, const Part& p, double cache) {
  OpWork work = elementwise(c, p, cache, 1);
  if (work.written) *work.written += numel(broadcast(c, 1));
  return work;
}

// (x): the mantissa like x, and an int32 exponent.
OpWork frexp(const OpCall& c, const Part& p, double cache) {
  OpWork work = elementwise(c, p, cache, 1);
  if (work.written && p.role == KernelRole::main) *work.written += numel(broadcast(c, 1)) * item_bytes(DType::i32);
  return work;
}

// (grad, x, weight): the gradients of both, the weight's before it is summed over what it was broadcast to.
OpWork prelu_backward(const OpCall& c, const Part& p, double cache) {
  OpWork work = elementwise(c, p, cache, 3);
  if (p.role == KernelRole::main) work.written = times(work.written, 2);
  return work;
}

// (x, y), or (x, y, rounding_mode): a rounded quotient of integers is one. Traces do not hold the mode, only that there is such
// an argument.
OpWork div(const OpCall& c, const Part& p, double cache) {
  const bool rounded = c.arguments.size() > 2 && tensor_at(c, 2) == nullptr;
  return elementwise(c, p, cache, 2, rounded ? Gives::input : Gives::real);
}

// (x, dim): one half gates the other.
OpWork glu(const OpCall& c, const Part& p, double cache) {
  OpWork work = elementwise(c, p, cache, 1);
  if (work.written && tensor_at(c, 2) == nullptr) *work.written /= 2;
  return work;
}
// (grad, x, dim): grad is half as wide as x and as what is written.
OpWork glu_backward(const OpCall& c, const Part& p) {
  const TensorShape* x = tensor_at(c, 1);
  if (x == nullptr) return {.flops = 0};
  if (p.role == KernelRole::initialise) return moves(0, 0, x->dtype);
  return moves(plus(touched(tensor_at(c, 0)), touched(x)), dense_bytes(x), x->dtype);
}

constexpr OpFamily kFamily = OpFamily::pointwise;

constexpr std::string_view kUnary[] = {
    "abs",           "bitwise_not",
    "ceil",          "celu",
    "clamp_max",     "clamp_min",
    "conj_physical", "elu",
    "floor",         "frac",
    "gelu",          "hardshrink",
    "hardsigmoid",   "hardswish",
    "hardtanh",      "leaky_relu",
    "log_sigmoid",   "mish",
    "nan_to_num",    "neg",
    "positive",      "relu",
    "relu6",         "round",
    "selu",          "sgn",
    "sign",          "silu",
    "softplus",      "softshrink",
    "square",        "threshold",
    "trunc",         "log_sigmoid_forward",
};
// Of integers too the results have fractions.
constexpr std::string_view kUnaryToReal[] = {
    "acos",  "acosh",   "angle", "asin", "asinh", "atan",   "atanh", "cos",   "cosh",  "deg2rad",      "digamma", "erf",
    "erfc",  "erfinv",  "exp",   "exp2", "expm1", "lgamma", "log",   "log10", "log1p", "log2",         "logit",   "reciprocal",
    "rsqrt", "sigmoid", "sin",   "sinc", "sinh",  "sqrt",   "tan",   "tanh",  "i0",    "special_entr",
};
constexpr std::string_view kUnaryToBool[] = {"isfinite", "isinf", "isnan", "isneginf", "isposinf", "logical_not", "signbit"};
constexpr std::string_view kBinary[] = {
    "add",
    "sub",
    "mul",
    "rsub",
    "pow",
    "fmod",
    "remainder",
    "maximum",
    "minimum",
    "fmax",
    "fmin",
    "hypot",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "bitwise_left_shift",
    "bitwise_right_shift",
    "logaddexp",
    "logaddexp2",
    "heaviside",
    "floor_divide",
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
    "prelu",
    "_prelu_kernel",
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
constexpr std::string_view kBinaryToReal[] = {
    "atan2",
    "copysign",
    "xlogy",
    "true_divide",
};
constexpr std::string_view kBinaryToComplex[] = {
    "polar",
    "complex",
};
constexpr std::string_view kBinaryToBool[] = {
    "eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "logical_xor", "isclose",
};
constexpr std::string_view kTernary[] = {
    "addcmul", "addcdiv", "where", "lerp", "clamp", "log_sigmoid_backward",
};

// What some of them are in any release.
struct Canonical {
  std::string_view op, canonical;
};
constexpr Canonical kCanonical[] = {
    {"aten::clamp_min", "relu"},
    {"aten::threshold", "relu"},
    {"aten::true_divide", "div"},
    {"aten::square", "pow"},
    {"aten::rsub", "sub"},
    {"aten::native_dropout", "dropout"},
    {"aten::native_dropout_backward", "dropout_backward"},
    {"aten::_masked_scale", "dropout_backward"},
};

template <std::size_t N>
void add_rows(const std::string_view (&names)[N], Formula work, std::vector<OpFormula>* rows, std::vector<std::string>* texts) {
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
    add_rows(kUnaryToBool, reads<1, Gives::boolean>, &rows, &texts);
    add_rows(kUnaryToReal, reads<1, Gives::real>, &rows, &texts);
    add_rows(kBinary, reads<2>, &rows, &texts);
    add_rows(kBinaryToBool, reads<2, Gives::boolean>, &rows, &texts);
    add_rows(kBinaryToReal, reads<2, Gives::real>, &rows, &texts);
    add_rows(kBinaryToComplex, reads<2, Gives::complex>, &rows, &texts);
    add_rows(kTernary, reads<3>, &rows, &texts);
    add_rows({"div"}, div, &rows, &texts);
    add_rows({"frexp"}, frexp, &rows, &texts);
    add_rows({"_prelu_kernel_backward"}, prelu_backward, &rows, &texts);
    add_rows({"glu"}, glu, &rows, &texts);
    add_rows({"glu_backward"}, glu_backward, &rows, &texts);
    add_rows({"native_dropout"}, native_dropout, &rows, &texts);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      rows[i].op = texts[i];
      for (const Canonical& known : kCanonical) {
        if (known.op == texts[i]) rows[i].canonical = known.canonical;
      }
    }
  }
};

constexpr OpFormula kGeneral{"", kFamily, general};

}  // namespace

std::span<const OpFormula> pointwise_ops() {
  static const auto& table = lasting(Table());
  return table.rows;
}

const OpFormula& general_pointwise() { return kGeneral; }

}  // namespace ridge
