// Convolutions: which operand a layout transform brings, which gradient a kernel belongs to, what a reduction over k reads.
#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "cost/library/call_parts.h"
#include "ops/operands.h"

namespace ridge {
namespace {

// Kernels whose name says which operand they transform: positions in forward and backward ops.
struct NamedOperand {
  std::string_view pattern;
  int forward, backward;
};
constexpr NamedOperand kNamedOperands[] = {
    {"winogradForwardData", 0, 0},
    {"winogradForwardFilter", 1, 2},
    {"winogradWgradData", 0, 1},
    {"winogradWgradDelta", 0, 0},
    {"flip_filter", 1, 2},
    {"execute_helper_kernel", 1, 2},
    {"im2col", 0, 1},
    {"vol2col", 0, 1},
    {"tensorTransformGeneric", 1, 2},
};

class ConvolutionParts {
 public:
  ConvolutionParts(CallParts& c, const ConvolutionPositions& at) : c_(c), at_(at) {}

  void assign() {
    for (std::size_t i = 0; i < c_.parts.size(); ++i) own(i).accumulates = c_.launches[i].facts->accumulates;
    if (c_.backward()) {
      backward_phases();
      results_by_place();
    } else {
      for (Part& part : c_.parts) {
        if (part.role == KernelRole::grad_input || part.role == KernelRole::grad_weight) part.role = KernelRole::main;
      }
      transposes_by_place();
    }
    library_layout();
    assign_miopen_layouts(c_, at_);
    std::size_t product = c_.parts.size();
    for (std::size_t i = 0; i < c_.parts.size(); ++i) {
      if (computes(c_.parts[i].role)) {
        product = i;
        taken_.clear();  // the other gradient may bring the same operands again
      }
      if (c_.parts[i].role == KernelRole::layout_in && !of_miopen(i)) own(i).operand = operand_of(i);
      if (c_.launches[i].kernel.find("nhwcSliceC") != std::string_view::npos) take_group(i);
      // What was computed channel by channel has no padding.
      const bool from_planes = c_.launches[i].kernel.find("nchwToNhwc") != std::string_view::npos;
      if (c_.parts[i].role == KernelRole::layout_out && from_planes) own(i).channel_multiple = 1;
      c_.parts[i].guessed |= not_told(c_.launches[i].kernel);
      assign_convolution_rereads(c_, i);
      if (c_.parts[i].role != KernelRole::combine) continue;
      own(i).partial_bytes = partial_bytes(i, product);
      if (product < c_.parts.size()) own(product).partial_bytes = own(i).partial_bytes;
    }
  }

 private:
  ConvolutionPart& own(std::size_t i) { return c_.parts[i].edit<ConvolutionPart>(); }

  // A transform of any tensor into any layout, or into a space of points; groups of channels that are padded to the width of a
  // tile; tiles of a depthwise convolution, whose borders are read again as far as they have left the cache.
  static bool not_told(std::string_view kernel) {
    const auto holds = [&](std::string_view text) { return kernel.find(text) != std::string_view::npos; };
    return holds("tensorTransformGeneric") || holds("fft2d_") || holds("region_transform_ABC") || holds("_cf32_") ||
           (holds("xmma_depthwise") && holds("_tiling_")) || (holds("_implicit_gemm_indexed_") && holds("_g16_"));
  }

  // Forward: whichever of the two layouts the library works in, what is transposed before it computes is an operand, and what
  // after it the result.
  void transposes_by_place() {
    bool computed = false;
    for (std::size_t i = 0; i < c_.parts.size(); ++i) {
      computed = computed || computes(c_.parts[i].role);
      if (c_.launches[i].facts->transpose || adds_padding(i))
        c_.parts[i].role = computed ? KernelRole::layout_out : KernelRole::layout_in;
    }
  }

  // Backward: paddings and conversions behind the last kernel that computes bring a result back.
  void results_by_place() {
    std::size_t last = c_.parts.size();
    while (last > 0 && !computes(c_.parts[last - 1].role)) --last;
    if (last == 0) return;
    for (std::size_t i = last; i < c_.parts.size(); ++i) {
      if (c_.parts[i].role != KernelRole::layout_in || !(adds_padding(i) || converts(i))) continue;
      c_.parts[i].role = KernelRole::layout_out;
      own(i).operand = c_.parts[last - 1].role == KernelRole::grad_weight ? 2 : 1;
      const TensorShape* result = tensor_at(c_.call, static_cast<std::size_t>(own(i).operand));
      const bool from_sums = c_.launches[i].kernel.find("convertTensor_kernel<float") != std::string_view::npos;
      if (result != nullptr && from_sums) own(i).partial_bytes = numel(*result) * item_bytes(DType::f32);
    }
  }

  // The channels of one group, position by position: 64 bytes at least come with them.
  void take_group(std::size_t i) {
    ConvolutionPart& part = own(i);
    if (part.operand == static_cast<int>(operands()) - 1)
      part.operand = 0;  // weights have no other groups' channels beside them
    const TensorShape* t = tensor_at(c_.call, static_cast<std::size_t>(std::max(part.operand, 0)));
    const double groups = at_.groups < 0 ? 1 : number_at(c_.call, static_cast<std::size_t>(at_.groups)).value_or(1);
    if (t == nullptr || t->sizes.size() < 3 || t->sizes[1] <= 0 || groups < 1) return;
    const double channels = static_cast<double>(t->sizes[1]), item = item_bytes(t->dtype);
    part.partial_bytes = numel(*t) / channels * std::min(std::max(channels / groups * item, 64.0), channels * item);
  }

  std::size_t operands() const { return c_.backward() ? 3 : 2; }

  // cuDNN's channels-last kernels want 16 bytes of channels at least; the transposes before them pad. Its Winograd transform
  // makes 6 x 6 values of each 4 x 4, and what its product gives is 36 values for each pair of channels.
  void library_layout() {
    const TensorShape* x = tensor_at(c_.call, 0);
    const double item = x == nullptr ? 0 : item_bytes(x->dtype);
    bool padded = false, winograd = false, folds = false, first_layer = false;
    const TensorShape* activations = tensor_at(c_.call, c_.backward() ? 1 : 0);
    const bool last = activations != nullptr && channels_last(*activations);
    for (const CallLaunch& launch : c_.launches) {
      padded |= launch.facts->transpose || launch.kernel.find("nhwcAddPadding") != std::string_view::npos;
      folds |= launch.facts->folds;
      first_layer |= launch.kernel.find("image_first_layer") != std::string_view::npos;  // takes channels by four: "k64c4r7s7"
      winograd |= launch.kernel.find("winograd_nonfused") != std::string_view::npos;
    }
    // Kernels that gather their operands through indices take the channels as they are: they are aligned to one element
    // ("aligna2" in half, "aligna4" in float, in bytes).
    for (const CallLaunch& launch : c_.launches) padded &= launch.kernel.find("indexed_wo_smem") == std::string_view::npos;
    const TensorShape* w = tensor_at(c_.call, operands() - 1);
    for (std::size_t i = 0; i < c_.parts.size(); ++i) {
      ConvolutionPart& part = own(i);
      part.channels_last = last || padded || c_.launches[i].kernel.find("nhwckrsc_nhwc") != std::string_view::npos;
      if (padded && item > 0) part.channel_multiple = first_layer ? 4 : 16 / item;
      if (folds && w != nullptr && c_.launches[i].kernel.find("unity_stride") != std::string_view::npos)
        part.weights_enlarged = folded(*w);
      if (!winograd) continue;
      const bool plain_product = role_of(c_.row.family, c_.launches[i].kernel) == KernelRole::main;
      if (plain_product) part.enlarged = 36.0 / 16;
      if (c_.parts[i].role == KernelRole::layout_out && part.operand == 2 && w != nullptr && w->sizes.size() >= 2) {
        part.partial_bytes = 36 * static_cast<double>(w->sizes[0]) * static_cast<double>(w->sizes[1]) * item_bytes(DType::f32);
      }
    }
  }

  // A convolution with strides becomes one without: s x s positions go into the channels, and the weights, which padding shifts
  // against them, are filled up to whole steps. A 4 x 4 kernel of stride 2 and padding 1 becomes 6 x 6.
  double folded(const TensorShape& w) const {
    if (at_.stride < 0 || at_.padding < 0) return 1;
    const auto stride = integers_at(c_.call, static_cast<std::size_t>(at_.stride)),
               padding = integers_at(c_.call, static_cast<std::size_t>(at_.padding));
    if (!stride || !padding || stride->empty() || padding->empty()) return 1;
    double larger = 1;
    for (std::size_t i = 2; i < w.sizes.size(); ++i) {
      const double s = static_cast<double>((*stride)[std::min(i - 2, stride->size() - 1)]);
      const double p = static_cast<double>((*padding)[std::min(i - 2, padding->size() - 1)]);
      const double k = static_cast<double>(w.sizes[i]);
      if (s <= 1 || k <= 0 || p < 0) continue;
      larger *= std::ceil((k + std::fmod(p, s)) / s) * s / k;
    }
    return larger;
  }

  static bool channels_last(const TensorShape& t) {
    return t.strides.size() == t.sizes.size() && t.strides.size() > 2 && t.strides[1] == 1;
  }

  // The gradient of the input comes before that of the weight. A kernel that does not say which belongs to the weight once a
  // kernel that does, or a whole computation, has gone before it; and to the only gradient when the mask asks for one.
  void backward_phases() {
    const std::vector<bool> mask = at_.mask < 0 ? std::vector<bool>() : flags_at(c_.call, static_cast<std::size_t>(at_.mask));
    const bool input = mask.empty() || mask[0], weight = mask.size() < 2 || mask[1];
    std::size_t last_input = 0;
    for (std::size_t i = 0; i < c_.parts.size(); ++i) {
      if (c_.parts[i].role == KernelRole::grad_input) last_input = i;
    }
    bool weight_phase = !input, computed_input = false;
    const CallLaunch* of_input = nullptr;  // a plain product that gives the input's gradient
    const bool in_tiles = holds_fourier_transforms();
    for (std::size_t i = 0; i < c_.parts.size(); ++i) {
      KernelRole& role = c_.parts[i].role;
      if (weight && names_weight(c_.launches[i].kernel)) weight_phase = true;
      if (role == KernelRole::main) {
        const bool again = in_tiles && !weight_phase && of_input != nullptr && same_launch(*of_input, c_.launches[i]);
        const bool is_weight = weight && i >= last_input && (weight_phase || computed_input) && !again;
        role = is_weight ? KernelRole::grad_weight : KernelRole::grad_input;
        if (!is_weight) of_input = &c_.launches[i];
      }
      if (role == KernelRole::grad_input && !input) role = KernelRole::grad_weight;
      if (role == KernelRole::grad_input) {
        weight_phase = false;
        computed_input = true;
      }
      if (role == KernelRole::grad_weight) weight_phase = true;
      if (!computes(role) && (weight_phase || result_by_grid(i) == 2)) own(i).operand = 2;  // it serves the weight's gradient
      if (result_by_grid(i) == 1) own(i).operand = 1;
    }
  }
  // cuDNN goes over large images in tiles, with a product for each.
  bool holds_fourier_transforms() const {
    return std::any_of(c_.launches.begin(), c_.launches.end(),
                       [](const CallLaunch& launch) { return launch.kernel.find("fft2d_") != std::string_view::npos; });
  }
  static bool same_launch(const CallLaunch& a, const CallLaunch& b) {
    const auto same = [](const std::optional<Dim3>& x, const std::optional<Dim3>& y) {
      return x && y && x->x == y->x && x->y == y->y && x->z == y->z;
    };
    return a.kernel == b.kernel && same(a.grid, b.grid);
  }
  static bool names_weight(std::string_view kernel) {
    return kernel.find("wgrad") != std::string_view::npos || kernel.find("Wgrad") != std::string_view::npos ||
           kernel.find("grad_weight") != std::string_view::npos;
  }
  bool tells_by_grid(std::size_t i) const { return c_.launches[i].facts->transpose || c_.launches[i].facts->folds; }

  // cuDNN's transposes: blocks of 32 by 32 over (positions, channels), and one layer per image.
  bool fits_grid(const TensorShape& t, const Dim3& grid) const {
    if (t.sizes.size() < 3) return false;
    double positions = 1;
    for (std::size_t i = 2; i < t.sizes.size(); ++i) positions *= static_cast<double>(t.sizes[i]);
    const auto tiles = [](double n) { return std::ceil(n / 32); };
    return static_cast<double>(grid.x) == tiles(positions) &&
           static_cast<double>(grid.y) == tiles(static_cast<double>(t.sizes[1])) && grid.z == t.sizes[0];
  }
  // Which of the arguments a transpose of the result stands for: 1 the input, 2 the weight; -1: not told.
  int result_by_grid(std::size_t i) const {
    if (c_.parts[i].role != KernelRole::layout_out || !tells_by_grid(i) || !c_.launches[i].grid) return -1;
    for (const std::size_t operand : {std::size_t{1}, std::size_t{2}}) {
      const TensorShape* t = tensor_at(c_.call, operand);
      if (t != nullptr && fits_grid(*t, *c_.launches[i].grid)) return static_cast<int>(operand);
    }
    return -1;
  }

  // The operand that a kernel brings into another layout: the one whose transpose has this grid and was not brought yet; else
  // the one of the size that its threads fit best, each once: x comes before w.
  int operand_of(std::size_t i) {
    const CallLaunch& launch = c_.launches[i];
    const bool back = c_.backward();
    if (const int flipped = flipped_by_grid(launch); flipped >= 0) return flipped;
    for (const NamedOperand& named : kNamedOperands) {
      if (launch.kernel.find(named.pattern) != std::string_view::npos) return back ? named.backward : named.forward;
    }
    const bool not_by_grid = adds_padding(i) || converts(i);  // its grid is the device's, not the tensor's
    std::array<bool, 3>& taken = taken_[not_by_grid ? nullptr : launch.kernel.data()];
    int best = 0;
    double best_distance = 1e300;
    for (const std::size_t operand : order_of_operands(i)) {
      if (operand >= operands()) continue;
      const TensorShape* t = tensor_at(c_.call, operand);
      if (t == nullptr || !launch.grid) continue;
      const bool fits = tells_by_grid(i) && fits_grid(*t, *launch.grid);
      if (converts(i)) {
        if (taken[operand]) continue;
        best = static_cast<int>(operand);
        break;
      }
      // What needs padding is brought, activations before weights.
      if (adds_padding(i)) {
        const double multiple = own(i).channel_multiple;
        const auto uneven = [&](std::int64_t channels) {
          return multiple > 1 && std::fmod(static_cast<double>(channels), multiple) != 0;
        };
        const bool weights = operand + 1 == operands();  // their output channels as well
        const bool needs = t->sizes.size() >= 2 && (uneven(t->sizes[1]) || (weights && uneven(t->sizes[0])));
        if (!needs || taken[operand]) continue;
        best = static_cast<int>(operand);
        break;
      }
      const double threads = std::max(volume(launch.grid) * std::max(volume(launch.block), 1.0), 1.0);
      double distance = fits ? 0 : 1 + std::abs(std::log(std::max(numel(*t), 1.0) / threads));
      if (taken[operand]) distance += fits ? 0.5 : 100;
      if (distance < best_distance) {
        best = static_cast<int>(operand);
        best_distance = distance;
      }
    }
    taken[static_cast<std::size_t>(best)] = true;
    return best;
  }

  // What is taken as a filter has a block for each pair of its channels: for the gradient of the weight that is the gradient of
  // the output.
  int flipped_by_grid(const CallLaunch& launch) const {
    if (launch.kernel.find("flip_filter") == std::string_view::npos || !launch.grid) return -1;
    for (std::size_t operand = operands(); operand-- > 0;) {
      const TensorShape* t = tensor_at(c_.call, operand);
      if (t == nullptr || t->sizes.size() < 2) continue;
      const auto [x, y] = std::pair(t->sizes[0], t->sizes[1]);
      if ((launch.grid->x == x && launch.grid->y == y) || (launch.grid->x == y && launch.grid->y == x))
        return static_cast<int>(operand);
    }
    return -1;
  }

  bool of_miopen(std::size_t i) const {
    const std::string_view kernel = c_.launches[i].kernel;
    return kernel.find("batched_transpose") != std::string_view::npos || kernel.find("SubTensorOp") != std::string_view::npos;
  }

  bool adds_padding(std::size_t i) const { return c_.launches[i].kernel.find("nhwcAddPadding") != std::string_view::npos; }

  bool converts(std::size_t i) const { return c_.launches[i].kernel.find("convertTensor_kernel") != std::string_view::npos; }

  // The library takes (x, grad) for the gradient of the weight, and (grad, w) for that of the input.
  std::array<std::size_t, 3> order_of_operands(std::size_t i) const {
    for (; c_.backward() && i < c_.parts.size(); ++i) {
      if (c_.parts[i].role == KernelRole::grad_weight) return {1, 0, 2};
      if (c_.parts[i].role == KernelRole::grad_input) return {0, 2, 1};
    }
    return {0, 1, 2};
  }

  // What a reduction over k reads: tiles of fp32 partial sums, or as many results as the product before it was split into.
  double partial_bytes(std::size_t i, std::size_t product) {
    const CallLaunch& launch = c_.launches[i];
    const double tile = launch.facts->tile_m * launch.facts->tile_n;
    const TensorShape* w = tensor_at(c_.call, operands() - 1);
    const bool matrix = w != nullptr && w->sizes.size() >= 2;
    const double inputs = matrix ? static_cast<double>(w->sizes[1]) : 0,
                 outputs = matrix ? static_cast<double>(w->sizes[0]) : 0;
    const bool deep = product < c_.parts.size() && split_of(c_.launches[product], 1, inputs, outputs) > 1;
    if (tile > 0 && launch.grid && !deep) return volume(launch.grid) * tile * item_bytes(DType::f32);
    if (product == c_.parts.size()) return 0;
    Part plain;
    plain.role = c_.parts[product].role;
    const OpWork work = c_.work(plain);
    const double item = item_bytes(work.dtype);
    if (!work.written || item <= 0) return 0;
    const bool per_image = launch.kernel.find("reduce_wgrad") != std::string_view::npos;  // a partial sum for each image
    const TensorShape* first = tensor_at(c_.call, 0);
    const double images = first != nullptr && !first->sizes.empty() ? static_cast<double>(first->sizes[0]) : 1;
    // A block of the depthwise kernel sums 32 channels.
    if (launch.kernel.find("nhwc_reduce") != std::string_view::npos && outputs > 0)
      return volume(c_.launches[product].grid) * 32 * numel(*w) / outputs * item_bytes(DType::f32);
    const double splits = per_image ? images : split_of(c_.launches[product], 1, inputs, outputs);
    double padding = 1;
    if (w != nullptr && w->sizes.size() >= 2 && w->sizes[1] > 0 && plain.role == KernelRole::grad_weight) {
      const double channels = static_cast<double>(w->sizes[1]), multiple = own(i).channel_multiple;
      padding = std::ceil(channels / multiple) * multiple / channels;
    }
    return *work.written / item * item_bytes(DType::f32) * splits * padding;
  }

  CallParts& c_;
  const ConvolutionPositions& at_;
  std::unordered_map<const char*, std::array<bool, 3>> taken_;  // operands that a kernel of that name brought already
};

}  // namespace

void assign_convolution_roles(CallParts& c) {
  if (const auto* at = std::get_if<ConvolutionPositions>(&c.row.positions)) ConvolutionParts(c, *at).assign();
}

}  // namespace ridge
