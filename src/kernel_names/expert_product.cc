// Two libraries' ways to name the types of a product.
#include "kernel_names/expert_product.h"

#include <algorithm>
#include <iterator>

namespace ridge {
namespace {

struct NamedItem {
  std::string_view name;
  double bytes;
};

// Block formats have a scale of a byte for each 32 values (Mx), or for each 16 (NVIDIA's 4-bit floats). The longer name first.
constexpr NamedItem kTrtllm[] = {{"MxE4m3", 1 + 1 / 32.0},
                                 {"MxE2m1", 0.5 + 1 / 32.0},
                                 {"MxInt4", 0.5 + 1 / 16.0},
                                 {"E4m3", 1},
                                 {"E2m1", 0.5 + 1 / 16.0},
                                 {"Bfloat16", 2},
                                 {"Fp16", 2},
                                 {"Fp32", 4}};
constexpr NamedItem kTriton[] = {{"mxfp4", 0.5 + 1 / 32.0},
                                 {"mxfp8", 1 + 1 / 32.0},
                                 {"bf16", 2},
                                 {"fp16", 2},
                                 {"fp32", 4},
                                 {"fp8e4nv", 1},
                                 {"fp8e4b8", 1},
                                 {"fp8e5", 1}};

// The type at the front of `text`, which loses it; 0 when there is none.
template <std::size_t N>
double take_item(const NamedItem (&types)[N], std::string_view* text) {
  const auto* type =
      std::find_if(std::begin(types), std::end(types), [&](const NamedItem& t) { return text->starts_with(t.name); });
  if (type == std::end(types)) return 0;
  text->remove_prefix(type->name.size());
  return type->bytes;
}

// "bmm_<result>_<a><b>_<sum>_t128x16x256.._transOut..": transposed, the weights are a.
std::optional<ExpertProduct> of_trtllm(std::string_view name) {
  if (!name.starts_with("bmm_")) return std::nullopt;
  std::string_view rest = name.substr(4);
  ExpertProduct product;
  product.out_item = take_item(kTrtllm, &rest);
  if (product.out_item <= 0 || !rest.starts_with('_')) return std::nullopt;
  rest.remove_prefix(1);
  const double a = take_item(kTrtllm, &rest), b = take_item(kTrtllm, &rest);
  const bool transposed = name.find("transOut") != std::string_view::npos;
  product.weight_item = transposed || b <= 0 ? a : b;
  product.in_item = transposed && b > 0 ? b : a;
  product.gated = name.find("Glu") != std::string_view::npos;
  return product;
}

// "_matmul_ogs_<layouts>_<result>x<input>x<weights>_<tiles>_swiglu".
std::optional<ExpertProduct> of_triton(std::string_view name) {
  const std::size_t mark = name.find("_matmul_ogs_");
  if (mark == std::string_view::npos) return std::nullopt;
  std::string_view rest = name.substr(mark + 12);
  const std::size_t layouts = rest.find('_');
  if (layouts == std::string_view::npos) return std::nullopt;
  rest.remove_prefix(layouts + 1);
  ExpertProduct product;
  double* const items[] = {&product.out_item, &product.in_item, &product.weight_item};
  for (double* item : items) {
    *item = take_item(kTriton, &rest);
    if (*item <= 0) return std::nullopt;
    if (rest.starts_with('x')) rest.remove_prefix(1);
  }
  product.gated = rest.find("swiglu") != std::string_view::npos;
  return product;
}

}  // namespace

std::optional<ExpertProduct> expert_product(std::string_view kernel) {
  const auto product = of_trtllm(kernel);
  return product ? product : of_triton(kernel);
}

}  // namespace ridge
