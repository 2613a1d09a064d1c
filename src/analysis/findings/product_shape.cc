// Sizes from the call's shapes, alignment from its strides.
#include "analysis/findings/product_shape.h"

#include <algorithm>
#include <cmath>

#include "ops/op_work.h"

namespace ridge {
namespace {

constexpr double kRowBytes = 16;  // one vector load

bool off_grid(double elements, double item) { return std::fmod(elements * item, kRowBytes) != 0; }

// How an operand of [rows, columns] lies in memory.
struct Layout {
  bool told = false;
  bool by_columns = false;
  double distance = 0;  // between rows, or columns
};

Layout layout_of(const TensorShape& t) {
  const std::size_t n = t.sizes.size();
  if (t.strides.size() != n) return {};
  const std::int64_t down = t.strides[n - 2], along = t.strides[n - 1];
  const bool by_columns = t.sizes[n - 1] != 1 && along != 1 && (down == 1 || t.sizes[n - 2] == 1);
  return {true, by_columns, static_cast<double>(by_columns ? along : down)};
}

class Sides {
 public:
  explicit Sides(ProductShape* shape) : shape_(shape) {}

  // An operand of `rows` by `columns`, each a dimension of the product.
  void operand(const Layout& layout, char rows, char columns) {
    if (!layout.told) {  // whichever way it lies
      if (off(rows) && off(columns)) blame(columns);
      return;
    }
    const char line = layout.by_columns ? rows : columns;  // what lies side by side
    if (shape_->size(layout.by_columns ? columns : rows) <= 1 || !off_grid(layout.distance, shape_->item)) return;
    if (layout.distance == shape_->size(line)) {
      blame(line);
    } else {
      shape_->odd_strides = true;
    }
  }
  // The result is written row by row.
  void result() {
    if (off('n')) blame('n');
  }

 private:
  bool off(char dimension) const { return off_grid(shape_->size(dimension), shape_->item); }
  void blame(char dimension) {
    if (std::find(shape_->odd.begin(), shape_->odd.end(), dimension) == shape_->odd.end()) shape_->odd.push_back(dimension);
  }

  ProductShape* shape_;
};

}  // namespace

std::string_view name_of(ProductSide side) {
  constexpr std::string_view kNames[] = {"tokens (batch size x length)", "input features", "output features",
                                         "sequence length or head size"};
  return kNames[static_cast<std::size_t>(side)];
}

ProductSide ProductShape::side(char dimension, bool backward) const {
  if (batched) return ProductSide::of_batch;
  if (!backward) {
    return dimension == 'm' ? ProductSide::tokens : dimension == 'k' ? ProductSide::in_features : ProductSide::out_features;
  }
  if (dimension == 'n') return ProductSide::in_features;  // of x and of its weight's columns alike
  const bool of_weight = a_by_columns;                    // dW = dY^T X; dX = dY W
  return (dimension == 'm') == of_weight ? ProductSide::out_features : ProductSide::tokens;
}

std::int64_t ProductShape::grid() const { return static_cast<std::int64_t>(kRowBytes / item); }

std::optional<ProductShape> product_shape(const OpCall& call) {
  const OpFormula* row = find_op(call.op);
  const ProductPositions* at = row == nullptr ? nullptr : product_positions(*row);
  if (at == nullptr || call.arguments.size() <= static_cast<std::size_t>(std::max(at->a, at->b))) return std::nullopt;
  const TensorShape& a = call.arguments[static_cast<std::size_t>(at->a)].tensor;
  const TensorShape& b = call.arguments[static_cast<std::size_t>(at->b)].tensor;
  if (a.sizes.size() < 2 || b.sizes.size() != a.sizes.size() || a.dtype != b.dtype) return std::nullopt;
  const std::size_t n = a.sizes.size();
  ProductShape s{.m = static_cast<double>(a.sizes[n - 2]),
                 .n = static_cast<double>(b.sizes[n - (at->b_by_rows ? 2 : 1)]),
                 .k = static_cast<double>(a.sizes[n - 1]),
                 .item = item_bytes(a.dtype),
                 .batched = n > 2,
                 .odd = {}};
  const bool tensor_cores = a.dtype == DType::f16 || a.dtype == DType::bf16 || a.dtype == DType::f32 || a.dtype == DType::f8;
  if (!tensor_cores || s.m < 1 || s.n < 1 || s.k < 1) return std::nullopt;
  const Layout of_a = layout_of(a), of_b = layout_of(b);
  s.a_by_columns = of_a.by_columns;
  s.b_by_columns = of_b.by_columns;
  Sides sides(&s);
  sides.operand(of_a, 'm', 'k');
  sides.operand(of_b, at->b_by_rows ? 'n' : 'k', at->b_by_rows ? 'k' : 'n');
  sides.result();
  return s;
}

}  // namespace ridge
