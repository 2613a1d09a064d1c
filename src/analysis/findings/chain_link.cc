// By the names of ATen's kernels, as PyTorch 1.13 to 2.11 write them.
#include "analysis/findings/chain_link.h"

#include <algorithm>
#include <initializer_list>

namespace ridge {
namespace {

// ATen's softmaxes and layer norms, and the gradients of their inputs; those of weights go down the columns.
bool norms_rows(const Facts& facts, std::uint32_t row) {
  constexpr std::string_view kNorms[] = {"softmax_warp",          "cunn_SoftMax",
                                         "cunn_Softmax",          "vectorized_layer_norm_kernel",
                                         "layer_norm_grad_input", "rms_norm_kernel"};
  const std::string_view name = facts.kernel(row);
  return facts.identity(row).library == "aten" &&
         std::ranges::any_of(kNorms, [&](std::string_view part) { return name.find(part) != std::string_view::npos; });
}

// Of norms over channels what applies them is arithmetic like any other; what sums for them goes down the columns.
Link norm_link(const Facts& facts, std::uint32_t row) {
  if (norms_rows(facts, row)) return Link::norms;
  if (facts.identity(row).library != "aten") return Link::none;
  const std::string_view name = facts.kernel(row);
  const auto any = [&](std::initializer_list<std::string_view> parts) {
    return std::ranges::any_of(parts, [&](std::string_view part) { return name.find(part) != std::string_view::npos; });
  };
  if (any({"batch_norm_transform_input", "batch_norm_backward_elemt"})) return Link::computes;
  if (any({"batch_norm_update_stats"})) return Link::beside;
  return any({"batch_norm_collect_statistics", "batch_norm_backward_reduce", "GammaBetaBackward"}) ? Link::columns : Link::none;
}

}  // namespace

std::uint32_t graph_of(const Facts& facts, std::uint32_t row) {
  return facts.model().compiled_regions().call_at(facts.launch(row));
}

Link link_of(Facts& facts, const WorkSlot& slot) {
  if (slot.work.sort == WorkSort::set) return Link::beside;
  const std::uint32_t row = slot.work.row;
  const bool copy = slot.work.sort == WorkSort::copy;
  if ((slot.work.sort != WorkSort::compute && !copy) || slot.owned_ns == 0) return Link::none;
  if (facts.op(row) == kNoNode || facts.by_graph_launch(row)) return Link::none;
  if (facts.phase(facts.launch(row)) == Phase::optimizer) return Link::none;
  if (copy) return facts.kernel(row).find("DtoD") == std::string_view::npos ? Link::none : Link::copies;
  const KernelIdentity& kernel = facts.identity(row);
  switch (kernel.category) {
    case Category::triton_pointwise: return graph_of(facts, row) != kNoCall ? Link::computes : Link::none;
    // "foreach" covers many tensors already.
    case Category::elementwise:
      return kernel.library == "aten" && kernel.label.starts_with("elementwise") ? Link::computes : Link::none;
    case Category::norm: return norm_link(facts, row);
    case Category::layout:
      if (kernel.label.starts_with("CatArray")) return Link::joins;
      for (const std::string_view moves : {"_scatter_gather_elementwise", "index_copy_kernel"}) {
        if (facts.kernel(row).find(moves) != std::string_view::npos) return Link::beside;
      }
      return kernel.label.starts_with("copy") || kernel.label.starts_with("roll_cuda") ? Link::copies : Link::none;
    case Category::reduction:
      if (kernel.label.starts_with("tensor_kernel_scan")) return Link::scans;
      if (norms_rows(facts, row)) return Link::norms;
      if (kernel.library != "aten" || !kernel.label.starts_with("reduce")) return Link::none;
      // Several outputs a thread: down the columns, as the gradient of a bias. That goes over its input by itself.
      return facts.kernel(row).find("reduce_kernel<512, 1,") == std::string_view::npos ? Link::columns : Link::reduces;
    case Category::gemm: return Link::product;
    default: return Link::none;
  }
}

}  // namespace ridge
