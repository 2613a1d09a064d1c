// Mixtures of experts: which kernel does which of the two products; and where the weights are no argument, their widths from
// what the call allocates: a list of the k experts of each token, and of two buffers with a row for each token and expert the
// one between the products and the one behind them.
#include <algorithm>

#include "cost/library/call_parts.h"
#include "kernel_names/expert_product.h"
#include "kernel_names/kernel_description.h"
#include "ops/operands.h"

namespace ridge {
namespace {

double width(const TensorShape& t) { return t.sizes.empty() ? 0 : static_cast<double>(t.sizes.back()); }
double height(const TensorShape& t) { return width(t) > 0 ? numel(t) / width(t) : 0; }

// [tokens, k], k fewer than there are experts.
double experts_of_a_token(std::span<const TensorShape> made, double tokens, double experts) {
  for (const TensorShape& t : made) {
    if (t.sizes.size() == 2 && height(t) == tokens && width(t) > 0 && width(t) < experts) return width(t);
  }
  return 0;
}

// The buffer behind the products is as wide as the tokens; that between them has as many rows.
double width_between(std::span<const TensorShape> made, double rows, double hidden) {
  for (const TensorShape& behind : made) {
    if (width(behind) != hidden || height(behind) < rows) continue;
    for (const TensorShape& between : made) {
      if (&between != &behind && between.sizes.size() >= 2 && height(between) == height(behind) && width(between) > 1)
        return width(between);
    }
  }
  return 0;
}

}  // namespace

void assign_experts_roles(CallParts& c) {
  const auto* at = std::get_if<ExpertsPositions>(&c.row.positions);
  if (at == nullptr) return;
  std::vector<std::size_t> products;
  for (std::size_t i = 0; i < c.parts.size(); ++i) {
    if (c.parts[i].role != KernelRole::main) continue;
    if (describe_kernel(c.launches[i].kernel).category == Category::gemm) {
      products.push_back(i);
    } else {
      c.parts[i].role = KernelRole::unknown;
    }
  }
  // One kernel does both; of several every second does the first. What an odd number of them does is not told.
  const bool in_turn = at->product == ExpertsPositions::Product::both && products.size() > 1;
  ExpertsPart known;
  const TensorShape* x = tensor_at(c.call, static_cast<std::size_t>(at->x));
  const TensorShape* router = at->router < 0 ? nullptr : tensor_at(c.call, static_cast<std::size_t>(at->router));
  if (x != nullptr && router != nullptr) {
    known.top_k = experts_of_a_token(c.context.made, height(*x), width(*router));
    known.inner = width_between(c.context.made, height(*x) * known.top_k, width(*x));
  }
  for (const std::size_t i : products) {
    const auto told = expert_product(c.launches[i].kernel);
    known.gated = known.gated || (told && told->gated);
    if (told && known.weight_item <= 0) known.weight_item = told->weight_item;
    if (told && known.in_item <= 0) known.in_item = told->in_item;
  }
  const bool widths_given = at->up >= 0 || at->down >= 0;
  for (std::size_t i = 0; i < c.parts.size(); ++i) {
    Part& part = c.parts[i];
    ExpertsPart own = known;
    if (const auto told = expert_product(c.launches[i].kernel)) {
      own.weight_item = told->weight_item;
      own.in_item = told->in_item;
      own.out_item = told->out_item;
    }
    // Without the type of the weights their widths give no bytes.
    if (!widths_given && own.weight_item <= 0) own.inner = 0;
    part.of = own;
    part.guessed = true;
  }
  if (!in_turn) return;
  for (std::size_t n = 0; n < products.size(); ++n) {
    const KernelRole product = n % 2 == 0 ? KernelRole::up : KernelRole::down;
    c.parts[products[n]].role = products.size() % 2 == 0 ? product : KernelRole::unknown;
  }
}

}  // namespace ridge
