// Telling pointers from sizes, and the walked space from the last of them.
#include "cost/triton/triton_arguments.h"

#include <algorithm>
#include <charconv>

namespace ridge {
namespace {

std::optional<std::int64_t> integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool reduces(Category category) {
  return category == Category::triton_reduction || category == Category::triton_persistent_reduction ||
         category == Category::triton_split_scan;
}

// triton_other: cooperative reductions and what newer versions add; their blocks tell the dimensions.
bool has_numels(Category category) {
  return category == Category::triton_pointwise || category == Category::triton_other || reduces(category);
}

TritonPointer pointer_of(const OpArgument& argument, std::size_t position) {
  const TensorShape& shape = argument.tensor;
  return {&shape, position, numel(shape), item_bytes(shape.dtype), touched_bytes(shape)};
}

// The positive scalars at the end of the arguments, the last first: the numels and what stands before them.
std::vector<double> trailing_scalars(const TritonArguments& arguments) {
  std::vector<double> out;
  for (auto s = arguments.scalars.rbegin(); s != arguments.scalars.rend() && *s && **s > 0; ++s)
    out.push_back(static_cast<double>(**s));
  return out;
}

std::size_t blocks(std::string_view kernel_kwargs, std::string_view first_letters) {
  std::size_t count = 0;
  for (std::size_t at = kernel_kwargs.find("BLOCK="); at != std::string_view::npos; at = kernel_kwargs.find("BLOCK=", at + 1)) {
    const std::size_t start = kernel_kwargs.rfind(',', at) + 1;  // npos + 1 is 0
    count += first_letters.find(kernel_kwargs[start]) != std::string_view::npos ? 1U : 0U;
  }
  return count;
}

double product(const std::vector<double>& scalars, std::size_t begin, std::size_t end) {
  double out = 1;
  for (std::size_t i = begin; i < end; ++i) out = std::min(out * scalars[i], 1e300);
  return out;
}

// How many of the trailing scalars are numels when the blocks are not told: as few as give the size of a pointer.
std::size_t numels_by_size(const TritonArguments& arguments, const std::vector<double>& scalars, std::size_t least) {
  for (std::size_t n = least; n <= std::min<std::size_t>(scalars.size(), least + 2); ++n) {
    const double all = product(scalars, 0, n);
    const auto fits = [&](const TritonPointer& p) { return p.elements == all; };
    if (std::any_of(arguments.pointers.begin(), arguments.pointers.end(), fits)) return n;
  }
  return least;
}

// Scratch memory that stands right behind the outputs: bytes for scans, partial sums for reductions in two orders at once.
void set_workspaces_apart(TritonArguments* arguments, Category category, std::string_view kwargs) {
  const bool bytes = category == Category::triton_split_scan || category == Category::triton_other;
  const auto move_last = [&] {
    arguments->workspaces.push_back(arguments->pointers.back());
    arguments->pointers.pop_back();
  };
  while (bytes && arguments->pointers.size() > 1 && arguments->pointers.back().shape->dtype == DType::u8) move_last();
  const bool sums = kwargs.find("RSPLIT_SIZE=") != std::string_view::npos;
  if (sums && arguments->workspaces.empty() && arguments->pointers.size() > 1) move_last();
}

std::optional<IterationSpace> space_of(const TritonArguments& arguments, Category category, std::string_view kwargs) {
  if (!has_numels(category)) return std::nullopt;
  const std::vector<double> scalars = trailing_scalars(arguments);
  const std::size_t kept_blocks = blocks(kwargs, "XYZ");
  const std::size_t reduced = std::max<std::size_t>(blocks(kwargs, "R"), reduces(category) ? 1 : 0);
  const std::size_t numels = kept_blocks > 0 ? kept_blocks + reduced : numels_by_size(arguments, scalars, reduced + 1);
  if (scalars.size() < numels || numels == 0) return std::nullopt;
  return IterationSpace{product(scalars, reduced, numels), product(scalars, 0, reduced),
                        static_cast<int>(std::min<std::size_t>(numels - reduced, 3))};
}

}  // namespace

std::optional<std::int64_t> kernel_kwarg(std::string_view kernel_kwargs, std::string_view name) {
  while (!kernel_kwargs.empty()) {
    const std::string_view one = kernel_kwargs.substr(0, kernel_kwargs.find(','));
    kernel_kwargs.remove_prefix(std::min(one.size() + 1, kernel_kwargs.size()));
    if (one.size() > name.size() && one.starts_with(name) && one[name.size()] == '=')
      return integer(one.substr(name.size() + 1));
  }
  return std::nullopt;
}

TritonArguments triton_arguments(const OpCall& call, Category category, std::string_view kernel_kwargs) {
  TritonArguments out;
  bool scalar_seen = false;
  out.scalars.resize(call.arguments.size());
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    const OpArgument& argument = call.arguments[i];
    if (argument.kind == OpArgument::Kind::tensor) {
      const TritonPointer pointer = pointer_of(argument, i);
      out.complete = out.complete && (pointer.item > 0 || pointer.elements == 0);
      (scalar_seen && has_numels(category) ? out.workspaces : out.pointers).push_back(pointer);
    } else if (argument.kind == OpArgument::Kind::value) {
      scalar_seen = true;
      out.scalars[i] = integer(argument.value);
    } else {
      out.complete = false;
    }
  }
  set_workspaces_apart(&out, category, kernel_kwargs);
  out.space = space_of(out, category, kernel_kwargs);
  return out;
}

}  // namespace ridge
