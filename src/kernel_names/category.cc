// The names of categories, as every output has them.
#include "kernel_names/category.h"

#include <iterator>

namespace ridge {
namespace {

constexpr std::string_view kCategoryNames[] = {
    "triton_pointwise",
    "triton_reduction",
    "triton_persistent_reduction",
    "triton_template",
    "triton_foreach",
    "triton_split_scan",
    "triton_user",
    "triton_other",
    "gemm",
    "conv",
    "attention",
    "norm",
    "elementwise",
    "reduction",
    "layout",
    "optimizer",
    "comm",
    "memcpy",
    "memset",
    "other",
};
static_assert(std::size(kCategoryNames) == kCategories);

}  // namespace

std::string_view name_of(Category category) { return kCategoryNames[static_cast<std::size_t>(category)]; }

}  // namespace ridge
