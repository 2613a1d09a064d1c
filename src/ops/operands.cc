// What formulas share: arguments by position, bytes by shape and strides, what a cache keeps of them.
#include "ops/operands.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

namespace ridge {
namespace {

// c10::ScalarType by number; only the types that tensors of models have.
constexpr DType kScalarTypes[] = {
    DType::u8,      DType::i8,      DType::i16,     DType::i32,     DType::i64,     DType::f16,     DType::f32,
    DType::f64,     DType::unknown, DType::c64,     DType::c128,    DType::boolean, DType::unknown, DType::unknown,
    DType::unknown, DType::bf16,    DType::unknown, DType::unknown, DType::unknown, DType::unknown, DType::unknown,
    DType::unknown, DType::unknown, DType::f8,      DType::f8,      DType::f8,      DType::f8,
};

const OpArgument* argument_at(const OpCall& call, std::size_t i) {
  return i < call.arguments.size() ? &call.arguments[i] : nullptr;
}

// The higher wins; within one rank both are equal or, for the two halves, float32.
int rank_of(DType t) {
  switch (t) {
    case DType::unknown: return 0;
    case DType::boolean: return 1;
    case DType::u8:
    case DType::i8: return 2;
    case DType::u16:
    case DType::i16: return 3;
    case DType::u32:
    case DType::i32: return 4;
    case DType::u64:
    case DType::i64: return 5;
    case DType::f4: return 6;
    case DType::f8: return 7;
    case DType::f16:
    case DType::bf16: return 8;
    case DType::tf32:
    case DType::f32: return 9;
    case DType::f64: return 10;
    case DType::c64: return 11;
    default: return 12;
  }
}

}  // namespace

const TensorShape* tensor_at(const OpCall& call, std::size_t i) {
  const OpArgument* a = argument_at(call, i);
  return a != nullptr && a->kind == OpArgument::Kind::tensor ? &a->tensor : nullptr;
}

bool has_list(const OpCall& call) {
  return std::any_of(call.arguments.begin(), call.arguments.end(),
                     [](const OpArgument& a) { return a.kind == OpArgument::Kind::tensor_list; });
}

bool flag_at(const OpCall& call, std::size_t i) {
  const OpArgument* a = argument_at(call, i);
  return a != nullptr && (a->value == "True" || a->value == "true");
}

std::optional<double> number_at(const OpCall& call, std::size_t i) {
  const OpArgument* a = argument_at(call, i);
  if (a == nullptr || a->value.empty()) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(a->value.data(), a->value.data() + a->value.size(), value);
  return error == std::errc() && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::optional<std::vector<std::int64_t>> integers_at(const OpCall& call, std::size_t i) {
  const OpArgument* a = argument_at(call, i);
  if (a == nullptr || a->value.empty()) return std::nullopt;
  std::vector<std::int64_t> out;
  const char* at = a->value.data();
  const char* end = at + a->value.size();
  while (at < end) {
    if (*at == '[' || *at == ']' || *at == ',' || *at == ' ') {
      ++at;
      continue;
    }
    std::int64_t value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    if (error != std::errc()) return std::nullopt;
    out.push_back(value);
    at = next;
  }
  return out;
}

std::vector<bool> flags_at(const OpCall& call, std::size_t i) {
  std::vector<bool> out;
  const OpArgument* a = argument_at(call, i);
  if (a == nullptr) return out;
  for (std::size_t at = 0; at < a->value.size(); ++at) {
    const char c = a->value[at];
    if (c == 'T' || c == 't') out.push_back(true);
    if (c == 'F' || c == 'f') out.push_back(false);
    if (c == 'T' || c == 't' || c == 'F' || c == 'f') at = std::min(a->value.find(',', at), a->value.size());
  }
  return out;
}

DType scalar_type(const OpCall& call, std::size_t i, DType otherwise) {
  const auto number = number_at(call, i);
  if (!number || *number < 0 || *number >= static_cast<double>(std::size(kScalarTypes))) return otherwise;
  const DType dtype = kScalarTypes[static_cast<std::size_t>(*number)];
  return dtype == DType::unknown ? otherwise : dtype;
}

std::optional<double> dense_bytes(const TensorShape* shape) {
  if (shape == nullptr || shape->dtype == DType::unknown) return std::nullopt;
  return numel(*shape) * item_bytes(shape->dtype);
}

std::optional<double> touched(const TensorShape* shape) {
  if (shape == nullptr || shape->dtype == DType::unknown) return std::nullopt;
  return touched_bytes(*shape);
}

double walked_bytes(const TensorShape& shape, const TensorShape& walk, double cache) {
  constexpr double kStays = 32e6;  // of an H200: what is read while as much is written beside it
  const double once = touched_bytes(shape);
  if (once <= kStays * cache || shape.sizes.size() > walk.sizes.size()) return once;
  // From the last dimension on; a stride that falls means that the walk is in another order.
  double inside = item_bytes(shape.dtype), repeats = 1, stride = 0;
  const std::size_t before = walk.sizes.size() - shape.sizes.size();
  for (std::size_t i = walk.sizes.size(); i-- > 0;) {
    const double size = static_cast<double>(walk.sizes[i]);
    if (size <= 1) continue;
    const std::size_t own = i - before;
    const bool has = i >= before && shape.sizes[own] > 1;
    const bool moves = has && (shape.strides.size() != shape.sizes.size() || shape.strides[own] != 0);
    if (moves) {
      const double step = shape.strides.empty() ? stride + 1 : static_cast<double>(shape.strides[own]);
      if (step < stride) return once;
      stride = step;
      inside *= size;
    } else if (inside > kStays * cache) {
      repeats *= size;
    }
  }
  return once * repeats;
}

double touched_or_zero(const TensorShape* shape) { return shape == nullptr ? 0 : touched_bytes(*shape); }

std::optional<double> plus(std::optional<double> a, std::optional<double> b) {
  return a && b ? std::optional(*a + *b) : std::nullopt;
}

std::optional<double> times(std::optional<double> a, double factor) { return a ? std::optional(*a * factor) : std::nullopt; }

bool in_place(const OpCall& call) {
  const std::string_view name = call.op.substr(0, call.op.find('.'));
  return name.ends_with('_') && !name.ends_with("__");
}

bool is_scalar(const TensorShape& shape) { return shape.sizes.empty(); }

DType promote(DType a, DType b) {
  const int ra = rank_of(a), rb = rank_of(b);
  if (ra != rb) return ra > rb ? a : b;
  return a != b && is_floating(a) && item_bytes(a) == 2 ? DType::f32 : a;
}

bool is_floating(DType dtype) { return rank_of(dtype) >= rank_of(DType::f4); }

bool is_complex(DType dtype) { return dtype == DType::c64 || dtype == DType::c128; }

DType real_of(DType dtype) { return dtype == DType::c64 ? DType::f32 : dtype == DType::c128 ? DType::f64 : dtype; }

TensorShape broadcast(const OpCall& call, int inputs) {
  TensorShape out;
  DType of_scalars = DType::unknown;
  int seen = 0;
  for (const OpArgument& a : call.arguments) {
    if (a.kind != OpArgument::Kind::tensor) continue;
    if (inputs >= 0 && seen++ >= inputs) break;
    const auto& sizes = a.tensor.sizes;
    // A 0-dim tensor takes part in promotion only where it is of a higher kind.
    if (sizes.empty()) {
      of_scalars = promote(of_scalars, a.tensor.dtype);
    } else {
      out.dtype = promote(out.dtype, a.tensor.dtype);
    }
    if (sizes.size() > out.sizes.size()) out.sizes.insert(out.sizes.begin(), sizes.size() - out.sizes.size(), 1);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      std::int64_t& size = out.sizes[out.sizes.size() - sizes.size() + i];
      if (size == 1) size = sizes[i];
    }
  }
  if (out.dtype == DType::unknown || (is_floating(of_scalars) && !is_floating(out.dtype))) {
    out.dtype = out.dtype == DType::unknown ? of_scalars : DType::f32;
  }
  return out;
}

double distinct_rows(double picks, double rows) {
  if (rows <= 0 || picks <= 0) return 0;
  return rows * -std::expm1(-picks / rows);
}

double picked_bytes(double table_bytes, double row_bytes, double picks, double beside, double cache) {
  // What of the cache is left to a table while each pick streams bytes past it: counters of an H200 (50 MB), gathers and
  // scatters.
  const double left = 28e6 * cache;
  const double rows = row_bytes > 0 ? table_bytes / row_bytes : 0;
  const double once = std::min(table_bytes, distinct_rows(picks, rows) * row_bytes);
  if (rows <= 0 || picks * row_bytes <= left) return once;
  // With a share m of misses there are n = cache / (row (beside + m)) picks within reach, and m = exp(-n / rows).
  double misses = 0.5, reach = 0;
  for (int i = 0; i < 20; ++i) {
    reach = left / (row_bytes * (beside + misses));
    misses = std::exp(-reach / rows);
  }
  if (picks <= reach) return once;
  return std::max(once, (distinct_rows(reach, rows) + (picks - reach) * misses) * row_bytes);
}

double completed_bytes(double bytes, double cache) {
  return std::max(0.0, bytes - 6e6 * cache);  // counters of an H200: paddings of channels, all but 5 to 7 MB
}

OpWork moves(std::optional<double> read, std::optional<double> written, DType dtype) {
  return {.flops = 0, .read = read, .written = written, .dtype = dtype};
}

}  // namespace ridge
