// Traces of old versions have no numbers and no strides; no trace has the values of tensors.
#include "replay/replay_limits.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace ridge {
namespace {

using ArgumentKind = OpArgument::Kind;

// Ops whose arguments behind the first few tensors may have the schema's defaults: the same kernel runs whatever they are.
struct WithDefaults {
  std::string_view op;
  std::size_t tensors;
};
constexpr std::array<WithDefaults, 22> kWithDefaults = {{
    {"add", 2},        {"add_", 2},    {"sub", 2},       {"sub_", 2},    {"rsub", 2},     {"addmm", 3},
    {"addmm_", 3},     {"baddbmm", 3}, {"baddbmm_", 3},  {"addbmm", 3},  {"addmv", 3},    {"addmv_", 3},
    {"addr", 3},       {"addcmul", 3}, {"addcmul_", 3},  {"addcdiv", 3}, {"addcdiv_", 3}, {"copy_", 2},
    {"nan_to_num", 1}, {"clone", 1},   {"embedding", 2}, {"logit", 1},
}};

// Ops whose work the values of a tensor decide.
constexpr std::array<std::string_view, 20> kByValues = {
    "index",          "index_put",      "index_put_",      "_index_put_impl_",  "nonzero",
    "masked_select",  "masked_scatter", "masked_scatter_", "repeat_interleave", "embedding_dense_backward",
    "_embedding_bag", "bincount",       "unique_dim",      "_unique2",          "unique_consecutive",
    "index_add",      "index_add_",     "scatter_add",     "scatter_add_",      "embedding_bag"};

// What the name of a kernel does not tell of its call. The first row that fits.
struct Untold {
  Category category;
  std::string_view what;
};
constexpr std::array<Untold, 9> kUntold = {{
    {Category::gemm, "the sizes of its product"},
    {Category::conv, "sizes, stride and padding of its convolution"},
    {Category::attention, "batch, heads, lengths and mask of its attention"},
    {Category::norm, "the sizes that it normalises"},
    {Category::elementwise, "sizes and strides of its tensors"},
    {Category::reduction, "sizes and dimensions that it reduces"},
    {Category::layout, "sizes and strides of its tensors"},
    {Category::optimizer, "the sizes of its parameters"},
    {Category::comm, "the other ranks"},
}};
constexpr std::string_view kOfTriton = "its arguments, which the compiled module has (ridge bench output_code.py runs it)";

std::string_view untold(Category category) {
  if (name_of(category).starts_with("triton_")) return kOfTriton;
  const auto row = std::ranges::find(kUntold, category, &Untold::category);
  return row == kUntold.end() ? "its op" : row->what;
}

std::string_view bare_name(std::string_view op) {
  const std::size_t space = op.find("::");
  if (space != std::string_view::npos) op.remove_prefix(space + 2);
  return op.substr(0, op.find('.'));
}

bool is_tensor(const OpArgument& argument) {
  return argument.kind == ArgumentKind::tensor || argument.kind == ArgumentKind::tensor_list;
}

bool numbers_missing(const OpCall& call, bool triton) {
  const auto plain = [](const OpArgument& argument) { return !is_tensor(argument) && argument.value.empty(); };
  if (triton) return std::ranges::any_of(call.arguments, plain);
  if (call.has_constants) return false;
  const auto known = std::ranges::find(kWithDefaults, bare_name(call.op), &WithDefaults::op);
  const std::size_t needed = known == kWithDefaults.end() ? call.arguments.size() : known->tensors;
  return call.arguments.size() < (known == kWithDefaults.end() ? 0 : needed) ||
         std::any_of(call.arguments.begin(), call.arguments.begin() + static_cast<std::ptrdiff_t>(needed), plain);
}

}  // namespace

std::string missing_inputs(const OpCall& call, bool triton) {
  for (const OpArgument& argument : call.arguments) {
    if (argument.kind == ArgumentKind::tensor && argument.tensor.dtype == DType::unknown)
      return "a tensor of an element type that is not known: '" + argument.type.substr(0, 40) + "'";
  }
  if (numbers_missing(call, triton))
    return "the trace has no \"Concrete Inputs\", the numbers among its arguments: record with record_shapes=True and PyTorch "
           "2.1 or newer";
  const auto said = [](const OpArgument& argument) { return is_tensor(argument) || !argument.value.empty(); };
  if (std::ranges::none_of(call.arguments, said)) return "none of its inputs is in the trace: neither a tensor nor a number";
  return {};
}

std::string missing_of_graph(Category category, bool has_capture) {
  const std::string missing = "replayed by a CUDA graph, which keeps no inputs; missing: " + std::string(untold(category));
  return missing + (has_capture ? "; the capture that was given does not tell it: record without the graph"
                                : "; give the capture with --capture, or record without the graph");
}

std::string made_up_inputs(const OpCall& call, bool triton) {
  std::string out;
  const auto no_strides = [](const OpArgument& argument) {
    return argument.kind == ArgumentKind::tensor && argument.tensor.sizes.size() > 1 &&
           argument.tensor.strides.size() != argument.tensor.sizes.size();
  };
  if (std::ranges::any_of(call.arguments, no_strides)) out = "strides are not in the trace: dense ones are taken";
  if (!triton && std::ranges::find(kByValues, bare_name(call.op)) != kByValues.end()) {
    out += out.empty() ? "" : "; ";
    out += "its work depends on the values of indices or masks, which no trace has: made up, evenly spread";
  }
  return out;
}

}  // namespace ridge
