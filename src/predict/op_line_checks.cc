// The fields of a line first, then each tensor's type and size, then what the op asks of its tensors together.
#include "predict/op_line_checks.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <variant>

#include <simdjson.h>

#include "ops/op_work.h"
#include "ops/operands.h"

namespace ridge {
namespace {

using Wrong = std::optional<std::string>;

std::string text_of(const TensorShape& t) {
  std::string text = "[";
  for (const std::int64_t size : t.sizes) text += (text.size() > 1 ? ", " : "") + std::to_string(size);
  return text + "]";
}

std::string both(const TensorShape& a, const TensorShape& b) { return text_of(a) + " and " + text_of(b); }

constexpr double kMostBytes = 1099511627776;  // 1 TiB: no device holds a tensor of that size

Wrong wrong_tensor(const TensorShape& t, const std::string& type) {
  if (t.dtype == DType::unknown && !type.empty()) return "unknown dtype '" + type + "'";
  // What lies repeated in memory (a stride of 0) is there but once; without a type each element is at least a byte.
  if (std::max(touched_bytes(t), t.dtype == DType::unknown ? numel(t) : 0.0) > kMostBytes)
    return "a tensor is larger than 1 TiB: " + text_of(t);
  return std::nullopt;
}

bool is_empty(const TensorShape& t) { return numel(t) == 0; }

std::int64_t from_back(const TensorShape& t, std::size_t i) { return t.sizes[t.sizes.size() - i]; }

// [.., M, K] x [.., K, N].
Wrong wrong_product(const TensorShape& a, const TensorShape& b, bool b_by_rows) {
  if (is_empty(a) || is_empty(b)) return "nothing to do, a size is 0: " + both(a, b);
  if (a.sizes.empty() || b.sizes.empty()) return "a product of scalars";
  const std::int64_t k = from_back(b, b_by_rows || b.sizes.size() == 1 ? 1 : 2);
  if (from_back(a, 1) != k) return "the inner sizes of a product differ: " + both(a, b);
  const bool batches = a.sizes.size() == 3 && b.sizes.size() == 3;
  if (batches && a.sizes[0] != b.sizes[0] && a.sizes[0] != 1 && b.sizes[0] != 1) return "the batches differ: " + both(a, b);
  return std::nullopt;
}

Wrong wrong_convolution(const OpCall& call, const OpFormula& row, const ConvolutionPositions& at) {
  const bool backward = row.op.find("backward") != std::string_view::npos;
  const TensorShape* x = tensor_at(call, backward ? 1 : 0);
  const TensorShape* w = tensor_at(call, backward ? 2 : 1);
  if (x == nullptr || w == nullptr) return std::nullopt;
  if (x->sizes.size() != w->sizes.size() || x->sizes.size() < 3) return "input and weight do not fit: " + both(*x, *w);
  if (is_empty(*x) || is_empty(*w)) return "nothing to do, a size is 0: " + both(*x, *w);
  const bool transposed =
      at.transposed == ConvolutionPositions::Transposed::yes || (at.transposed == ConvolutionPositions::Transposed::argument &&
                                                                 flag_at(call, static_cast<std::size_t>(at.transposed_at)));
  const auto groups = at.groups < 0 ? std::nullopt : number_at(call, static_cast<std::size_t>(at.groups));
  const auto given = static_cast<double>(x->sizes[1]);
  const auto wanted = transposed ? static_cast<double>(w->sizes[0]) : static_cast<double>(w->sizes[1]) * groups.value_or(0);
  if ((transposed || groups) && given != wanted) return "the channels of input and weight differ: " + both(*x, *w);
  return std::nullopt;
}

Wrong wrong_attention(const OpCall& call, const AttentionPositions& at) {
  const auto tensor = [&](int position) { return tensor_at(call, static_cast<std::size_t>(position)); };
  const TensorShape *q = tensor(at.q), *k = tensor(at.q + 1), *v = tensor(at.q + 2);
  if (q == nullptr || k == nullptr || v == nullptr || q->sizes.size() != 4 || k->sizes.size() != 4 || v->sizes.size() != 4)
    return std::nullopt;
  if (is_empty(*q) || is_empty(*k)) return "nothing to do, a size is 0: " + both(*q, *k);
  if (q->sizes[3] != k->sizes[3]) return "queries and keys are of different depths: " + both(*q, *k);
  const std::size_t tokens = at.layout == AttentionPositions::Layout::heads_first ? 2 : 1;
  if (k->sizes[tokens] != v->sizes[tokens]) return "there are not as many values as keys: " + both(*k, *v);
  return std::nullopt;
}

// Of two tensors each dimension, from the last on, is the same or 1.
Wrong wrong_broadcast(const TensorShape& a, const TensorShape& b) {
  for (std::size_t i = 1; i <= std::min(a.sizes.size(), b.sizes.size()); ++i) {
    if (from_back(a, i) != from_back(b, i) && from_back(a, i) != 1 && from_back(b, i) != 1)
      return "the sizes do not broadcast: " + both(a, b);
  }
  return std::nullopt;
}

bool broadcasts(std::string_view op) {
  constexpr std::array<std::string_view, 10> kOps = {"add", "sub", "mul", "div", "pow", "maximum", "minimum", "eq", "lt", "gt"};
  if (!op.starts_with("aten::")) return false;
  op.remove_prefix(6);
  op = op.substr(0, op.find('.'));
  if (op.ends_with('_')) op.remove_suffix(1);
  return std::ranges::find(kOps, op) != kOps.end();
}

// What a line may hold, and as what; a null is as if it were not there.
struct Field {
  std::string_view name, is;
  bool (*fits)(simdjson::dom::element);
};
constexpr auto is_list = [](simdjson::dom::element e) { return e.is_array(); };
// Powers of two but for stages, and no larger than Triton's are.
bool is_config(simdjson::dom::element e) {
  if (std::string_view all; e.get(all) == simdjson::SUCCESS) return all == "inductor";
  simdjson::dom::object config;
  if (e.get(config) != simdjson::SUCCESS) return false;
  constexpr std::int64_t kLargest = 1024;
  for (const char* name : {"BLOCK_M", "BLOCK_N", "BLOCK_K", "num_warps", "num_stages"}) {
    std::int64_t value = 0;
    if (config[name].get(value) != simdjson::SUCCESS || value < 1 || value > kLargest) return false;
    if (std::string_view(name) != "num_stages" && (value & (value - 1)) != 0) return false;
  }
  return true;
}

constexpr std::array kFields = {
    Field{"shapes", "a list of lists of sizes",
          [](simdjson::dom::element e) { return e.is_array() && std::ranges::all_of(simdjson::dom::array(e), is_list); }},
    Field{"strides", "a list", is_list},
    Field{"dtypes", "a list of names, or one name", [](simdjson::dom::element e) { return e.is_array() || e.is_string(); }},
    Field{"concrete", "a list", is_list},
    Field{"sizes", "a list of whole numbers",
          [](simdjson::dom::element e) {
            std::int64_t size = 0;
            return e.is_array() && std::ranges::all_of(simdjson::dom::array(e), [&](simdjson::dom::element each) {
                     return each.get(size) == simdjson::SUCCESS && size >= 0;
                   });
          }},
    Field{"args", "an object", [](simdjson::dom::element e) { return e.is_object(); }},
    Field{"item", "the name of a dtype", [](simdjson::dom::element e) { return e.is_string(); }},
    Field{"tf32", "true or false", [](simdjson::dom::element e) { return e.is_bool(); }},
    Field{"config", R"("inductor", or an object with BLOCK_M, BLOCK_N, BLOCK_K, num_warps and num_stages)", is_config},
};

}  // namespace

TritonTile tile_of(simdjson::dom::element config) {
  const auto at = [&](const char* name) { return std::int64_t(config[name]); };
  return {at("BLOCK_M"), at("BLOCK_N"), at("BLOCK_K"), at("num_warps"), at("num_stages")};
}

std::optional<std::string> wrong_field(simdjson::dom::object line) {
  for (const Field& field : kFields) {
    simdjson::dom::element value;
    if (line[field.name].get(value) != simdjson::SUCCESS || value.is_null() || field.fits(value)) continue;
    return "'" + std::string(field.name) + "' is not " + std::string(field.is) + ": " + simdjson::minify(value);
  }
  return std::nullopt;
}

std::optional<std::string> nothing_to_do(const OpCall& call) {
  const auto has_tensors = [](const OpArgument& a) { return a.kind == OpArgument::Kind::tensor || !a.list.empty(); };
  const auto first = std::ranges::find_if(call.arguments, has_tensors);
  if (first == call.arguments.end()) return std::nullopt;
  if (first->kind == OpArgument::Kind::tensor)
    return is_empty(first->tensor) ? Wrong("nothing to do, a size is 0: " + text_of(first->tensor)) : std::nullopt;
  if (std::ranges::all_of(first->list, is_empty)) return "nothing to do, all tensors of the list are empty";
  return std::nullopt;
}

std::optional<std::string> impossible(const OpCall& call) {
  for (const OpArgument& a : call.arguments) {
    if (a.kind == OpArgument::Kind::tensor) {
      if (auto wrong = wrong_tensor(a.tensor, a.type)) return wrong;
    }
    for (const TensorShape& t : a.list) {
      if (auto wrong = wrong_tensor(t, {})) return wrong;
    }
  }
  const TensorShape *first = tensor_at(call, 0), *second = tensor_at(call, 1);
  if (call.op == "aten::matmul" && first != nullptr && second != nullptr) return wrong_product(*first, *second, false);
  if (broadcasts(call.op) && first != nullptr && second != nullptr) return wrong_broadcast(*first, *second);
  const OpFormula* row = find_op(call.op);
  if (row == nullptr) return std::nullopt;
  if (const auto* at = std::get_if<ConvolutionPositions>(&row->positions)) return wrong_convolution(call, *row, *at);
  if (const auto* at = std::get_if<AttentionPositions>(&row->positions)) return wrong_attention(call, *at);
  const ProductPositions* at = product_positions(*row);
  if (at == nullptr || at->a < 0 || at->b < 0 || at->ends >= 0 || at->packed_a != 1 || at->packed_b != 1) return std::nullopt;
  const TensorShape* a = tensor_at(call, static_cast<std::size_t>(at->a));
  const TensorShape* b = tensor_at(call, static_cast<std::size_t>(at->b));
  return a != nullptr && b != nullptr ? wrong_product(*a, *b, at->b_by_rows) : std::nullopt;
}

}  // namespace ridge
