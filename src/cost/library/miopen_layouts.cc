// MIOpen's helpers around a convolution: which tensor a transpose takes, what a cast or a fill of a workspace moves.
//
// batched_transpose_AxB goes over N matrices, of C rows and H W columns into channels-last and of H W rows and C columns back,
// in tiles of A columns and B rows, one block each. That number of blocks tells the tensor: of 705 launches in a trace of an
// MI300X each fits one of its convolution's tensors. Kernels that sum in float32 beside a result of 16 bits have their
// workspace cleared before (SubTensorOpWithScalar) and cast to the result behind them (SubTensorOpWithCastTensor).
#include <array>
#include <cmath>

#include "cost/library/call_parts.h"
#include "kernel_names/tile_in_name.h"
#include "ops/operands.h"

namespace ridge {
namespace {

constexpr int kNoOperand = 1 << 20;  // a transform of which nobody says what it takes: its bytes are unknown

struct Images {
  double batch = 0, channels = 0, positions = 0;

  double elements() const { return batch * channels * positions; }
};

class MiopenLayouts {
 public:
  MiopenLayouts(CallParts& c, const ConvolutionPositions& at) : c_(c), at_(at) {
    for (std::size_t i = 0; i < operands(); ++i) {
      const TensorShape* t = tensor_at(c_.call, i);
      if (t != nullptr && t->sizes.size() >= 3) tensors_[i] = images(*t);
    }
    if (!c_.backward()) tensors_[kResult] = result();
  }

  void assign() {
    for (std::size_t i = 0; i < c_.parts.size(); ++i) {
      if (names(i, "batched_transpose")) transpose(i);
      if (names(i, "SubTensorOpWithCast")) cast(i);
      if (names(i, "SubTensorOpWithScalar")) clear(i);
    }
  }

 private:
  static constexpr std::size_t kResult = 2;  // forward: behind x and w; backward, all are arguments: grad, x, w

  bool names(std::size_t i, std::string_view part) const { return c_.launches[i].kernel.find(part) != std::string_view::npos; }
  std::size_t operands() const { return c_.backward() ? 3 : 2; }
  ConvolutionPart& own(std::size_t i) { return c_.parts[i].edit<ConvolutionPart>(); }

  static Images images(const TensorShape& t) {
    Images out{static_cast<double>(t.sizes[0]), static_cast<double>(t.sizes[1]), 1};
    for (std::size_t d = 2; d < t.sizes.size(); ++d) out.positions *= static_cast<double>(t.sizes[d]);
    return out;
  }

  Images result() const {
    const TensorShape* x = tensor_at(c_.call, 0);
    const TensorShape* w = tensor_at(c_.call, 1);
    if (x == nullptr || w == nullptr || x->sizes.size() < 3 || w->sizes.size() < 2 || x->sizes[0] <= 0) return {};
    const auto position = [](int p) { return static_cast<std::size_t>(p); };
    const bool argument = at_.transposed == ConvolutionPositions::Transposed::argument;
    const bool transposed =
        argument ? flag_at(c_.call, position(at_.transposed_at)) : at_.transposed == ConvolutionPositions::Transposed::yes;
    const double groups = at_.groups < 0 ? 1 : number_at(c_.call, position(at_.groups)).value_or(1);
    const double channels = transposed ? static_cast<double>(w->sizes[1]) * groups : static_cast<double>(w->sizes[0]);
    const double all = output_elements(c_), batch = static_cast<double>(x->sizes[0]);
    return channels > 0 ? Images{batch, channels, all / batch / channels} : Images{};
  }

  // Blocks of a launch: a module's kernel is recorded with its threads as the grid.
  static bool has_blocks(const CallLaunch& launch, double blocks) {
    if (!launch.grid || !launch.block || launch.block->x <= 0 || blocks <= 0) return false;
    const double grid = volume(launch.grid);
    return grid == blocks || grid == blocks * static_cast<double>(launch.block->x);
  }

  void transpose(std::size_t i) {
    const CallLaunch& launch = c_.launches[i];
    const auto [columns, rows] = tile_in_name(launch.kernel, launch.kernel.find("transpose"));
    c_.parts[i].role = KernelRole::layout_in;
    own(i).operand = kNoOperand;
    if (columns <= 0 || rows <= 0) return;
    double elements = 0;
    for (std::size_t t = 0; t < tensors_.size(); ++t) {
      const Images& m = tensors_[t];
      const double in = m.batch * std::ceil(m.channels / rows) * std::ceil(m.positions / columns);
      const double back = m.batch * std::ceil(m.positions / rows) * std::ceil(m.channels / columns);
      if (!has_blocks(launch, in) && !has_blocks(launch, back)) continue;
      if (elements > 0) {  // another one has as many blocks
        c_.parts[i].guessed |= m.elements() != elements;
        continue;
      }
      elements = m.elements();
      const bool of_result = !c_.backward() && t == kResult;
      c_.parts[i].role = of_result ? KernelRole::layout_out : KernelRole::layout_in;
      own(i).operand = of_result ? -1 : static_cast<int>(t);
    }
  }

  // The tensor that the kernel at `product` computes.
  const Images& computed(std::size_t product) const {
    if (!c_.backward()) return tensors_[kResult];
    return tensors_[c_.parts[product].role == KernelRole::grad_weight ? 2 : 1];
  }
  double sums(std::size_t product) const { return computed(product).elements() * item_bytes(DType::f32); }
  void serve(std::size_t i, std::size_t product, KernelRole role) {
    c_.parts[i].role = role;
    own(i).operand = c_.backward() ? (c_.parts[product].role == KernelRole::grad_weight ? 2 : 1) : -1;
  }

  // Of the sums of the last kernel that computed.
  void cast(std::size_t i) {
    std::size_t product = i;
    while (product > 0 && !computes(c_.parts[product - 1].role)) --product;
    if (product == 0) {
      c_.parts[i].role = KernelRole::layout_in;
      own(i).operand = kNoOperand;
      return;
    }
    serve(i, product - 1, KernelRole::layout_out);
    own(i).partial_bytes = sums(product - 1);
  }

  // For the next kernel that computes: the sums, where a cast follows it.
  void clear(std::size_t i) {
    std::size_t product = i;
    while (product < c_.parts.size() && !computes(c_.parts[product].role)) ++product;
    if (product == c_.parts.size()) return;
    serve(i, product, KernelRole::fill);
    for (std::size_t next = product + 1; next < c_.parts.size() && !computes(c_.parts[next].role); ++next) {
      if (names(next, "SubTensorOpWithCast")) own(i).partial_bytes = sums(product);
    }
  }

  CallParts& c_;
  const ConvolutionPositions& at_;
  std::array<Images, 3> tensors_{};
};

}  // namespace

void assign_miopen_layouts(CallParts& c, const ConvolutionPositions& at) { MiopenLayouts(c, at).assign(); }

}  // namespace ridge
