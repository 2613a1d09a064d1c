// All families as one table: from an op's name to its row.
#include <array>
#include <string>
#include <unordered_map>

#include "base/lasting.h"
#include "ops/op_work.h"
#include "ops/operands.h"

namespace ridge {
namespace {

using Rows = std::unordered_map<std::string_view, const OpFormula*>;

template <class Name>
Rows index_by(Name name) {
  Rows rows;
  for (const auto family : all_ops()) {
    for (const OpFormula& row : family) rows.emplace(name(row.op), &row);
  }
  return rows;
}

std::string_view plain_name(std::string_view op) {
  const std::size_t colons = op.rfind("::");
  return colons == std::string_view::npos ? op : op.substr(colons + 2);
}

// Of an in-place form.
std::string_view without_mark(std::string_view name) { return name.ends_with('_') ? name.substr(0, name.size() - 1) : name; }

const OpFormula* find(const Rows& rows, std::string_view op) {
  const auto it = rows.find(op);
  return it == rows.end() ? nullptr : it->second;
}

// Under its own name, else without the mark of an in-place form, else with the others that begin like it.
const OpFormula* find_form(const Rows& rows, std::string_view op, std::string_view foreach_prefix) {
  if (const OpFormula* row = find(rows, op)) return row;
  if (const OpFormula* row = find(rows, without_mark(op))) return row;
  return op.starts_with(foreach_prefix) ? find(rows, foreach_prefix) : nullptr;
}

// SGLang's recorder of shapes numbers its calls: "sglang_profiler::attention_paged_attention_ragged_100".
std::string_view without_number(std::string_view op) {
  if (!op.starts_with("sglang_profiler::")) return op;
  const std::size_t end = op.find_last_not_of("0123456789");
  return end != std::string_view::npos && op[end] == '_' ? op.substr(0, end) : op;
}

// FlashInfer names a namespace after all that it compiled a module for:
// "batch_prefill_with_kv_cache_dtype_q_bf16_..::paged_run".
std::string without_variant(std::string_view op) {
  const std::size_t variant = op.find("_dtype_q_"), colons = op.rfind("::");
  if (variant == std::string_view::npos || colons == std::string_view::npos || colons < variant) return std::string(op);
  return std::string(op.substr(0, variant)) + std::string(op.substr(colons));
}

OpWork reads_all(const OpCall& call, const Part&) {
  OpWork work{.flops = std::nullopt, .ambiguous = true};
  double read = 0;
  bool any = false;
  for (const OpArgument& a : call.arguments) {
    if (a.kind == OpArgument::Kind::tensor_list) return work;
    if (a.kind != OpArgument::Kind::tensor) continue;
    if (a.tensor.dtype == DType::unknown) return work;
    if (work.dtype == DType::unknown) work.dtype = a.tensor.dtype;
    read += touched_bytes(a.tensor);
    any = true;
  }
  if (any) work.read = read;
  return work;
}
constexpr OpFormula kAnySingle{"", OpFamily::copy, reads_all};

}  // namespace

std::span<const std::span<const OpFormula>> all_ops() {
  static const std::array families = {gemm_ops(),
                                      convolution_ops(),
                                      attention_ops(),
                                      pointwise_ops(),
                                      reduction_ops(),
                                      norm_ops(),
                                      gather_ops(),
                                      copy_ops(),
                                      pooling_ops(),
                                      loss_ops(),
                                      sort_ops(),
                                      optimizer_ops(),
                                      recurrent_ops(),
                                      detection_ops(),
                                      quantised_product_ops(),
                                      paged_attention_ops(),
                                      experts_ops(),
                                      transfer_ops()};
  return families;
}

const OpFormula* find_op(std::string_view op) {
  static const auto& rows = lasting<Rows>(index_by([](std::string_view name) { return name; }));
  const std::string known = without_variant(without_number(op));
  const std::size_t name = known.find("::");
  if (name == std::string::npos) return nullptr;
  return find_form(rows, std::string_view(known).substr(0, known.find('.', name)), "aten::_foreach_");
}

const OpFormula* find_op_by_plain_name(std::string_view name) {
  static const auto& rows = lasting<Rows>([] {
    Rows all = index_by(plain_name);
    all.merge(index_by([](std::string_view op) { return without_mark(plain_name(op)); }));
    return all;
  }());
  return find_form(rows, name, "_foreach_");
}

const ProductPositions* product_positions(const OpFormula& row) { return std::get_if<ProductPositions>(&row.positions); }

// Of two vectors a product is one sum.
bool is_matrix_work(const OpFormula& row) {
  return row.family == OpFamily::convolution || row.family == OpFamily::attention || product_positions(row) != nullptr;
}

std::string_view matrix_sort(const OpFormula& row) {
  if (!is_matrix_work(row)) return {};
  const bool backward = row.op.find("backward") != std::string_view::npos;
  switch (row.family) {
    case OpFamily::convolution: return backward ? "convolution_backward" : "convolution";
    case OpFamily::attention: return backward ? "attention_backward" : "attention";
    default: return "gemm";
  }
}

const OpFormula& any_single_kernel() { return kAnySingle; }

}  // namespace ridge
