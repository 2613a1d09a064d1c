// By recorded shapes, by grids, by times: whichever tells.
#include "predict/eager_call.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "ops/operands.h"
#include "ops/views.h"

namespace ridge {
namespace {

// Ops for which a compiler calls the library again, by the beginnings of their names.
constexpr std::string_view kOfLibraries[] = {
    "aten::_cdist",       "aten::_ctc_loss",  "aten::_cudnn_rnn",   "aten::_convolution", "aten::_embedding_bag",
    "aten::_fft_",        "aten::_thnn_",     "aten::_unique",      "aten::bincount",     "aten::cholesky",
    "aten::conv",         "aten::cudnn_conv", "aten::grid_sampler", "aten::histc",        "aten::linalg_",
    "aten::lu_",          "aten::miopen_",    "aten::multinomial",  "aten::nonzero",      "aten::randperm",
    "aten::searchsorted", "aten::sort",       "aten::topk",         "aten::triangular",   "aten::unique",
};
constexpr std::string_view kGeneratedAll = "aten::linalg_vector_norm";  // a sum like any other
// Ops that write without reading.
constexpr std::string_view kFills[] = {"aten::fill_",   "aten::zero_",      "aten::normal_",     "aten::uniform_",
                                       "aten::random_", "aten::bernoulli_", "aten::exponential_"};
// Ops whose results have sizes of their own: told by what was written.
constexpr std::string_view kOwnSize[] = {"aten::embedding", "aten::gather", "aten::index", "aten::index_select",
                                         "aten::sum",       "aten::mean",   "aten::amax",  "aten::amin",
                                         "aten::norm",      "aten::std",    "aten::var"};
constexpr std::string_view kJoins = "aten::cat", kDropout = "aten::native_dropout";
// Ops that write small things, or a mask, beside a result of their input's size.
constexpr std::string_view kWithMore[] = {kDropout, "aten::native_layer_norm", "aten::_fused_rms_norm"};
// Norms over channels: what they sum goes over all of the input before any of it is written.
constexpr std::string_view kOverChannels[] = {"batch_norm", "group_norm"};

constexpr double kMostElements = 9e18;   // that a size can tell
constexpr double kMostSums = 65'536;     // numbers summed to one: all of a tensor is
constexpr double kReachedUnknown = 0.7;  // of the bandwidth, by a kernel that tells no size
constexpr double kReachedAtMost = 1.04;  // and by one that tells: an operand more than it had time for is a small one
constexpr double kSumsOf = 256;          // numbers to one, where that is not told
constexpr double kOctaveParts = 32;      // to which sizes told by times are rounded: equal calls stay equal

bool begins_with_one(std::string_view name, std::span<const std::string_view> list) {
  return std::ranges::any_of(list, [&](std::string_view text) { return name.starts_with(text); });
}
bool has_one(std::string_view name, std::span<const std::string_view> list) {
  return std::ranges::any_of(list, [&](std::string_view text) { return name.find(text) != name.npos; });
}
bool is_one(std::string_view name, std::span<const std::string_view> list) {
  return std::ranges::find(list, name) != list.end();
}

std::uint64_t shape_hash(const std::vector<std::int64_t>& sizes) {
  std::uint64_t hash = 0xD6E8FEB86659FD93U;
  for (const std::int64_t size : sizes) hash = mix64(hash ^ static_cast<std::uint64_t>(size), 0x9E3779B97F4A7C15U);
  return hash | 1U;  // 0 is none
}
FlowTensor flow_tensor(const TensorShape& shape) {
  return {numel(shape), item_bytes(shape.dtype), shape_hash(shape.sizes), false};
}

// Of the widest type that has fractions, and where none has of the widest: what counts rows is wider than the rows.
double result_width(const OpCall& call) {
  double real = 0, whole = 0;
  for (const OpArgument& argument : call.arguments) {
    if (argument.kind != OpArgument::Kind::tensor || numel(argument.tensor) <= 1) continue;
    double& width = is_floating(argument.tensor.dtype) ? real : whole;
    width = std::max(width, item_bytes(argument.tensor.dtype));
  }
  return real > 0 ? real : whole > 0 ? whole : 4;
}

// Tensors put side by side. What type they have a list does not tell.
FlowTensor joined(const OpCall& call, double written) {
  double elements = 0, width = 4;
  for (const OpArgument& argument : call.arguments) {
    for (const TensorShape& each : argument.list) elements += numel(each);
  }
  for (const double known : {8.0, 2.0, 1.0}) {
    if (elements > 0 && std::abs(written / elements - known) < 0.05) width = known;
  }
  elements = std::max(1.0, elements);
  return {elements, width, shape_hash({static_cast<std::int64_t>(std::min(elements, kMostElements))}), false};
}

double rounded(double elements) {
  return std::exp2(std::round(std::log2(std::max(1.0, elements)) * kOctaveParts) / kOctaveParts);
}

}  // namespace

std::optional<FlowCall> EagerCalls::of(std::string_view op, const OpCall* call, Rows rows, bool compiled) const {
  if (is_aside(rows)) return std::nullopt;
  FlowCall out;
  out.sort = !compiled && is_generated(op, rows) ? FlowSort::generated : FlowSort::stays;
  if (call != nullptr && call->has_shapes) {
    by_shapes(*call, rows, &out);
  } else if (out.sort == FlowSort::stays) {
    out.known = false;
  } else {
    by_grids(rows, &out);
  }
  return out;
}

FlowCall EagerCalls::of_view(const OpCall& call) {
  FlowCall out{.sort = FlowSort::view, .reads = {}, .makes = {}};
  if (const TensorShape* tensor = tensor_at(call, 0)) out.reads = {flow_tensor(*tensor)};
  for (const TensorShape& each : viewed(call)) out.makes.push_back(flow_tensor(each));
  return out;
}

bool EagerCalls::is_generated(std::string_view op, Rows rows) const {
  if (!op.starts_with("aten::") || (begins_with_one(op, kOfLibraries) && op != kGeneratedAll)) return false;
  return std::ranges::all_of(rows, [&](std::uint32_t row) {
    switch (identity(row).category) {
      case Category::norm:
      case Category::elementwise:
      case Category::reduction:
      case Category::layout:
      case Category::memcpy: return true;
      default: return false;
    }
  });
}

// What is neither: several tensors at once already, or an optimizer's.
bool EagerCalls::is_aside(Rows rows) const {
  return std::ranges::any_of(rows, [&](std::uint32_t row) {
    return identity(row).category == Category::optimizer || identity(row).label.starts_with("foreach");
  });
}

void EagerCalls::by_shapes(const OpCall& call, Rows rows, FlowCall* out) const {
  std::vector<FlowTensor> tensors;
  for (const OpArgument& argument : call.arguments) {
    if (argument.kind == OpArgument::Kind::tensor) tensors.push_back(flow_tensor(argument.tensor));
    for (const TensorShape& each : argument.list) tensors.push_back(flow_tensor(each));
  }
  const bool copies = call.op == "aten::copy_" && tensors.size() >= 2;
  const bool fills = is_one(call.op, kFills);
  for (std::size_t i = copies ? 1 : 0; i < (copies ? 2 : fills ? 0 : tensors.size()); ++i) {
    if (tensors[i].elements > 1) out->reads.push_back(tensors[i]);
  }
  if (copies) {
    out->makes = {tensors.front()};
  } else {
    out->makes = {made(call, tensors, rows, out->sort == FlowSort::stays)};
    if (call.op == kDropout) out->makes.push_back({out->makes.front().elements, 1, out->makes.front().shape, false});
  }
  for (FlowTensor& each : out->reads) {
    if (each.width == 0) each.width = out->makes.front().width;  // in a list: a trace does not tell the type of these
  }
  if (out->sort == FlowSort::stays) return;
  note_sums(call.op, rows, out);
}

// The result, by what was written.
FlowTensor EagerCalls::made(const OpCall& call, const std::vector<FlowTensor>& tensors, Rows rows, bool of_library) const {
  double written = 0;
  for (const std::uint32_t row : rows) written += cost(row).bytes_written.value_or(0);
  if (call.op == kJoins) return joined(call, written);
  const double width = result_width(call);
  const TensorShape spread = broadcast(call, -1);
  FlowTensor whole = flow_tensor(spread);
  whole.width = width;
  if (written == 0 || is_one(call.op, kWithMore)) return whole;
  const double each = written / std::max(1.0, whole.elements);
  const bool own_size = of_library || is_one(call.op, kOwnSize);
  for (const double known : {1.0, 2.0, 4.0, 8.0}) {
    if (!own_size && std::abs(each - known) < 0.05) return {whole.elements, known, whole.shape, false};
  }
  FlowTensor out{std::max(1.0, std::round(written / width)), width, 0, false};
  for (const FlowTensor& tensor : tensors) {
    if (tensor.elements == out.elements) out.shape = tensor.shape;
  }
  if (out.shape == 0) out.shape = shape_hash({static_cast<std::int64_t>(std::min(out.elements, kMostElements))});
  return out;
}

void EagerCalls::note_sums(std::string_view op, Rows rows, FlowCall* out) const {
  double largest = 0;
  const FlowTensor* of = nullptr;
  for (const FlowTensor& each : out->reads) {
    if (each.elements > largest) largest = each.elements, of = &each;
  }
  const bool channels = has_one(op, kOverChannels) ||
                        std::ranges::any_of(rows, [&](std::uint32_t row) { return has_one(kernel(row), kOverChannels); });
  if (channels && of != nullptr) {
    const double width = out->makes.front().width;
    out->makes = {{of->elements, width == 1 || width == 2 || width == 4 || width == 8 ? width : of->width, of->shape, false}};
  }
  const bool sums = op.find("softmax") == op.npos &&
                    std::ranges::any_of(rows, [&](std::uint32_t row) { return identity(row).category == Category::reduction; });
  const bool columns = std::ranges::any_of(rows, [&](std::uint32_t row) {
    const std::string_view name = kernel(row);
    return name.find("reduce_kernel") != name.npos && name.find("reduce_kernel<512, 1,") == name.npos;
  });
  out->whole = channels || (sums && (columns || out->makes.front().elements * kMostSums < largest));
  out->twice = channels;
}

void EagerCalls::by_grids(Rows rows, FlowCall* out) const {
  // Of several kernels the one that moves most.
  const std::uint32_t row = *std::ranges::max_element(rows, {}, [&](std::uint32_t r) { return time_ns(r); });
  double time = 0;
  for (const std::uint32_t each : rows) time += time_ns(each);
  const Category category = identity(row).category;
  if (const auto size = grids_.of(row)) {
    const double width = size->bytes_written / size->elements, most = kReachedAtMost * rate_ * time - size->bytes_written;
    double read = size->bytes_read;
    const double wide = std::max(width, read > 0 && read < 1.5 * size->elements * 4 && read > size->elements * 3 ? 4.0 : width);
    int operands = static_cast<int>(std::lround(read / std::max(1.0, size->elements * wide)));
    while (operands > 1 && static_cast<double>(operands) * size->elements * wide > most) --operands;
    for (int i = 0; i < operands; ++i) out->reads.push_back({size->elements, wide, 0, false});
    out->makes = {{size->elements, width, 0, false}};
    return;
  }
  const double width =
      kernel(row).find("BFloat16") != std::string_view::npos || kernel(row).find("Half") != std::string_view::npos ? 2 : 4;
  const bool sums = category == Category::reduction && kernel(row).find("oft") == std::string_view::npos &&
                    kernel(row).find("SoftMax") == std::string_view::npos;
  const double bytes = rounded(time * rate_ * kReachedUnknown);
  const double elements = sums ? bytes / width : bytes / 2 / width;
  out->reads = {{elements, width, 0, true}};
  out->makes = {{sums ? elements / kSumsOf : elements, width, 0, true}};
}

}  // namespace ridge
