#include "cost/call_cost.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>

#include "ops/operands.h"

namespace ridge {
namespace {

bool computes(KernelRole role) {
  return role == KernelRole::main || role == KernelRole::grad_input || role == KernelRole::grad_weight ||
         role == KernelRole::grad_query || role == KernelRole::grad_key_value;
}

double volume(const std::optional<Dim3>& d) {
  return d ? static_cast<double>(d->x) * static_cast<double>(d->y) * static_cast<double>(d->z) : 0;
}

// A number of blocks, within what any device can launch: sums of them must not overflow.
std::int64_t blocks(std::int64_t n) { return std::clamp<std::int64_t>(n, 0, std::int64_t{1} << 40); }

// A value that can be shown: finite and not negative.
std::optional<double> sane(std::optional<double> v) {
  return v && std::isfinite(*v) && *v >= 0 && *v < 1e30 ? v : std::nullopt;
}

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
    {"im2col", 0, 1},
    {"vol2col", 0, 1},
    {"tensorTransformGeneric", 1, 2},
};

class CallParts {
 public:
  CallParts(const OpFormula& row, const OpCall& call, std::span<const CallLaunch> launches, const CallContext& context)
      : row_(row), call_(call), launches_(launches), context_(context), parts_(launches.size()) {}

  std::vector<LaunchCost> costs() {
    for (std::size_t i = 0; i < launches_.size(); ++i) describe(i);
    switch (row_.family) {
      case OpFamily::gemm: split_products(); break;
      case OpFamily::convolution: convolution_parts(); break;
      case OpFamily::attention: split_keys(); break;
      case OpFamily::norm: small_kernels(); break;
      case OpFamily::copy: consecutive_tensors(); break;
      case OpFamily::optimizer: consecutive_chunks(); break;
      default: break;
    }
    return to_costs();
  }

 private:
  void describe(std::size_t i) {
    const CallLaunch& launch = launches_[i];
    Part& part = parts_[i];
    part.role = role_of(row_.family, launch.kernel);
    const KernelFacts& facts = *launch.facts;
    part.item = facts.item;
    part.inputs = facts.pointers > 0 ? facts.pointers - 1 : -1;
    part.lists = facts.lists;
    part.list_reads = facts.list_reads;
    if (row_.family == OpFamily::gather && launch.grid &&
        launch.kernel.find("vectorized_gather_kernel") != std::string_view::npos) {
      const TensorShape* x = tensor_at(call_, 0);  // a row of the grid for each row taken
      if (x != nullptr && !x->sizes.empty() && x->sizes[0] > 0) {
        part.count = blocks(launch.grid->x);
        part.elements = static_cast<double>(launch.grid->x) * numel(*x) / static_cast<double>(x->sizes[0]);
      }
    }
    if (facts.elements_per_block > 0 && launch.grid)
      part.elements = static_cast<double>(launch.grid->x) * facts.elements_per_block;
  }

  // A product split over k: its kernel writes partial sums, one more adds them up. The grid's depth beyond the batch is the split.
  void split_products() {
    std::size_t product = parts_.size();
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (parts_[i].role == KernelRole::main) product = i;
      if (parts_[i].role != KernelRole::combine || product == parts_.size()) continue;
      // A sum of one part would need no kernel: where the grid does not tell, there are two at least.
      const auto [columns, rows] = product_sizes();
      const double splits = std::max(split_of(launches_[product], batch(), columns, rows), 2.0);
      parts_[i].partial_bytes = parts_[product].partial_bytes = output_elements() * item_bytes(DType::f32) * splits;
    }
  }
  // By the grid's depth; or, where a library names its tiles, by how many times its blocks cover the result of `m` columns and `n` rows.
  static double split_of(const CallLaunch& launch, double batch, double m = 0, double n = 0) {
    const KernelFacts& facts = *launch.facts;
    if (facts.block_m > 0 && facts.block_n > 0 && m > 0 && n > 0 && launch.kernel.find("splitK") != std::string_view::npos) {
      const double tiles = std::ceil(std::ceil(m / facts.block_m) / facts.cluster_m) * facts.cluster_m *
                           std::ceil(std::ceil(n / facts.block_n) / facts.cluster_n) * facts.cluster_n;
      return std::max(std::floor(volume(launch.grid) / (tiles * std::max(batch, 1.0))), 1.0);
    }
    const double depth = launch.grid ? static_cast<double>(launch.grid->z) : 1;
    return std::max(depth / std::max(batch, 1.0), 1.0);
  }
  // Columns and rows of a product's result; zeros when they are not told.
  std::pair<double, double> product_sizes() const {
    const bool adds = call_.op.find("addmm") != std::string_view::npos || call_.op.find("addbmm") != std::string_view::npos;
    const TensorShape* a = tensor_at(call_, adds ? 1 : 0);
    const TensorShape* b = tensor_at(call_, adds ? 2 : 1);
    if (a == nullptr || b == nullptr || a->sizes.size() < 2 || b->sizes.size() < 2) return {0, 0};
    return {static_cast<double>(b->sizes.back()), static_cast<double>(a->sizes[a->sizes.size() - 2])};
  }
  double batch() const {
    const TensorShape* a = tensor_at(call_, 0);
    return a != nullptr && a->sizes.size() == 3 ? static_cast<double>(a->sizes[0]) : 1;
  }
  // Of the whole op, as its own formula has it.
  double output_elements() const {
    const OpWork whole = row_.work(call_, Part{});
    const double item = item_bytes(whole.dtype);
    return whole.written && item > 0 ? *whole.written / item : 0;
  }

  // flash-decoding: the grid's second dimension is the number of splits.
  void split_keys() {
    for (std::size_t i = 1; i < parts_.size(); ++i) {
      if (parts_[i].role != KernelRole::combine) continue;
      if (launches_[i].kernel.find("reduce_head") != std::string_view::npos) {
        parts_[i].partial_bytes = heads_bytes();
        continue;
      }
      const double splits = launches_[i - 1].grid ? static_cast<double>(launches_[i - 1].grid->y) : 1;
      const double partial = output_elements() * item_bytes(DType::f32) * std::max(splits, 1.0);
      parts_[i].partial_bytes = parts_[i - 1].partial_bytes = partial;
    }
  }

  // Gradients of keys (or values) for every head of the queries, which the heads that share them add up.
  double heads_bytes() const {
    const std::size_t at = backward() ? 1 : 0;
    const TensorShape* q = tensor_at(call_, at);
    const TensorShape* k = tensor_at(call_, at + 1);
    if (q == nullptr || k == nullptr || q->sizes.size() != 4 || k->sizes.size() != 4 || k->sizes[1] <= 0) return 0;
    return dense_bytes(k).value_or(0) * static_cast<double>(q->sizes[1]) / static_cast<double>(k->sizes[1]);
  }

  // Elementwise kernels of a norm work on the activations or on vectors of parameters: the grid tells.
  void small_kernels() {
    const TensorShape* x = tensor_at(call_, 0);
    if (x == nullptr) return;
    constexpr double kMostPerThread = 16;
    // Two blocks to a multiprocessor, which share its 227 KB: counters of an H200 show 29 to 30 MB for 264 blocks.
    constexpr double kKeptByBlock = 227 * 1024 / 2.0;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const CallLaunch& launch = launches_[i];
      parts_[i].kept_bytes = volume(launch.grid) * kKeptByBlock;
      const bool general = launch.facts->elementwise || launch.facts->reduce;
      if (parts_[i].role != KernelRole::main || !general || !launch.grid || !launch.block) continue;
      const double covered = volume(launch.grid) * volume(launch.block) * kMostPerThread;
      parts_[i].role = launch.facts->elementwise && covered < numel(*x) ? KernelRole::parameters : KernelRole::apply;
    }
    // Group norm's parameters come from sums that an earlier kernel made, not from the activations.
    if (call_.op.find("group_norm") == std::string_view::npos) return;
    for (Part& part : parts_) {
      if (part.role == KernelRole::grad_weight) part.role = KernelRole::parameters;
    }
  }

  // cat of many tensors: launch after launch takes as many as its grid is high.
  void consecutive_tensors() {
    if (launches_.size() < 2) return;
    std::int64_t first = 0;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (launches_[i].facts->item == DType::unknown || !launches_[i].grid) continue;
      parts_[i].first = first;
      parts_[i].count = blocks(launches_[i].grid->y);
      first = blocks(first + parts_[i].count);
    }
  }

  void consecutive_chunks() {
    const std::span<const double> sizes = parameters_that_fit();
    std::int64_t first = 0;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (parts_[i].role != KernelRole::main || !launches_[i].grid) continue;
      parts_[i].sizes = sizes;
      parts_[i].first = first;
      parts_[i].count = blocks(launches_[i].grid->x);
      first = blocks(first + parts_[i].count);
    }
  }
  // The parameters' sizes, when they give as many chunks as the launches have blocks; ones, when there is a block for each tensor
  // (a list of step counters); else nothing.
  std::span<const double> parameters_that_fit() {
    double blocks = 0, chunks = 0;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (parts_[i].role == KernelRole::main && launches_[i].grid) blocks += static_cast<double>(launches_[i].grid->x);
    }
    for (const double size : context_.parameters) chunks += std::ceil(size / 65536);
    if (chunks == blocks) return context_.parameters;
    if (static_cast<double>(context_.parameters.size()) != blocks) return {};
    ones_.assign(context_.parameters.size(), 1.0);
    return ones_;
  }

  // --- convolutions ---

  bool backward() const { return call_.op.find("backward") != std::string_view::npos; }
  std::size_t operands() const { return backward() ? 3 : 2; }

  void convolution_parts() {
    if (backward()) {
      backward_phases();
    } else {
      for (Part& part : parts_) {
        if (part.role == KernelRole::grad_input || part.role == KernelRole::grad_weight) part.role = KernelRole::main;
      }
    }
    library_layout();
    std::size_t product = parts_.size();
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (computes(parts_[i].role)) {
        product = i;
        taken_.clear();  // the other gradient may bring the same operands again
      }
      if (parts_[i].role == KernelRole::layout_in) parts_[i].operand = operand_of(i);
      if (parts_[i].role != KernelRole::combine) continue;
      parts_[i].partial_bytes = partial_bytes(i, product);
      if (product < parts_.size()) parts_[product].partial_bytes = parts_[i].partial_bytes;
    }
  }

  // cuDNN's channels-last kernels want 16 bytes of channels at least; the transposes before them pad. Its Winograd transform makes
  // 6 x 6 values of each 4 x 4, and what its product gives is 36 values for each pair of channels.
  void library_layout() {
    const TensorShape* x = tensor_at(call_, 0);
    const double item = x == nullptr ? 0 : item_bytes(x->dtype);
    bool padded = false, winograd = false;
    const TensorShape* activations = tensor_at(call_, backward() ? 1 : 0);
    const bool last = activations != nullptr && channels_last(*activations);
    for (const CallLaunch& launch : launches_) {
      padded |= launch.facts->transpose || launch.kernel.find("nhwcAddPadding") != std::string_view::npos;
      winograd |= launch.kernel.find("winograd_nonfused") != std::string_view::npos;
    }
    const TensorShape* w = tensor_at(call_, operands() - 1);
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      Part& part = parts_[i];
      part.channels_last = last || padded || launches_[i].kernel.find("nhwckrsc_nhwc") != std::string_view::npos;
      if (padded && item > 0) part.channel_multiple = 16 / item;
      if (!winograd) continue;
      const bool plain_product = role_of(row_.family, launches_[i].kernel) == KernelRole::main;
      if (plain_product) part.enlarged = 36.0 / 16;
      if (part.role == KernelRole::layout_out && part.operand == 2 && w != nullptr && w->sizes.size() >= 2) {
        part.partial_bytes = 36 * static_cast<double>(w->sizes[0]) * static_cast<double>(w->sizes[1]) * item_bytes(DType::f32);
      }
    }
  }

  static bool channels_last(const TensorShape& t) {
    return t.strides.size() == t.sizes.size() && t.strides.size() > 2 && t.strides[1] == 1;
  }

  // The gradient of the input comes before that of the weight. A kernel that does not say which belongs to the weight once a kernel that
  // does, or a whole computation, has gone before it; and to the only gradient when the mask asks for one.
  void backward_phases() {
    const std::vector<bool> mask = flags_at(call_, mask_position());
    const bool input = mask.empty() || mask[0], weight = mask.size() < 2 || mask[1];
    std::size_t last_input = 0;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (parts_[i].role == KernelRole::grad_input) last_input = i;
    }
    bool weight_phase = !input, computed_input = false;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      KernelRole& role = parts_[i].role;
      if (weight && names_weight(launches_[i].kernel)) weight_phase = true;
      if (role == KernelRole::main) {
        const bool is_weight = weight && i >= last_input && (weight_phase || computed_input);
        role = is_weight ? KernelRole::grad_weight : KernelRole::grad_input;
      }
      if (role == KernelRole::grad_input && !input) role = KernelRole::grad_weight;
      if (role == KernelRole::grad_input) {
        weight_phase = false;
        computed_input = true;
      }
      if (role == KernelRole::grad_weight) weight_phase = true;
      if (!computes(role) && (weight_phase || result_by_grid(i) == 2))
        parts_[i].operand = 2;  // it serves the weight's gradient
      if (result_by_grid(i) == 1) parts_[i].operand = 1;
    }
  }
  static bool names_weight(std::string_view kernel) {
    return kernel.find("wgrad") != std::string_view::npos || kernel.find("Wgrad") != std::string_view::npos ||
           kernel.find("grad_weight") != std::string_view::npos;
  }
  std::size_t mask_position() const {
    if (call_.op.find("depthwise") != std::string_view::npos) return 7;
    return call_.op.find("slow") != std::string_view::npos ? 6 : 10;
  }

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
    if (parts_[i].role != KernelRole::layout_out || !launches_[i].facts->transpose || !launches_[i].grid) return -1;
    for (const std::size_t operand : {std::size_t{1}, std::size_t{2}}) {
      const TensorShape* t = tensor_at(call_, operand);
      if (t != nullptr && fits_grid(*t, *launches_[i].grid)) return static_cast<int>(operand);
    }
    return -1;
  }

  // The operand that a kernel brings into another layout: the one whose transpose has this grid and was not brought yet; else the one of
  // the size that its threads fit best, each once: x comes before w.
  int operand_of(std::size_t i) {
    const CallLaunch& launch = launches_[i];
    const bool back = backward();
    for (const NamedOperand& named : kNamedOperands) {
      if (launch.kernel.find(named.pattern) != std::string_view::npos) return back ? named.backward : named.forward;
    }
    std::array<bool, 3>& taken = taken_[launch.kernel.data()];
    const bool adds_padding = launch.kernel.find("nhwcAddPadding") != std::string_view::npos;
    int best = 0;
    double best_distance = 1e300;
    for (std::size_t operand = 0; operand < operands(); ++operand) {
      const TensorShape* t = tensor_at(call_, operand);
      if (t == nullptr || !launch.grid) continue;
      const bool fits = launch.facts->transpose && fits_grid(*t, *launch.grid);
      // Its grid is the device's, not the tensor's: what needs padding is brought, activations before weights.
      if (adds_padding) {
        const double multiple = parts_[i].channel_multiple;
        const bool needs = t->sizes.size() >= 2 && multiple > 1 && std::fmod(static_cast<double>(t->sizes[1]), multiple) != 0;
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

  // What a reduction over k reads: tiles of fp32 partial sums, or as many results as the product before it was split into.
  double partial_bytes(std::size_t i, std::size_t product) const {
    const CallLaunch& launch = launches_[i];
    const double tile = launch.facts->tile_m * launch.facts->tile_n;
    const TensorShape* w = tensor_at(call_, operands() - 1);
    const bool matrix = w != nullptr && w->sizes.size() >= 2;
    const double inputs = matrix ? static_cast<double>(w->sizes[1]) : 0,
                 outputs = matrix ? static_cast<double>(w->sizes[0]) : 0;
    const bool deep = product < parts_.size() && split_of(launches_[product], 1, inputs, outputs) > 1;
    if (tile > 0 && launch.grid && !deep) return volume(launch.grid) * tile * item_bytes(DType::f32);
    if (product == parts_.size()) return 0;
    Part plain;
    plain.role = parts_[product].role;
    const OpWork work = row_.work(call_, plain);
    const double item = item_bytes(work.dtype);
    if (!work.written || item <= 0) return 0;
    const bool per_image = launch.kernel.find("reduce_wgrad") != std::string_view::npos;  // a partial sum for each image
    const TensorShape* first = tensor_at(call_, 0);
    const double images = first != nullptr && !first->sizes.empty() ? static_cast<double>(first->sizes[0]) : 1;
    // A block of the depthwise kernel sums 32 channels.
    if (launch.kernel.find("nhwc_reduce") != std::string_view::npos && outputs > 0)
      return volume(launches_[product].grid) * 32 * numel(*w) / outputs * item_bytes(DType::f32);
    const double splits = per_image ? images : split_of(launches_[product], 1, inputs, outputs);
    double padding = 1;
    if (w != nullptr && w->sizes.size() >= 2 && w->sizes[1] > 0 && plain.role == KernelRole::grad_weight) {
      const double channels = static_cast<double>(w->sizes[1]), multiple = parts_[i].channel_multiple;
      padding = std::ceil(channels / multiple) * multiple / channels;
    }
    return *work.written / item * item_bytes(DType::f32) * splits * padding;
  }

  // --- results ---

  // Where several kernels have the same part of the op, each has its share: of the FLOPs equal ones, so that the op is counted once.
  void count_shares() {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      same_role_[static_cast<std::size_t>(parts_[i].role)] += 1;
      blocks_of_[launches_[i].kernel.data()] += volume(launches_[i].grid);
    }
  }
  double share_of(std::size_t i) const { return 1 / same_role_[static_cast<std::size_t>(parts_[i].role)]; }
  // A tensor too large for one launch is cut into several of the same kernel (whose name is one text: equal names have one address).
  double share_of_grid(std::size_t i) const {
    const double all = blocks_of_.at(launches_[i].kernel.data());
    return all > 0 ? volume(launches_[i].grid) / all : 1;
  }
  bool cut_by_grid() const {
    return row_.family == OpFamily::pointwise || row_.family == OpFamily::reduction || row_.family == OpFamily::softmax ||
           row_.family == OpFamily::pooling || (row_.family == OpFamily::copy && launches_[0].facts->item == DType::unknown);
  }

  std::vector<LaunchCost> to_costs() {
    std::vector<LaunchCost> out(parts_.size());
    count_shares();
    const bool matrix =
        row_.family == OpFamily::gemm || row_.family == OpFamily::convolution || row_.family == OpFamily::attention;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      OpWork work = row_.work(call_, parts_[i]);
      LaunchCost& cost = out[i];
      const bool main = computes(parts_[i].role);
      if (!main) work.flops = 0;
      double share = 1;
      if (parts_.size() > 1 && matrix && main) share = share_of(i);
      if (parts_.size() > 1 && cut_by_grid()) share = share_of_grid(i);
      cost.flops = sane(times(work.flops, matrix ? share : 1));
      cost.flops_causal = sane(times(work.flops_causal, share));
      cost.bytes_read = sane(times(work.read, share));
      cost.bytes_written = sane(times(work.written, share));
      cost.dtype = dtype_of(work.dtype, *launches_[i].facts, matrix && main);
      if (cost.bytes_read || cost.bytes_written || (cost.flops && main && matrix)) {
        const bool plain = parts_.size() == 1 && parts_[i].role == KernelRole::main;
        cost.estimate = work.ambiguous || (matrix && share != 1) ? Estimate::ambiguous
                        : plain                                  ? Estimate::exact
                                                                 : Estimate::shapes;
      }
    }
    return out;
  }

  DType dtype_of(DType of_op, const KernelFacts& facts, bool matrix) const {
    DType dtype = of_op;
    if (dtype == DType::unknown || facts.item_opaque) dtype = facts.dtype;
    if (facts.item_opaque) dtype = DType::unknown;
    if (dtype == DType::unknown) dtype = context_.dtype;
    if (dtype == DType::f32 && matrix && (facts.tensor_cores_only || context_.tf32)) dtype = DType::tf32;
    return dtype;
  }

  const OpFormula& row_;
  const OpCall& call_;
  std::span<const CallLaunch> launches_;
  const CallContext& context_;
  std::vector<Part> parts_;
  std::vector<double> ones_;
  std::array<double, 32> same_role_{};
  std::unordered_map<const char*, double> blocks_of_;
  std::unordered_map<const char*, std::array<bool, 3>> taken_;  // operands that a kernel of that name brought already
};

}  // namespace

std::vector<LaunchCost> call_costs(const OpFormula& row, const OpCall& call, std::span<const CallLaunch> launches,
                                   const CallContext& context) {
  return launches.empty() ? std::vector<LaunchCost>() : CallParts(row, call, launches, context).costs();
}

}  // namespace ridge
