// All families as one table: from an op's name to its row.
#include <string>
#include <unordered_map>

#include "ops/op_work.h"
#include "ops/operands.h"

namespace ridge {
namespace {

using Rows = std::unordered_map<std::string_view, const OpFormula*>;

Rows all_rows() {
  Rows rows;
  for (const auto family :
       {gemm_ops(), convolution_ops(), attention_ops(), pointwise_ops(), reduction_ops(), norm_ops(), gather_ops(), copy_ops(),
        pooling_ops(), loss_ops(), sort_ops(), optimizer_ops(), recurrent_ops(), detection_ops()}) {
    for (const OpFormula& row : family) rows.emplace(row.op, &row);
  }
  return rows;
}

const OpFormula* find(const Rows& rows, std::string_view op) {
  const auto it = rows.find(op);
  return it == rows.end() ? nullptr : it->second;
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

const OpFormula* find_op(std::string_view op) {
  static const Rows rows = all_rows();
  const std::size_t name = op.find("::");
  if (name == std::string_view::npos) return nullptr;
  op = op.substr(0, op.find('.', name));
  if (const OpFormula* row = find(rows, op)) return row;
  if (op.ends_with('_')) {
    if (const OpFormula* row = find(rows, op.substr(0, op.size() - 1))) return row;
  }
  constexpr std::string_view kForeach = "aten::_foreach_";
  return op.starts_with(kForeach) ? find(rows, kForeach) : nullptr;
}

const OpFormula& any_single_kernel() { return kAnySingle; }

}  // namespace ridge
