// A line's tensors go to the positions at which the op takes tensors, its named arguments to theirs; what stands there is what
// a trace would hold.
#include "predict/op_lines.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <simdjson.h>

#include "base/try.h"
#include "ops/op_work.h"
#include "predict/op_line_checks.h"

namespace ridge {
namespace {

using simdjson::dom::element;

constexpr const char* kHint =
    R"(each line: {"op": "aten::mm", "shapes": [[64, 64], [64, 64]], "dtypes": ["bfloat16", "bfloat16"]})";

// Where an op takes its tensors, where they do not stand at 0, 1, 2, ..
struct TensorsAt {
  std::string_view op;
  std::array<int, 8> at;
};
constexpr std::array kTensorsAt = {
    TensorsAt{"layer_norm", {0, 2, 3}},
    TensorsAt{"native_layer_norm", {0, 2, 3}},
    TensorsAt{"rms_norm", {0, 2}},
    TensorsAt{"_fused_rms_norm", {0, 2}},
    TensorsAt{"group_norm", {0, 2, 3}},
    TensorsAt{"native_layer_norm_backward", {0, 1, 3, 4, 5, 6}},
    TensorsAt{"_fused_rms_norm_backward", {0, 1, 3, 4}},
    TensorsAt{"gather", {0, 2}},
    TensorsAt{"index_select", {0, 2}},
    TensorsAt{"scatter", {0, 2, 3}},
    TensorsAt{"scatter_add", {0, 2, 3}},
    TensorsAt{"index_add", {0, 2, 3}},
    TensorsAt{"index_copy", {0, 2, 3}},
    TensorsAt{"max_pool2d_with_indices_backward", {0, 1, 7}},
    TensorsAt{"nll_loss_backward", {0, 1, 2, 6}},
};

// Where an op takes what is called so. `op` empty: any op.
struct NamedAt {
  std::string_view name, op;
  int at;
};
constexpr std::array kNamedAt = {
    NamedAt{"dim", "topk", 2},
    NamedAt{"dim", "kthvalue", 2},
    NamedAt{"dim", "linalg_vector_norm", 2},
    NamedAt{"dim", "norm", 2},
    NamedAt{"dim", "argsort", 2},
    NamedAt{"dim", "_softmax_backward_data", 2},
    NamedAt{"dim", "_log_softmax_backward_data", 2},
    NamedAt{"dim", "", 1},
    NamedAt{"k", "", 1},
    NamedAt{"normalized_shape", "native_layer_norm_backward", 2},
    NamedAt{"normalized_shape", "_fused_rms_norm_backward", 2},
    NamedAt{"normalized_shape", "", 1},
    NamedAt{"num_groups", "group_norm", 1},
    NamedAt{"num_groups", "native_group_norm", 6},
    NamedAt{"group", "native_group_norm", 6},
    NamedAt{"training", "", 5},
    NamedAt{"train", "", 5},
    NamedAt{"is_causal", "scaled_dot_product_attention", 5},
    NamedAt{"attn_mask", "scaled_dot_product_attention", 3},
    NamedAt{"kernel_size", "max_pool2d_with_indices_backward", 2},
    NamedAt{"stride", "max_pool2d_with_indices_backward", 3},
    NamedAt{"padding", "max_pool2d_with_indices_backward", 4},
    NamedAt{"kernel_size", "avg_pool2d_backward", 2},
    NamedAt{"stride", "avg_pool2d_backward", 3},
    NamedAt{"padding", "avg_pool2d_backward", 4},
    NamedAt{"kernel_size", "", 1},
    NamedAt{"stride", "", 2},
    NamedAt{"padding", "", 3},
    NamedAt{"output_size", "", 1},
    NamedAt{"size", "", 0},
    NamedAt{"dtype", "sum", 3},
    NamedAt{"dtype", "mean", 3},
    NamedAt{"dtype", "_to_copy", 1},
    NamedAt{"dtype", "to", 1},
    NamedAt{"num_weights", "", 2},
    NamedAt{"reduction", "mse_loss", 2},
    NamedAt{"reduction", "", 3},
    NamedAt{"p", "", 1},
};
// They change what is computed, not how long it takes.
constexpr std::array<std::string_view, 12> kOfNoMatter = {"scale",   "enable_gqa",  "eps",          "alpha",
                                                          "beta",    "keepdim",     "ignore_index", "dropout_p",
                                                          "largest", "approximate", "sorted",       "value"};

std::string_view plain_name(std::string_view op) {
  const std::size_t colons = op.rfind("::");
  if (colons != std::string_view::npos) op.remove_prefix(colons + 2);
  return op.substr(0, op.find('.'));
}

// By the op's own row where that says, else by the table.
int position_of(std::string_view name, std::string_view op) {
  const OpFormula* row = find_op(op);
  if (const auto* c = row == nullptr ? nullptr : std::get_if<ConvolutionPositions>(&row->positions)) {
    if (name == "stride") return c->stride;
    if (name == "padding") return c->padding;
    if (name == "dilation") return c->dilation;
    if (name == "output_padding") return c->output_padding;
    if (name == "groups") return c->groups;
    if (name == "transposed") return c->transposed_at;
    if (name == "output_mask") return c->mask;
    return -1;
  }
  if (const auto* a = row == nullptr ? nullptr : std::get_if<AttentionPositions>(&row->positions)) {
    return name == "is_causal" ? a->causal : -1;
  }
  if (const auto* p = row == nullptr ? nullptr : product_positions(*row)) return name == "out_dtype" ? p->out_dtype : -1;
  const std::string_view plain = plain_name(op);
  for (const NamedAt& known : kNamedAt) {
    if (known.name == name && (known.op.empty() || known.op == plain)) return known.at;
  }
  return -1;
}

// c10's numbers of types, as a trace has them.
std::optional<int> scalar_type_number(std::string_view text) {
  switch (parse_dtype(text)) {
    case DType::u8: return 0;
    case DType::i8: return 1;
    case DType::i32: return 3;
    case DType::i64: return 4;
    case DType::f16: return 5;
    case DType::f32: return 6;
    case DType::f64: return 7;
    case DType::boolean: return 11;
    case DType::bf16: return 15;
    case DType::f8: return 24;
    default: return std::nullopt;
  }
}

// As Python writes it, which is what a trace holds.
std::string python_text(element value) {
  switch (value.type()) {
    case simdjson::dom::element_type::BOOL: return bool(value) ? "True" : "False";
    case simdjson::dom::element_type::STRING: {
      const std::string_view text = value;
      const auto number = scalar_type_number(text);
      return number ? std::to_string(*number) : std::string(text);
    }
    case simdjson::dom::element_type::ARRAY: {
      std::string text = "[";
      for (const element each : simdjson::dom::array(value)) text += (text.size() > 1 ? ", " : "") + python_text(each);
      return text + "]";
    }
    default: return simdjson::minify(value);
  }
}

std::vector<std::int64_t> channels_last(const std::vector<std::int64_t>& sizes) {
  std::vector<std::int64_t> strides(sizes.size());
  std::int64_t at = 1;
  strides[1] = at;
  at *= sizes[1];
  for (std::size_t i = sizes.size(); i-- > 2;) strides[i] = at, at *= std::max<std::int64_t>(sizes[i], 1);
  strides[0] = at;
  return strides;
}

bool takes_list(std::string_view plain) {
  return plain == "cat" || plain == "stack" || plain == "concat" || plain.starts_with("_foreach_") ||
         plain.starts_with("_fused_adam") || plain.starts_with("_fused_sgd");
}

bool is_list_of_shapes(element shapes) {  // [[2, 3], [2, 3]]
  simdjson::dom::array all;
  if (shapes.get(all) != simdjson::SUCCESS) return false;
  for (const element each : all) {
    simdjson::dom::array sizes;
    if (each.get(sizes) != simdjson::SUCCESS) return false;
    for (const element size : sizes) {
      if (size.is_array()) return false;
    }
  }
  return true;
}

// Whole numbers, none below zero, in lists of any depth.
bool are_sizes(element shapes) {
  if (!shapes.is_array()) {
    std::int64_t size = 0;
    return shapes.get(size) == simdjson::SUCCESS && size >= 0;
  }
  for (const element each : simdjson::dom::array(shapes)) {
    if (!are_sizes(each)) return false;
  }
  return true;
}

// As many strides as sizes, of each tensor that has any.
bool fit_sizes(element strides, element shapes) {
  simdjson::dom::array all, sizes;
  if (strides.get(all) != simdjson::SUCCESS || shapes.get(sizes) != simdjson::SUCCESS || all.size() == 0) return true;
  if (!all.at(0).is_array()) return all.size() == sizes.size();
  for (std::size_t i = 0; i < std::min(all.size(), sizes.size()); ++i) {
    if (!fit_sizes(all.at(i), sizes.at(i))) return false;
  }
  return true;
}

// Tensors alone were given: each to where the op takes one.
void place_tensors(std::string_view plain, OpCall* call) {
  const std::string_view name = plain.ends_with('_') ? plain.substr(0, plain.size() - 1) : plain;
  const auto known = std::ranges::find(kTensorsAt, name, &TensorsAt::op);
  if (known == kTensorsAt.end()) return;
  std::vector<OpArgument> placed;
  for (std::size_t i = 0; i < call->arguments.size() && i < known->at.size(); ++i) {
    if (i > 0 && known->at[i] == 0) break;
    const auto at = static_cast<std::size_t>(known->at[i]);
    if (placed.size() <= at) placed.resize(at + 1);
    placed[at] = std::move(call->arguments[i]);
  }
  call->arguments = std::move(placed);
}

void name_arguments(simdjson::dom::object arguments, OpLine* line) {
  OpCall& call = line->call;
  for (const auto& [key, value] : arguments) {
    if (key == "memory_format") {
      std::string_view format;
      if (value.get(format) != simdjson::SUCCESS || !format.ends_with("channels_last")) continue;
      for (OpArgument& a : call.arguments) {
        if (a.tensor.sizes.size() > 3 && a.tensor.strides.empty()) a.tensor.strides = channels_last(a.tensor.sizes);
      }
      continue;
    }
    if (std::ranges::find(kOfNoMatter, key) != kOfNoMatter.end()) continue;
    const int position = position_of(key, *line->op);
    if (position < 0) {
      line->not_used.emplace_back(key);
      continue;
    }
    const auto at = static_cast<std::size_t>(position);
    if (call.arguments.size() <= at) call.arguments.resize(at + 1);
    OpArgument& a = call.arguments[at];
    if (a.kind != OpArgument::Kind::none && a.kind != OpArgument::Kind::value) continue;
    a.kind = OpArgument::Kind::value;
    a.value = python_text(value);
  }
  call.has_constants = true;
}

// What PyTorch takes where a convolution is told nothing.
void default_arguments(OpLine* line) {
  const OpFormula* row = find_op(*line->op);
  const auto* at = row == nullptr ? nullptr : std::get_if<ConvolutionPositions>(&row->positions);
  if (at == nullptr) return;
  const auto otherwise = [&](int position, std::string_view value) {
    if (position < 0) return;
    std::vector<OpArgument>& arguments = line->call.arguments;
    if (arguments.size() <= static_cast<std::size_t>(position)) arguments.resize(static_cast<std::size_t>(position) + 1);
    OpArgument& argument = arguments[static_cast<std::size_t>(position)];
    if (argument.kind != OpArgument::Kind::none) return;
    argument.kind = OpArgument::Kind::value;
    argument.value = value;
  };
  otherwise(at->stride, "[1]");
  otherwise(at->padding, "[0]");
  otherwise(at->dilation, "[1]");
  otherwise(at->output_padding, "[0]");
  otherwise(at->groups, "1");
  otherwise(at->transposed_at, "False");
  otherwise(at->mask, "[True, True, False]");
  line->call.has_constants = true;
}

std::string json_of(element value) { return simdjson::minify(value); }

// One name of a type may stand for all tensors.
std::string types_of(element types, std::size_t arguments) {
  if (types.is_array()) return json_of(types);
  std::string all = "[";
  for (std::size_t i = 0; i < arguments; ++i) all += (i > 0 ? "," : "") + json_of(types);
  return all + "]";
}

Result<OpLine> read_line(element json, const std::string& where) {
  const auto bad = [&](const std::string& what) { return fail(ErrorCode::usage, what, where, kHint); };
  std::string_view op;
  simdjson::dom::object object;
  if (json.get(object) != simdjson::SUCCESS) return bad("not a JSON object");
  if (object["op"].get(op) != simdjson::SUCCESS || op.empty()) return bad("the line names no op");
  if (const auto wrong = wrong_field(object)) return bad(*wrong);
  OpLine line;
  line.op = std::make_unique<std::string>(
      op.find("::") == std::string_view::npos && op.find("triton") != 0 ? "aten::" + std::string(op) : std::string(op));
  const std::string_view plain = plain_name(*line.op);
  element shapes, types, strides, concrete, more;
  std::string shape_text, type_text, stride_text, concrete_text;
  std::size_t count = 0;
  if (object["shapes"].get(shapes) == simdjson::SUCCESS && shapes.is_array()) {
    line.shapes = shape_text = json_of(shapes);
    if (!are_sizes(shapes)) return bad("a size is negative or no whole number: " + shape_text);
    count = simdjson::dom::array(shapes).size();
    if (takes_list(plain) && object["concrete"].get(concrete) != simdjson::SUCCESS && is_list_of_shapes(shapes)) {
      shape_text = "[" + shape_text + "]";
      if (object["strides"].get(strides) == simdjson::SUCCESS) stride_text = "[" + json_of(strides) + "]";
      count = 1;
    }
  }
  if (stride_text.empty() && object["strides"].get(strides) == simdjson::SUCCESS && strides.is_array())
    stride_text = json_of(strides);
  if (!line.shapes.empty() && object["strides"].get(strides) == simdjson::SUCCESS && !fit_sizes(strides, shapes))
    return bad("not as many strides as sizes: " + json_of(strides));
  if (object["dtypes"].get(types) == simdjson::SUCCESS && (types.is_array() || types.is_string())) {
    line.dtypes = type_text = types_of(types, count);
  }
  const bool positional = object["concrete"].get(concrete) == simdjson::SUCCESS && concrete.is_array();
  if (positional) concrete_text = json_of(concrete);
  line.call = parse_op_call(*line.op, shape_text, type_text, stride_text, concrete_text);
  // The type of a list's tensors, which a trace does not tell, and sizes of lists that it leaves out.
  std::string_view item;
  DType of_lists = object["item"].get(item) == simdjson::SUCCESS ? parse_dtype(item) : DType::unknown;
  if (of_lists == DType::unknown && takes_list(plain) && types.is_array()) {
    for (const element each : simdjson::dom::array(types)) {
      std::string_view text;
      if (of_lists == DType::unknown && each.get(text) == simdjson::SUCCESS) of_lists = parse_dtype(text);
    }
  }
  std::vector<std::int64_t> sizes;
  if (simdjson::dom::array given; object["sizes"].get(given) == simdjson::SUCCESS) {
    for (const element each : given) {
      std::int64_t size = 0;
      if (each.get(size) == simdjson::SUCCESS) sizes.push_back(size);
    }
  }
  if ((plain == "index" || plain.starts_with("index_put")) && line.call.arguments.size() > 1 && !sizes.empty() &&
      line.call.arguments[1].kind != OpArgument::Kind::tensor) {
    OpArgument& indices = line.call.arguments[1];
    indices.kind = OpArgument::Kind::tensor_list;
    for (const std::int64_t size : sizes) indices.list.push_back({{size}, {}, of_lists});
  }
  for (OpArgument& a : line.call.arguments) {
    if (a.kind != OpArgument::Kind::tensor_list) continue;
    if (a.list.empty() && a.type == "TensorList") {
      for (const std::int64_t size : sizes) a.list.push_back({{size}, {}, of_lists});
      a.list_left_out = a.list.empty();
    }
    for (TensorShape& t : a.list) {
      if (t.dtype == DType::unknown) t.dtype = of_lists;
    }
  }
  if (!positional) place_tensors(plain, &line.call);
  if (simdjson::dom::object named; object["args"].get(named) == simdjson::SUCCESS) name_arguments(named, &line);
  if (!positional) default_arguments(&line);
  if (!item.empty() && of_lists == DType::unknown) return bad("unknown dtype '" + std::string(item) + "'");
  if (const auto wrong = impossible(line.call)) return bad(*wrong);
  if (const auto wrong = positional ? std::nullopt : nothing_to_do(line.call)) return bad(*wrong);
  if (element config; object["config"].get(config) == simdjson::SUCCESS && !config.is_null()) {
    line.product = triton_product_of(line.call);
    if (!line.product) return bad("'config' is of a product by Triton: aten::mm or aten::addmm of two matrices");
    if (config.is_object()) line.tiles = {tile_of(config)};
    if (config.is_string()) line.tiles = inductor_tiles(*line.product);
  }
  if (bool tf32 = false; object["tf32"].get(tf32) == simdjson::SUCCESS) line.tf32 = tf32;
  if (double ns = 0; object["warm_ns"].get(ns) == simdjson::SUCCESS) line.warm_ns = ns;
  if (double ns = 0; object["cold_ns"].get(ns) == simdjson::SUCCESS) line.cold_ns = ns;
  return line;
}

}  // namespace

Result<std::vector<OpLine>> read_op_lines(std::string_view text, const std::string& where) {
  std::vector<OpLine> lines;
  simdjson::dom::parser parser;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const std::string place = where + ":" + std::to_string(number);
    element json;
    if (parser.parse(line.data(), line.size()).get(json) != simdjson::SUCCESS)
      return fail(ErrorCode::usage, "not JSON", place, kHint);
    TRY(OpLine read, read_line(json, place));
    lines.push_back(std::move(read));
  }
  return lines;
}

}  // namespace ridge
