// Lists of tensors that several launches share out: which tensors of a cat, which chunks of a foreach list each of them takes.
#include <algorithm>
#include <cmath>

#include "cost/call_parts.h"

namespace ridge {
namespace {

// The parameters' sizes, when they give as many chunks as the launches have blocks; ones, when there is a block for each tensor
// (a list of step counters); else nothing.
std::span<const double> parameters_that_fit(CallParts& c) {
  double blocks = 0, chunks = 0;
  for (std::size_t i = 0; i < c.parts.size(); ++i) {
    if (c.parts[i].role == KernelRole::main && c.launches[i].grid) blocks += static_cast<double>(c.launches[i].grid->x);
  }
  for (const double size : c.context.parameters) chunks += std::ceil(size / 65536);
  if (chunks == blocks) return c.context.parameters;
  if (static_cast<double>(c.context.parameters.size()) != blocks) return {};
  c.ones.assign(c.context.parameters.size(), 1.0);
  return c.ones;
}

// Tensors of different types, or more dimensions than the batched kernel takes: an elementwise copy for each, in the order of the list.
bool copies_each(const CallParts& c) {
  const auto copies = [](const CallLaunch& launch) {
    return launch.facts->elementwise && launch.kernel.find("direct_copy_kernel") != std::string_view::npos;
  };
  if (!std::all_of(c.launches.begin(), c.launches.end(), copies)) return false;
  for (const OpArgument& a : c.call.arguments)
    if (a.kind == OpArgument::Kind::tensor_list) return a.list.size() == c.launches.size();
  return false;
}

}  // namespace

// cat of many tensors: launch after launch takes as many as its grid is high.
void tell_cats(CallParts& c) {
  if (c.launches.size() < 2) return;
  if (copies_each(c)) {
    for (std::size_t i = 0; i < c.parts.size(); ++i) {
      Part& part = c.parts[i];
      const CallLaunch& launch = c.launches[i];
      part.first = static_cast<std::int64_t>(i);
      part.count = 1;
      part.item = launch.facts->dtype;
      // A copy that casts names the type of the result. What becomes float32 beside a float32 tensor is of half its size under autocast.
      const bool casts = launch.kernel.find("gpu_kernel_impl_nocast") == std::string_view::npos &&
                         launch.kernel.find("gpu_kernel_impl<") != std::string_view::npos;
      part.guessed = casts;
      if (casts) part.item = part.item == DType::f32 ? DType::f16 : DType::unknown;
    }
    return;
  }
  std::int64_t first = 0;
  for (std::size_t i = 0; i < c.parts.size(); ++i) {
    if (c.launches[i].facts->item == DType::unknown || !c.launches[i].grid) continue;
    c.parts[i].first = first;
    c.parts[i].count = blocks(c.launches[i].grid->y);
    first = blocks(first + c.parts[i].count);
  }
}

void tell_lists(CallParts& c) {
  const std::span<const double> sizes = parameters_that_fit(c);
  std::int64_t first = 0;
  for (std::size_t i = 0; i < c.parts.size(); ++i) {
    if (c.parts[i].role != KernelRole::main || !c.launches[i].grid) continue;
    c.parts[i].sizes = sizes;
    c.parts[i].first = first;
    c.parts[i].count = blocks(c.launches[i].grid->x);
    first = blocks(first + c.parts[i].count);
  }
}
}  // namespace ridge
