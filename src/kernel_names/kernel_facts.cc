// What a kernel's name tells of itself: the types and tiles of its template, the counts of its pointers. Not its part in an op:
// kernel_role.cc.
#include "kernel_names/kernel_facts.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <iterator>
#include <vector>

#include "kernel_names/kernel_name.h"

namespace ridge {
namespace {

// Tokens of a name that say in which type it computes; the special before the general.
struct TypeToken {
  std::string_view token;
  DType dtype;
};
constexpr TypeToken kTypeTokens[] = {
    {"tf32", DType::tf32},
    {"tfloat32", DType::tf32},
    {"nvjet_sm90_tst", DType::bf16},
    {"nvjet_tst", DType::bf16},
    {"nvjet_sm90_hsh", DType::f16},
    {"nvjet_hsh", DType::f16},
    {"nvjet_sm90_qq", DType::f8},
    {"nvjet_qq", DType::f8},
    {"nvjet_sm90_oo", DType::f4},
    {"e4m3", DType::f8},
    {"e5m2", DType::f8},
    {"Float8", DType::f8},
    {"fp8", DType::f8},
    {"BFloat16", DType::bf16},
    {"bfloat16", DType::bf16},
    {"bf16", DType::bf16},
    {"_BBS_", DType::bf16},
    {"_B_BS_", DType::bf16},
    {"c10::Half", DType::f16},
    {"__half", DType::f16},
    {"half_t", DType::f16},
    {"f16f16", DType::f16},
    {"h16816", DType::f16},
    {"h1688", DType::f16},
    {"h884", DType::f16},
    {"s884", DType::f16},
    {"hgemm", DType::f16},
    {"_HHS_", DType::f16},
    {"_H_HS_", DType::f16},
    {"f64f64", DType::f64},
    {"dgemm", DType::f64},
    {"d884", DType::f64},
    {"double", DType::f64},
    {"s8s8", DType::i8},
    {"i8816", DType::i8},
    {"igemm_int8", DType::i8},
    {"f32f32", DType::f32},
    {"sgemm", DType::f32},
    {"scudnn", DType::f32},
    {"float", DType::f32},
    {"_SB_", DType::f32},
    {"long", DType::i64},
    {"bool", DType::boolean},
};

// Kernels that add to their result with atomics; counters show that they read it.
constexpr std::string_view kAccumulating[] = {
    "dgrad_engine<",
    "wgrad_alg0_engine<",
    "max_pool3d_with_indices_backward_single_out",
    "atomicadaptivemax",
    "atomic_adaptive_average",
    "pad1d_backward_out_kernel",
    "pad2d_backward_out_kernel",
    "pad3d_backward_out_kernel",
    "replication_pad_backward_kernel",
};

bool holds(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }
// As an identifier of its own: "at::native::reduce_kernel<", not "cublasLt::splitKreduce_kernel<".
bool holds_name(std::string_view text, std::string_view name) {
  const auto in_identifier = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    if (at == 0 || !in_identifier(text[at - 1])) return true;
  }
  return false;
}

// The number that stands at `at`.
std::optional<double> number(std::string_view text, std::size_t at) {
  int value = 0;
  if (at >= text.size()) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), value);
  return error == std::errc() && value >= 0 ? std::optional<double>(value) : std::nullopt;
}
std::optional<double> number_after(std::string_view text, std::string_view mark) {
  const std::size_t at = text.find(mark);
  return at == std::string_view::npos ? std::nullopt : number(text, at + mark.size());
}

// The arguments of the template that opens right behind `mark`, commas of inner templates not counted.
std::vector<std::string_view> template_arguments(std::string_view text, std::size_t open) {
  std::vector<std::string_view> out;
  int depth = 0;
  std::size_t start = open + 1;
  for (std::size_t i = open; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '<' || c == '(') ++depth;
    if (c == '>' || c == ')') --depth;
    const bool ends = depth == 0;
    if ((c == ',' && depth == 1) || ends) {
      std::string_view part = text.substr(start, i - start);
      while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
      while (!part.empty() && part.back() == ' ') part.remove_suffix(1);
      out.push_back(part);
      start = i + 1;
    }
    if (ends) break;
  }
  return out;
}

// "BinaryOpListAlphaFunctor<float, 2, 2, 0>": types, then how many lists there are, how many are read, which is written.
// Fused optimizers: "FusedAdamMathFunctor<float, 4, ..>": the lists, all of them read.
void read_foreach(std::string_view name, KernelFacts* facts) {
  const std::size_t functor = name.find("Functor<");
  if (functor == std::string_view::npos) return;
  const auto arguments = template_arguments(name, functor + 7);
  if (arguments.empty()) return;
  facts->item = parse_dtype(arguments[0]);
  // "CopyFunctor<c10::BFloat16, float, 2, 1, 1>": to and from.
  if (holds(name, "::CopyFunctor<") && arguments.size() > 1) facts->source = parse_dtype(arguments[1]);
  std::vector<int> numbers;
  for (const std::string_view a : arguments) {
    if (!a.empty() && std::isdigit(static_cast<unsigned char>(a[0])) != 0)
      numbers.push_back(static_cast<int>(number(a, 0).value_or(0)));
  }
  if (holds(name, "Fused") || numbers.size() < 3) {
    if (!numbers.empty()) facts->lists = facts->list_reads = numbers[0];
    return;
  }
  facts->lists = numbers[numbers.size() - 3];
  facts->list_reads = numbers[numbers.size() - 2];
}

DType opaque_type(double bytes) {
  if (bytes == 1) return DType::u8;
  if (bytes == 2) return DType::u16;
  if (bytes == 4) return DType::u32;
  if (bytes == 8) return DType::u64;
  return bytes == 16 ? DType::c128 : DType::unknown;
}

void read_cat(std::string_view name, KernelFacts* facts) {
  if (const auto bytes = number_after(name, "OpaqueType<")) {
    facts->item = opaque_type(*bytes);
    facts->item_opaque = true;
    return;
  }
  const std::size_t open = name.find('<', name.find("CatArrayBatchedCopy"));
  if (open == std::string_view::npos) return;
  const auto arguments = template_arguments(name, open);
  if (!arguments.empty()) facts->item = parse_dtype(arguments[0]);
}

void read_elementwise(std::string_view name, KernelFacts* facts) {
  facts->elementwise = true;
  auto pointers = number_after(name, "std::array<char*, ");
  if (!pointers) pointers = number_after(name, "Array<char*, ");
  if (pointers) facts->pointers = static_cast<int>(std::min(*pointers, 64.0));
}

// "nvjet_sm90_tst_64x128_64x8_2x1_h_bz_splitK_NTT": the tile of a block, its depth and stages, the blocks of a cluster.
void read_nvjet(std::string_view name, KernelFacts* facts) {
  double pairs[3][2] = {};
  std::size_t found = 0;
  for (std::size_t at = name.find('_'); at != std::string_view::npos && found < 3; at = name.find('_', at + 1)) {
    const std::size_t end = std::min(name.find('_', at + 1), name.size());
    const std::size_t x = name.find('x', at + 1);
    const auto m = number(name, at + 1), n = x < end ? number(name, x + 1) : std::nullopt;
    if (!m || !n) continue;
    pairs[found][0] = *m;
    pairs[found++][1] = *n;
  }
  if (found < 3) return;
  facts->block_m = pairs[0][0];
  facts->block_n = pairs[0][1];
  facts->cluster_m = std::max(pairs[2][0], 1.0);
  facts->cluster_n = std::max(pairs[2][1], 1.0);
  facts->sweeps_m = holds(name, "_v_");
  facts->sweeps_n = holds(name, "_h_");
  facts->transposed = name.ends_with('T');
}

// "reduce_kernel<512, 1, at::native::ReduceOp<long, ..>>": the type of what is read, which may be a copy that the op made in
// another type.
void read_reduction(std::string_view name, KernelFacts* facts) {
  facts->reduce = true;
  constexpr std::string_view kReduceOp = "ReduceOp<";
  const std::size_t at = name.find(kReduceOp);
  if (at == std::string_view::npos) return;
  const auto arguments = template_arguments(name, at + kReduceOp.size() - 1);
  if (!arguments.empty()) facts->item = parse_dtype(arguments[0]);
}

// "nll_loss_forward_no_reduce_cuda_kernel", "nll_loss_forward_reduce_cuda_kernel_2d", "nll_loss2d_forward_kernel".
std::optional<bool> sums_losses(std::string_view name) {
  if (!holds(name, "nll_loss")) return std::nullopt;
  if (holds(name, "forward_no_reduce")) return false;
  return holds(name, "forward_reduce") || holds(name, "nll_loss2d_forward_kernel") ? std::optional(true) : std::nullopt;
}

DType computes_in(std::string_view name) {
  const auto* token =
      std::find_if(std::begin(kTypeTokens), std::end(kTypeTokens), [&](const TypeToken& t) { return holds(name, t.token); });
  return token == std::end(kTypeTokens) ? DType::unknown : token->dtype;
}

}  // namespace

KernelFacts facts_of(std::string_view name) {
  const std::string_view kernel = cut_kernel_name(name);
  KernelFacts facts;
  facts.dtype = computes_in(kernel);
  facts.tensor_cores_only = kernel.starts_with("nvjet") || holds(kernel, "tf32") || holds(kernel, "tfloat32") ||
                            holds(kernel, "s1688") || holds(kernel, "TF32");
  facts.fill = holds(kernel, "FillFunctor");
  facts.sums = sums_losses(kernel);
  facts.sparse = holds(kernel, "cusparse::") || holds(kernel, "rocsparse::");
  if (holds_name(kernel, "reduce_kernel<")) read_reduction(kernel, &facts);
  facts.transpose = holds(kernel, "nchwToNhwc") || holds(kernel, "nhwcToNchw");
  facts.folds = holds(kernel, "FoldedNhwc") || holds(kernel, "foldedNhwc");
  facts.accumulates = std::any_of(std::begin(kAccumulating), std::end(kAccumulating),
                                  [&](std::string_view pattern) { return holds(kernel, pattern); });
  if (holds(kernel, "multi_tensor_apply_kernel")) {
    read_foreach(kernel, &facts);
  } else if (holds(kernel, "CatArrayBatchedCopy")) {
    read_cat(kernel, &facts);
  } else if (holds(kernel, "elementwise_kernel")) {
    read_elementwise(kernel, &facts);
  }
  if (kernel.starts_with("nvjet")) read_nvjet(kernel, &facts);
  const std::size_t tile = kernel.find("tilesize");
  if (tile != std::string_view::npos) {
    facts.tile_m = number(kernel, tile + 8).value_or(0);
    const std::size_t x = kernel.find('x', tile + 8);
    if (x != std::string_view::npos) facts.tile_n = number(kernel, x + 1).value_or(0);
  }
  const std::size_t index = kernel.find("index_elementwise_kernel<");
  if (index != std::string_view::npos) {
    const auto arguments = template_arguments(kernel, kernel.find('<', index));
    if (arguments.size() >= 2) {
      facts.elements_per_block = number(arguments[0], 0).value_or(0) * number(arguments[1], 0).value_or(0);
    }
  }
  return facts;
}

}  // namespace ridge
