// Either a kernel transforms and multiplies, and its name says so, or the transforms are kernels of their own around a plain
// product. The names tell how many points a side a tile has; the sizes of the call do the rest.
#include "cost/library/convolution_spaces.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "cost/library/call_parts.h"
#include "ops/operands.h"

namespace ridge {
namespace {

enum class Space : std::uint8_t { plain, winograd, fourier };
enum class Does : std::uint8_t { operand, result, all };

// `points` a side of a tile: what is added to the number behind the pattern. A name says either the points ("fft2d_r2c_32x32")
// or the results ("winogradForwardData4x4", two less where the filter has three). `all`: the points themselves.
struct NamedTransform {
  std::string_view pattern;
  Space space;
  Does does;
  double points;
};
constexpr NamedTransform kTransforms[] = {
    {"winogradForwardData", Space::winograd, Does::operand, 2},
    {"winogradForwardFilter", Space::winograd, Does::operand, 2},
    {"winogradForwardOutput", Space::winograd, Does::result, 2},
    {"winogradWgradData", Space::winograd, Does::operand, 2},
    {"winogradWgradDelta", Space::winograd, Does::operand, 2},
    {"winogradWgradOutput", Space::winograd, Does::result, 2},
    {"fft2d_r2c_", Space::fourier, Does::operand, 0},
    {"fft2d_c2r_", Space::fourier, Does::result, 0},
    // MIOpen's kernels say the results and the filter: "miopenSp3AsmConv_v30_3_1_gfx94x_fp16_f2x3_stride1".
    {"_f2x3_", Space::winograd, Does::all, 4},
    {"_f3x2_", Space::winograd, Does::all, 4},
};

// Names that say the algorithm and no more ("volta_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1").
constexpr std::array<std::string_view, 3> kSomeTransform = {"winograd", "Winograd", "fft"};

bool contains(std::string_view name, std::string_view text) { return name.find(text) != std::string_view::npos; }

struct Transform {
  Space space = Space::plain;
  Does does = Does::operand;
  double tile = 0;  // points a side; 0: not told
};

// Two pairs of numbers, "9x9_5x5", are points and filter.
double points_behind(const NamedTransform& row, std::string_view rest) {
  constexpr double kMost = 4096;
  int side = 0;
  const char* const last = rest.data() + rest.size();
  const auto [end, error] = std::from_chars(rest.data(), last, side);
  if (error != std::errc() || side <= 0 || side > kMost || end == last || *end != 'x') return 0;
  const std::size_t second = rest.find_first_not_of("0123456789", static_cast<std::size_t>(end - rest.data()) + 1);
  const bool points = second != std::string_view::npos && rest[second] == '_';
  return points ? side : side + row.points;
}

Transform transform_of(std::string_view name) {
  for (const NamedTransform& row : kTransforms) {
    const std::size_t at = name.find(row.pattern);
    if (at == std::string_view::npos) continue;
    const double tile = row.does == Does::all ? row.points : points_behind(row, name.substr(at + row.pattern.size()));
    return {row.space, row.does, tile};
  }
  for (const std::string_view word : kSomeTransform) {
    if (contains(name, word)) return {contains(name, "fft") ? Space::fourier : Space::winograd, Does::all, 0};
  }
  return {};
}

// Of a library for products: its name says nothing of a convolution.
bool is_plain_product(std::string_view name) {
  constexpr std::array<std::string_view, 6> kConvolutions = {"dgrad", "wgrad", "fprop", "implicit", "conv", "cudnn::"};
  return contains(name, "gemm") &&
         std::ranges::none_of(kConvolutions, [&](std::string_view word) { return contains(name, word); });
}

// Sizes of what a part of the call gives, batch and channels left out; empty: not told.
std::vector<double> result_sizes(const OpCall& call, const ConvolutionPositions& at, KernelRole role) {
  const auto sizes_of = [](const TensorShape& t) {
    return t.sizes.size() < 3 ? std::vector<double>() : std::vector<double>(t.sizes.begin() + 2, t.sizes.end());
  };
  const TensorShape* first = tensor_at(call, 0);
  const TensorShape* second = tensor_at(call, 1);
  if (first == nullptr || second == nullptr) return {};
  if (role == KernelRole::grad_input) return sizes_of(*second);
  if (role == KernelRole::grad_weight) return sizes_of(*first);  // over the gradient's positions
  const auto padding = at.padding < 0 ? std::nullopt : integers_at(call, static_cast<std::size_t>(at.padding));
  std::vector<double> sizes = sizes_of(*first);
  if (!padding || padding->empty() || second->sizes.size() != first->sizes.size()) return {};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto pad = static_cast<double>((*padding)[std::min(i, padding->size() - 1)]);
    sizes[i] += 2 * pad - static_cast<double>(second->sizes[i + 2]) + 1;
  }
  return sizes;
}

// Whether all of a list's numbers are 1: neither transform takes strides or holes.
bool is_ones(const OpCall& call, int position) {
  const auto list = position < 0 ? std::nullopt : integers_at(call, static_cast<std::size_t>(position));
  return list && std::ranges::all_of(*list, [](std::int64_t n) { return n == 1; });
}

// A tile of t points a side gives t - k + 1 results a side. For each pair of channels every point of a tile is multiplied once:
// F(4 x 4, 3 x 3) takes 36 multiplications for 16 x 9 (Lavin and Gray, Fast Algorithms for Convolutional Neural Networks,
// 2015). Of a transform of real numbers t (t / 2 + 1) points are enough; they are complex, four multiplications each.
std::optional<double> executed(const OpCall& call, const ConvolutionPositions& at, bool backward, KernelRole role,
                               const Transform& transform) {
  const TensorShape* w = tensor_at(call, backward ? 2 : 1);
  const TensorShape* x = tensor_at(call, 0);
  const bool transposed =
      at.transposed == ConvolutionPositions::Transposed::yes || (at.transposed == ConvolutionPositions::Transposed::argument &&
                                                                 flag_at(call, static_cast<std::size_t>(at.transposed_at)));
  if (transform.tile <= 0 || transposed || w == nullptr || w->sizes.size() != 4) return std::nullopt;
  if (x == nullptr || x->sizes.size() != 4) return std::nullopt;
  if (!is_ones(call, at.stride) || !is_ones(call, at.dilation)) return std::nullopt;
  const std::vector<double> sizes = result_sizes(call, at, role);
  if (sizes.size() != 2) return std::nullopt;
  double tiles = static_cast<double>(x->sizes[0]);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const double results = transform.tile - static_cast<double>(w->sizes[i + 2]) + 1;
    if (results < 1) return std::nullopt;
    tiles *= std::ceil(std::max(sizes[i], 0.0) / results);
  }
  const double points = transform.space == Space::fourier ? transform.tile * (std::floor(transform.tile / 2) + 1) * 4
                                                          : transform.tile * transform.tile;
  return 2 * points * tiles * static_cast<double>(w->sizes[0]) * static_cast<double>(w->sizes[1]);
}

}  // namespace

bool names_transform(std::string_view kernel) { return transform_of(kernel).space != Space::plain; }

std::vector<TransformedLaunch> transformed_launches(const OpFormula& row, const OpCall& call,
                                                    std::span<const CallLaunch> launches) {
  std::vector<TransformedLaunch> out(launches.size());
  const auto* at = std::get_if<ConvolutionPositions>(&row.positions);
  if (at == nullptr) return out;
  const CallContext context{.parameters = {}};
  CallParts c{row, call, launches, context};
  for (std::size_t i = 0; i < launches.size(); ++i) c.parts[i].role = role_of(row.family, launches[i].kernel);
  assign_convolution_roles(c);
  Transform current;  // of the operands that were brought last
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const Transform own = transform_of(launches[i].kernel);
    if (own.space != Space::plain && own.does != Does::all) current = own.does == Does::result ? Transform{} : own;
    const KernelRole role = c.parts[i].role;
    const bool plain = is_plain_product(launches[i].kernel);
    const Transform& taken = own.does == Does::all && own.space != Space::plain ? own : plain ? current : Transform{};
    if (!computes(role) || taken.space == Space::plain) continue;
    const auto same = std::ranges::count(c.parts, role, &Part::role);
    out[i].transformed = true;
    out[i].flops = times(executed(call, *at, c.backward(), role, taken), 1 / static_cast<double>(same));
  }
  return out;
}

}  // namespace ridge
