// Parsing the texts of a call: a small reader of nested lists that takes what a trace holds and never fails.
#include "ops/op_call.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

namespace ridge {
namespace {

// Hostile texts: what is longer is not a list of tensors that anyone made.
constexpr std::size_t kMostArguments = 1024;
constexpr std::size_t kMostDimensions = 64;

// One argument of "Input Dims" or "Input Strides": the numbers of a tensor, or those of each tensor of a list.
struct Numbers {
  std::vector<std::int64_t> own;
  std::vector<std::vector<std::int64_t>> members;
  bool is_list = false;
};

// Reads "[[2,3],[],[[4],[5]]]". What is not of this form ends the reading; what was read before stands.
class NumbersReader {
 public:
  explicit NumbersReader(std::string_view text) : text_(text) {}

  std::vector<Numbers> read() {
    std::vector<Numbers> out;
    if (!take('[')) return out;
    while (out.size() < kMostArguments && peek() == '[') {
      out.emplace_back();
      if (!argument(&out.back())) {
        out.pop_back();
        return out;
      }
      if (!take(',')) break;
    }
    return out;
  }

 private:
  bool argument(Numbers* n) {
    if (!take('[')) return false;
    if (peek() != '[') return list(&n->own);
    n->is_list = true;
    do {
      if (n->members.size() >= kMostArguments) return false;
      n->members.emplace_back();
      if (!take('[') || !list(&n->members.back())) return false;
    } while (take(','));
    return take(']');
  }

  // After the opening bracket.
  bool list(std::vector<std::int64_t>* out) {
    if (take(']')) return true;
    do {
      std::int64_t value = 0;
      skip_space();
      const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
      if (error != std::errc() || out->size() >= kMostDimensions) return false;
      at_ = static_cast<std::size_t>(end - text_.data());
      out->push_back(value);
    } while (take(','));
    return take(']');
  }

  void skip_space() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  char peek() {
    skip_space();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

constexpr std::string_view kEscapes = "nrtbf", kEscaped = "\n\r\t\b\f";

// The texts of a list of JSON strings: ["float","[1, 1]",""].
std::vector<std::string> read_texts(std::string_view text) {
  std::vector<std::string> out;
  std::size_t at = 0;
  while (out.size() < kMostArguments) {
    at = text.find('"', at);
    if (at == std::string_view::npos) return out;
    std::string value;
    for (++at; at < text.size() && text[at] != '"'; ++at) {
      if (text[at] != '\\' || at + 1 >= text.size()) {
        value += text[at];
        continue;
      }
      const std::size_t escape = kEscapes.find(text[++at]);
      if (text[at] == 'u') value += '\\';  // a code point stays as it is written
      value += escape == std::string_view::npos ? text[at] : kEscaped[escape];
    }
    ++at;
    out.push_back(std::move(value));
  }
  return out;
}

bool hostile(const std::vector<std::int64_t>& sizes) {
  return std::any_of(sizes.begin(), sizes.end(), [](std::int64_t s) { return s < 0; });
}

TensorShape shape_of(const std::vector<std::int64_t>& sizes, const std::vector<std::int64_t>* strides, DType dtype) {
  TensorShape shape{sizes, {}, dtype};
  if (strides != nullptr && strides->size() == sizes.size()) shape.strides = *strides;
  return shape;
}

// Two values of 4 bits share a byte, which torch counts as one element: along the dimension that is dense in memory there are
// twice as many values.
void unpack_pairs(TensorShape* shape) {
  const auto dense = std::find(shape->strides.begin(), shape->strides.end(), 1);
  if (dense == shape->strides.end()) return;
  const auto at = static_cast<std::size_t>(dense - shape->strides.begin());
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 2;
  for (std::size_t i = 0; i < shape->strides.size(); ++i) {
    if (i != at && shape->strides[i] < kMost) shape->strides[i] *= 2;
  }
  if (shape->sizes[at] < kMost) shape->sizes[at] *= 2;
}

OpArgument argument_of(const Numbers* dims, const Numbers* strides, std::string type, std::string value) {
  OpArgument argument;
  const DType dtype = parse_dtype(type);
  const bool list = type == "TensorList" || (dims != nullptr && dims->is_list);
  if (list) {
    argument.kind = OpArgument::Kind::tensor_list;
    const std::size_t members = dims != nullptr ? dims->members.size() : 0;
    for (std::size_t i = 0; i < members; ++i) {
      if (hostile(dims->members[i])) continue;
      const bool has_strides = strides != nullptr && i < strides->members.size();
      argument.list.push_back(shape_of(dims->members[i], has_strides ? &strides->members[i] : nullptr, DType::unknown));
    }
    argument.list_left_out = argument.list.empty();
  } else if (dims != nullptr && (dtype != DType::unknown || !dims->own.empty()) && !hostile(dims->own)) {
    argument.kind = OpArgument::Kind::tensor;
    argument.tensor = shape_of(dims->own, strides != nullptr ? &strides->own : nullptr, dtype);
    if (dtype == DType::f4) unpack_pairs(&argument.tensor);
  } else if (!value.empty()) {
    argument.kind = OpArgument::Kind::value;
  }
  argument.value = std::move(value);
  argument.type = std::move(type);
  return argument;
}

template <class T>
const T* at_or_null(const std::vector<T>& v, std::size_t i) {
  return i < v.size() ? &v[i] : nullptr;
}

}  // namespace

OpCall parse_op_call(std::string_view op, std::string_view input_dims, std::string_view input_types,
                     std::string_view input_strides, std::string_view concrete_inputs) {
  OpCall call;
  call.op = op;
  const std::vector<Numbers> dims = NumbersReader(input_dims).read();
  const std::vector<Numbers> strides = NumbersReader(input_strides).read();
  std::vector<std::string> types = read_texts(input_types);
  std::vector<std::string> values = read_texts(concrete_inputs);
  call.has_shapes = !dims.empty();
  call.has_constants = !values.empty();
  const std::size_t count = std::max({dims.size(), types.size(), values.size()});
  call.arguments.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    call.arguments.push_back(argument_of(at_or_null(dims, i), at_or_null(strides, i),
                                         i < types.size() ? std::move(types[i]) : std::string(),
                                         i < values.size() ? std::move(values[i]) : std::string()));
  }
  return call;
}

double numel(const TensorShape& shape) {
  double n = 1;
  for (const std::int64_t size : shape.sizes) n *= static_cast<double>(std::max<std::int64_t>(size, 0));
  return std::min(n, 1e300);
}

double touched_bytes(const TensorShape& shape) {
  const double item = item_bytes(shape.dtype);
  if (shape.strides.size() != shape.sizes.size()) return numel(shape) * item;

  struct Dimension {
    double size, stride;
  };
  std::vector<Dimension> dims;  // those that move, the closest first
  for (std::size_t i = 0; i < shape.sizes.size(); ++i) {
    const double size = static_cast<double>(std::max<std::int64_t>(shape.sizes[i], 0));
    const double stride = std::abs(static_cast<double>(shape.strides[i]));
    if (size == 0) return 0;
    if (size > 1 && stride > 0) dims.push_back({size, stride});
  }
  std::sort(dims.begin(), dims.end(), [](const Dimension& a, const Dimension& b) { return a.stride < b.stride; });

  // Runs of neighbours, then how often: memory is read 64 bytes at a time, so a short run costs as much unless the next run
  // shares it.
  constexpr double kSector = 64;
  double run = 1, extent = 1, runs = 1;
  std::size_t i = 0;
  for (; i < dims.size() && dims[i].stride <= run; ++i) run = dims[i].stride * (dims[i].size - 1) + run;
  const double gap = i < dims.size() ? dims[i].stride : run;
  for (const Dimension& d : dims) extent += d.stride * (d.size - 1);
  for (; i < dims.size(); ++i) runs *= dims[i].size;
  const double run_bytes = std::min(std::ceil(run * item / kSector) * kSector, gap * item);
  return std::min({runs * std::max(run_bytes, run * item), extent * item, 1e300});
}

}  // namespace ridge
