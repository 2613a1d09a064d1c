// Lists of tensors that several launches share out: which tensors of a cat, which chunks of a foreach list each of them takes.
#include <algorithm>
#include <cmath>

#include "cost/library/call_parts.h"

namespace ridge {
namespace {

constexpr double kChunk = 65536;  // elements of a tensor that one block takes

// The chunks of a list, tensor by tensor, in the order in which launches take them.
class Chunks {
 public:
  explicit Chunks(std::span<const double> sizes) : sizes_(sizes) {}

  // Elements of the next `count` chunks.
  double take(double count) {
    double elements = 0;
    while (count > 0 && tensor_ < sizes_.size()) {
      const double rest = sizes_[tensor_] - done_, chunks = std::ceil(rest / kChunk);
      if (chunks <= count) {
        elements += rest;
        ++tensor_;
        done_ = 0;
      } else {
        elements += count * kChunk;
        done_ += count * kChunk;
      }
      count -= std::min(chunks, count);
    }
    return elements;
  }

 private:
  std::span<const double> sizes_;
  std::size_t tensor_ = 0;
  double done_ = 0;
};

// The parameters' sizes, when they give as many chunks as the launches have blocks; ones, when there is a block for each tensor
// (a list of step counters); else nothing.
std::span<const double> parameters_that_fit(CallParts& c) {
  double blocks = 0, chunks = 0;
  for (std::size_t i = 0; i < c.parts.size(); ++i) {
    if (c.parts[i].role == KernelRole::main && c.launches[i].grid) blocks += static_cast<double>(c.launches[i].grid->x);
  }
  for (const double size : c.context.parameters) chunks += std::ceil(size / kChunk);
  if (chunks == blocks) return c.context.parameters;
  if (static_cast<double>(c.context.parameters.size()) != blocks) return {};
  c.ones.assign(c.context.parameters.size(), 1.0);
  return c.ones;
}

// Tensors of different types, or more dimensions than the batched kernel takes: an elementwise copy for each, in the order of
// the list.
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
void assign_cat_roles(CallParts& c) {
  for (std::size_t i = 0; i < c.parts.size(); ++i) c.parts[i].of = CatPart{.item = c.launches[i].facts->item};
  if (c.launches.size() < 2) return;
  if (copies_each(c)) {
    for (std::size_t i = 0; i < c.parts.size(); ++i) {
      const CallLaunch& launch = c.launches[i];
      CatPart part{.item = launch.facts->dtype, .first = static_cast<std::int64_t>(i), .count = 1};
      // A copy that casts names the type of the result. What becomes float32 beside a float32 tensor is of half its size under
      // autocast.
      const bool casts = launch.kernel.find("gpu_kernel_impl_nocast") == std::string_view::npos &&
                         launch.kernel.find("gpu_kernel_impl<") != std::string_view::npos;
      if (casts) part.item = part.item == DType::f32 ? DType::f16 : DType::unknown;
      c.parts[i].guessed = casts;
      c.parts[i].of = part;
    }
    return;
  }
  std::int64_t first = 0;
  for (std::size_t i = 0; i < c.parts.size(); ++i) {
    if (c.launches[i].facts->item == DType::unknown || !c.launches[i].grid) continue;
    CatPart& part = c.parts[i].edit<CatPart>();
    part.first = first;
    part.count = blocks(c.launches[i].grid->y);
    first = blocks(first + part.count);
  }
}

void assign_list_roles(CallParts& c) {
  const bool listed = std::any_of(c.call.arguments.begin(), c.call.arguments.end(), [](const OpArgument& a) {
    return a.kind == OpArgument::Kind::tensor_list && !a.list.empty();
  });
  const std::span<const double> sizes = parameters_that_fit(c);
  Chunks chunks(sizes);
  std::int64_t first = 0;
  for (std::size_t i = 0; i < c.parts.size(); ++i) {
    const KernelFacts& facts = *c.launches[i].facts;
    ListPart& part = c.parts[i].edit<ListPart>();
    part.item = facts.item;
    part.source = facts.source;
    part.lists = facts.lists;
    part.list_reads = facts.list_reads;
    if (c.parts[i].role != KernelRole::main || !c.launches[i].grid) continue;
    part.sizes = sizes;
    part.first = first;
    part.count = blocks(c.launches[i].grid->x);
    first = blocks(first + part.count);
    // A list that the trace left out may be long, and so may be the row of its launches: both are gone through once.
    if (!listed && !sizes.empty()) part.elements = chunks.take(static_cast<double>(part.count));
  }
}

}  // namespace ridge
