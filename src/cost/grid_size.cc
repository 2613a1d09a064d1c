// Names as PyTorch 1.13 to 2.11 write them.
#include "cost/grid_size.h"

#include <algorithm>
#include <charconv>

namespace ridge {
namespace {

constexpr std::string_view kVectorized = "::vectorized_elementwise_kernel<";
constexpr std::string_view kUnrolled = "::unrolled_elementwise_kernel<";
constexpr std::string_view kOneEach[] = {"roll_cuda_kernel<", "elementwise_kernel_with_index<"};
constexpr std::string_view kStrided = "::elementwise_kernel<";
constexpr std::string_view kUnrolledByHand = "::elementwise_kernel_manual_unroll<";
constexpr double kUnrolledElements = 4;
constexpr int kSinceWide = 12080;  // CUDA 12.8

std::optional<int> number_at(std::string_view text) {
  int out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() ? std::optional(out) : std::nullopt;
}

std::optional<int> number_behind(std::string_view text, std::string_view mark) {
  const std::size_t at = text.find(mark);
  return at == text.npos ? std::nullopt : number_at(text.substr(at + mark.size()));
}

// Of booleans and bytes alone: arguments of a lambda as (bool, float, float) are those of torch.where().
bool is_of_bytes(std::string_view kernel) {
  const auto has = [&](std::string_view part) { return kernel.find(part) != kernel.npos; };
  const bool wider = has("float") || has("c10::") || has("double") || has("long") || has("int)") || has("<int");
  return !wider && (has("<bool") || has("(bool") || has("<unsigned char") || has("<signed char"));
}

// What a name says, where it makes sense.
std::optional<double> elements_of_thread(std::optional<int> named) {
  return named && *named > 0 && *named <= 64 ? std::optional<double>(*named) : std::nullopt;
}

// Elements of one thread.
std::optional<double> per_thread(std::string_view kernel, Width width) {
  if (kernel.find(kVectorized) != kernel.npos) {
    if (width == Width::named) return elements_of_thread(number_behind(kernel, kVectorized));
    if (width == Width::four) return 4;
    return is_of_bytes(kernel) ? 16 : 8;
  }
  if (kernel.find(kUnrolled) != kernel.npos) return kUnrolledElements;
  for (const std::string_view one : kOneEach) {
    if (kernel.find(one) != kernel.npos) return 1;
  }
  const std::size_t at = std::min(kernel.find(kStrided), kernel.find(kUnrolledByHand));
  if (at == kernel.npos) return std::nullopt;
  const std::size_t comma = kernel.find(", ", at);  // <128, 4, ...
  const auto elements = comma == kernel.npos ? std::nullopt : number_at(kernel.substr(comma + 2));
  return elements_of_thread(elements);
}

// Of the tensors; arithmetic on halves is written in float, so that the narrower type is the one that lies in memory.
double bytes_an_element(std::string_view kernel) {
  const auto has = [&](std::string_view part) { return kernel.find(part) != kernel.npos; };
  if (has("BFloat16") || has("c10::Half") || has("float16_copy")) return 2;
  if (has("<double") || has("(double") || has("<long") || has("(long") || has("(bool, double") || has("(bool, long")) return 8;
  if (is_of_bytes(kernel)) return 1;
  return 4;
}

}  // namespace

bool takes_eight(std::string_view kernel) {
  const auto width = number_behind(kernel, kVectorized);
  return width && *width >= 8;
}

Width width_since(const std::vector<std::pair<std::string, std::string>>& versions) {
  for (const auto& [name, version] : versions) {
    if (name == "hip_runtime_version") return Width::named;
    if (name == "cuda_runtime_version" && number_at(version).value_or(0) >= kSinceWide) return Width::eight;
  }
  return Width::four;
}

std::optional<GridSize> size_by_grid(std::string_view kernel, const Dim3& grid, const Dim3& block, Width width) {
  const auto each = per_thread(kernel, width);
  if (!each || grid.x <= 0 || block.x <= 0 || grid.y > 1 || grid.z > 1) return std::nullopt;
  GridSize out{.elements = static_cast<double>(grid.x) * static_cast<double>(block.x) * *each};
  const auto has = [&](std::string_view part) { return kernel.find(part) != kernel.npos; };
  const bool chooses = has("where_kernel_impl"), binary = has("BinaryFunctor") || has("CUDAFunctor_add") || has("_backward");
  const int operands = std::clamp(number_behind(kernel, "array<char*, ").value_or(chooses ? 4 : binary ? 3 : 2), 1, 8);
  const double bytes = bytes_an_element(kernel), cast = kernel.find("loat16_copy_kernel") != kernel.npos ? 4 : bytes;
  const double mask = chooses ? bytes - 1 : 0;
  out.bytes_read = operands == 1 ? 0 : out.elements * (cast + bytes * (operands - 2) - mask);
  out.bytes_written = out.elements * bytes;
  return out;
}

GridSizes::GridSizes(const Model& model)
    : trace_(model.trace()), work_(device_work(trace_)), width_(width_since(trace_.metadata.versions)) {
  for (std::uint32_t row = 0; row < work_.events.size() && width_ == Width::four; ++row) {
    if (takes_eight(kernel(row))) width_ = Width::eight;
  }
}

std::string_view GridSizes::kernel(std::uint32_t row) const { return trace_.text(trace_.events.name(work_.events[row])); }

std::optional<Dim3> GridSizes::threads(const ArgColumn& column, std::uint32_t row) const {
  const auto text = column.text(work_.events[row]);
  return text ? parse_dim3(trace_.text(*text)) : std::nullopt;
}

std::optional<GridSize> GridSizes::of(std::uint32_t row) const {
  const auto grid = threads(work_.grid, row), block = threads(work_.block, row);
  return grid && block ? size_by_grid(kernel(row), *grid, *block, width_) : std::nullopt;
}

std::optional<Dim3> GridSizes::grid(std::uint32_t row) const { return threads(work_.grid, row); }

}  // namespace ridge
