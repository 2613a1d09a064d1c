// Matrix products of the libraries that serve models, most of them with weights of 8 or 4 bits: FLOPs 2 M N K whatever the
// types; bytes: both factors as they lie in memory, their scales, the bias, the result.
//
// Arguments as the libraries declare them: vLLM csrc/libtorch_stable/torch_bindings.cpp (_C), csrc/rocm/torch_bindings.cpp
// (_rocm_C), csrc/libtorch_stable/moe/torch_bindings.cpp (_moe_C), vllm/_aiter_ops.py and model_executor/layers/utils.py
// (vllm); SGLang sgl-kernel csrc/common_extension*.cc (sgl_kernel); AITER aiter/ops/gemm_op_*.py, aiter/tuned_gemm.py (aiter);
// TensorRT-LLM cpp/tensorrt_llm/thop and tensorrt_llm/_torch/custom_ops/{cpp,torch}_custom_ops.py (trtllm); Transformer Engine
// to 1.13 pytorch/csrc/ts_fp8_op.cpp (tex_ts; later its products are no ops); FlashInfer 0.2.1 to 0.3
// csrc/flashinfer_gemm_ops.cu (gemm); bitsandbytes bitsandbytes/_ops.py.
#include <algorithm>

#include "ops/operands.h"
#include "ops/product.h"

namespace ridge {
namespace {

using At = ProductPositions;

// (a, w, zeros, scales, ..., bits): how many bits a weight has is the last argument.
OpWork by_bits(const OpCall& c, const Part& p, const At& at) {
  const auto bits = c.arguments.empty() ? std::nullopt : number_at(c, c.arguments.size() - 1);
  if (bits != 2.0 && bits != 3.0 && bits != 4.0 && bits != 8.0) return {};
  At packed = at;
  packed.packed_b = static_cast<int>(32 / *bits);
  return product(c, p, packed);
}

// Weights of 4 or 8 bits in tiles of a layout of their own, and M, N, K as numbers from `sizes_from` on.
template <std::size_t sizes_from>
OpWork by_numbers(const OpCall& c, const Part& p, const At& at) {
  OpWork work = product(c, p, at);
  const auto m = number_at(c, sizes_from), n = number_at(c, sizes_from + 1), k = number_at(c, sizes_from + 2);
  if (p.role != KernelRole::main || !m || !n || !k) return work;
  const TensorShape* a = tensor_at(c, static_cast<std::size_t>(at.a));
  const double item = a == nullptr ? 0 : item_bytes(a->dtype);
  work.flops = 2 * *m * *n * *k;
  if (p.as<GemmPart>().partial_bytes <= 0) work.written = *m * *n * item;
  return work;
}

// Rows of tokens, each multiplied with the matrix of its expert, [E, ..] in whichever order: the result that is given has the
// columns.
OpWork grouped(const OpCall& c, const Part& p, const At& at) {
  OpWork work;
  const TensorShape* a = tensor_at(c, static_cast<std::size_t>(at.a));
  const TensorShape* b = tensor_at(c, static_cast<std::size_t>(at.b));
  const TensorShape* out = tensor_at(c, static_cast<std::size_t>(at.out));
  if (a == nullptr || b == nullptr || out == nullptr || a->sizes.size() != 2 || b->sizes.size() != 3 || out->sizes.empty())
    return work;
  if (p.role != KernelRole::main) return p.role == KernelRole::initialise ? moves(0, 0, a->dtype) : work;
  const auto experts = static_cast<double>(b->sizes[0]), columns = static_cast<double>(out->sizes.back());
  const double rows = columns > 0 ? numel(*out) / columns : 0;
  const double met = experts > 0 ? distinct_rows(rows, experts) / experts : 1;
  const double scales = touched_or_zero(at.scale_b < 0 ? nullptr : tensor_at(c, static_cast<std::size_t>(at.scale_b)));
  work.dtype = a->dtype;
  work.flops = 2 * numel(*out) * static_cast<double>(a->sizes[1]) * at.packed_a;
  work.read = plus(plus(dense_bytes(a), times(dense_bytes(b), met)), scales * met);
  work.read = plus(work.read, touched_or_zero(at.scale_a < 0 ? nullptr : tensor_at(c, static_cast<std::size_t>(at.scale_a))));
  work.written = dense_bytes(out);
  work.ambiguous = true;
  return work;
}

// Marlin's tiles of weights, [E, ..], and the choice of experts: (a, c, w at 2, .., k at 16, .., M, N, K from 19 on). The
// numbers are believed where the weights hold as much, in 4 bits or in 8: other releases have others there.
OpWork chosen_by_numbers(const OpCall& c, const Part& p, const At& at) {
  OpWork work;
  const TensorShape* a = tensor_at(c, static_cast<std::size_t>(at.a));
  const TensorShape* b = tensor_at(c, static_cast<std::size_t>(at.b));
  const auto top_k = number_at(c, 16), m = number_at(c, 19), n = number_at(c, 20), k = number_at(c, 21);
  if (a == nullptr || b == nullptr || b->sizes.size() != 3 || b->sizes[0] <= 0 || !top_k || !m || !n || !k) return work;
  const auto experts = static_cast<double>(b->sizes[0]);
  const double bits = numel(*b) * item_bytes(b->dtype) * 8 / std::max(experts * *n * *k, 1.0);
  if (p.role != KernelRole::main || (bits != 4 && bits != 8)) return work;
  const double rows = *m * *top_k, met = distinct_rows(rows, experts) / experts;
  const TensorShape* scales = tensor_at(c, static_cast<std::size_t>(at.scale_b));
  work.dtype = a->dtype;
  work.flops = 2 * rows * *n * *k;
  work.read = plus(plus(dense_bytes(a), times(dense_bytes(b), met)), touched_or_zero(scales) * met);
  work.written = rows * *n * item_bytes(a->dtype);
  work.ambiguous = true;
  return work;
}

// Weights of few bits, so many to an element as b has fewer rows than a has columns.
OpWork by_fewer_rows(const OpCall& c, const Part& p, const At& at) {
  const TensorShape* a = tensor_at(c, static_cast<std::size_t>(at.a));
  const TensorShape* b = tensor_at(c, static_cast<std::size_t>(at.b));
  if (a == nullptr || b == nullptr || a->sizes.size() != 2 || b->sizes.size() != 2 || b->sizes[0] <= 0) return {};
  if (a->sizes[1] % b->sizes[0] != 0) return {};
  At packed = at;
  packed.packed_b = static_cast<int>(a->sizes[1] / b->sizes[0]);
  return product(c, p, packed);
}

// Transformer Engine speaks of columns first, as cuBLAS does: (A, .., transposed at 4, B at 5, .., transposed at 9, D at 10);
// of a forward pass A is the weight, [N, K], and B the input. Factors of 8 bits are bytes.
OpWork columns_first(const OpCall& c, const Part& p, const At& at) {
  OpWork work;
  const TensorShape* a = tensor_at(c, static_cast<std::size_t>(at.b));
  const TensorShape* b = tensor_at(c, static_cast<std::size_t>(at.a));
  const TensorShape* out = tensor_at(c, static_cast<std::size_t>(at.out));
  const auto transposed_a = number_at(c, 4), transposed_b = number_at(c, 9);
  if (a == nullptr || b == nullptr || out == nullptr || a->sizes.size() != 2 || b->sizes.size() != 2) return work;
  if (p.role != KernelRole::main || !transposed_a || !transposed_b) return work;
  const auto m = static_cast<double>(a->sizes[*transposed_a != 0 ? 0 : 1]);
  const auto k = static_cast<double>(a->sizes[*transposed_a != 0 ? 1 : 0]);
  const auto n = static_cast<double>(b->sizes[*transposed_b != 0 ? 1 : 0]);
  const bool adds = number_at(c, 20) == 1.0;
  const double partial = p.as<GemmPart>().partial_bytes;
  work.dtype = a->dtype == DType::u8 ? DType::f8 : a->dtype;
  work.flops = 2 * m * n * k;
  work.read = plus(plus(dense_bytes(a), dense_bytes(b)), adds ? dense_bytes(out) : std::optional(0.0));
  work.read = plus(work.read, touched_or_zero(tensor_at(c, static_cast<std::size_t>(at.added))));
  work.written = partial > 0 ? std::optional(partial) : dense_bytes(out);
  return work;
}

constexpr DType kBf16 = DType::bf16;

// (out, a, b, scale_a, scale_b, ..)
constexpr At kCutlass{.a = 1, .b = 2, .added = 5, .out = 0, .scale_a = 3, .scale_b = 4};
constexpr At kCutlassAzp{.a = 1, .b = 2, .added = 7, .out = 0, .scale_a = 3, .scale_b = 4};
constexpr At kCutlassFp4{.a = 1, .b = 2, .b_by_rows = true, .out = 0, .scale_a = 3, .scale_b = 4, .packed_a = 2, .packed_b = 2};
constexpr At kOutFirst{.a = 1, .b = 2, .out = 0};                           // (out, a, b)
constexpr At kOutFirstByRows{.a = 1, .b = 2, .b_by_rows = true, .out = 0};  // (out, a, b [N, K])
// (a, b, scale_a, scale_b, ..): where the type of the result and a bias stand
constexpr At kScaled{.added = 4, .out_dtype = 5, .scale_a = 2, .scale_b = 3};            // bias, out_dtype
constexpr At kScaledDtypeFirst{.added = 5, .out_dtype = 4, .scale_a = 2, .scale_b = 3};  // out_dtype, bias
// (x, w [N, K], x_scale, w_scale, ..)
constexpr At kByRowsOut{.b_by_rows = true, .out = 4, .scale_a = 2, .scale_b = 3};  // out
constexpr At kByRowsOutBias{.b_by_rows = true, .added = 5, .out = 4, .scale_a = 2, .scale_b = 3};
constexpr At kByRowsOutBiasLater{.b_by_rows = true, .added = 6, .out = 4, .scale_a = 2, .scale_b = 3};
constexpr At kByRowsDtype{.b_by_rows = true, .out_dtype = 4, .scale_a = 2, .scale_b = 3, .result = kBf16};
constexpr At kByRowsBiasDtype{.b_by_rows = true, .added = 4, .out_dtype = 5, .scale_a = 2, .scale_b = 3, .result = kBf16};
constexpr At kByRows{.b_by_rows = true, .scale_a = 2, .scale_b = 3, .result = kBf16};
// The same of 4-bit factors, two to a byte.
constexpr At kFp4Out{.b_by_rows = true, .out = 4, .scale_a = 2, .scale_b = 3, .packed_a = 2, .packed_b = 2};
constexpr At kFp4BiasDtype{
    .b_by_rows = true, .added = 4, .out_dtype = 5, .scale_a = 2, .scale_b = 3, .packed_a = 2, .packed_b = 2, .result = kBf16};
constexpr At kFp4Dtype{
    .b_by_rows = true, .out_dtype = 6, .scale_a = 2, .scale_b = 3, .packed_a = 2, .packed_b = 2, .result = kBf16};
// Activations of 16 or 8 bits, weights of 4, eight to an int32.
constexpr At kInt4{.scale_b = 2, .packed_b = 8};  // (a, w, scales, ..)
constexpr At kInt4Fp8{.scale_b = 2, .packed_b = 8, .result = kBf16};
constexpr At kInt4Groups{.scale_b = 3, .packed_b = 8};                  // (a, w, group size, scales and zeros)
constexpr At kInt8{.b_by_rows = true, .scale_b = 2};                    // (a, w [N, K] int8, scales)
constexpr At kGptq{.scale_b = 3};                                       // by_bits: (a, w, zeros, scales, ..)
constexpr At kMarlin{.b = 2, .added = 3, .scale_b = 4, .packed_b = 8};  // (a, c, w, bias, scales, .., m, n, k at 12)
constexpr At kGptqMarlin{.b = 2, .scale_b = 3, .packed_b = 8};          // (a, c, w, scales, .., m, n, k at 10)
// Skinny products of ROCm: the weights stand first.
constexpr At kSkinny{.a = 1, .b = 0, .b_by_rows = true, .added = 2};
constexpr At kSkinnyFp8{.a = 1, .b = 0, .b_by_rows = true, .added = 2, .out = 3, .scale_a = 4, .scale_b = 5};
constexpr At kLinear{.b_by_rows = true, .added = 2};                       // (x, w, bias)
constexpr At kLinearDtype{.b_by_rows = true, .added = 2, .out_dtype = 3};  // (x, w, bias, out_dtype)

// (out, a, b [E, ..], scale_a, scale_b, ..), grouped by expert
constexpr At kGrouped{.a = 1, .b = 2, .out = 0, .scale_a = 3, .scale_b = 4};
constexpr At kGroupedFp4{.a = 1, .b = 2, .out = 0, .scale_a = 3, .scale_b = 4, .packed_a = 2, .packed_b = 2};
constexpr At kGroupedInt4{.a = 1, .b = 2, .out = 0, .scale_a = 3, .scale_b = 5, .packed_b = 8};
constexpr At kMachete{.out_dtype = 3, .scale_b = 4};  // by_fewer_rows: (a, w, type, out_dtype, scales, zeros, ..)
// (a, w [N, K / 2], scale_a, scale_b, alpha, out_dtype, ..): where a bias stands
constexpr At kNvFp4{
    .b_by_rows = true, .added = 9, .out_dtype = 5, .scale_a = 2, .scale_b = 3, .packed_a = 2, .packed_b = 2, .result = kBf16};
constexpr At kNvFp4One{
    .b_by_rows = true, .added = 7, .out_dtype = 5, .scale_a = 2, .scale_b = 3, .packed_a = 2, .packed_b = 2, .result = kBf16};
constexpr At kMxFp4Fp8{.b_by_rows = true, .out_dtype = 5, .scale_a = 2, .scale_b = 3, .packed_b = 2, .result = kBf16};
constexpr At kBatchedFp8{.b_by_rows = true, .out_dtype = 9, .scale_a = 6, .scale_b = 7, .result = DType::f16};
constexpr At kBias{.added = 2, .out_dtype = 3};                               // (a, b, bias, out_dtype)
constexpr At kTe{.a = 5, .b = 0, .b_by_rows = true, .added = 14, .out = 10};  // columns_first

constexpr OpFormula kRows[] = {
    product_row<kInt4Groups>("aten::_weight_int4pack_mm"),
    product_row<kInt8>("aten::_weight_int8pack_mm"),

    product_row<kCutlass>("_C::cutlass_scaled_mm"),
    product_row<kCutlassAzp>("_C::cutlass_scaled_mm_azp"),
    product_row<kCutlassFp4>("_C::cutlass_scaled_fp4_mm"),
    product_row<kInt4Fp8>("_C::cutlass_w4a8_mm"),
    product_row<kInt4>("_C::awq_gemm"),
    product_row<kGptq, by_bits>("_C::gptq_gemm"),
    product_row<kMarlin, by_numbers<12>>("_C::marlin_gemm"),
    product_row<kGptqMarlin, by_numbers<10>>("_C::gptq_marlin_gemm"),
    product_row<kMachete, by_fewer_rows>("_C::machete_mm"),
    product_row<At{.scale_b = 2}>("_C::allspark_w8a16_gemm"),
    product_row<kGrouped, grouped>("_C::cutlass_moe_mm"),
    product_row<kGroupedFp4, grouped>("_C::cutlass_fp4_group_mm"),
    product_row<kGroupedFp4, grouped>("_C::cutlass_mxfp4_group_mm"),
    product_row<kGroupedInt4, grouped>("_C::cutlass_w4a8_moe_mm"),
    product_row<kOutFirst>("_C::dsv3_fused_a_gemm"),
    product_row<kOutFirstByRows>("_C::fp32_router_gemm"),
    product_row<kOutFirstByRows>("_moe_C::dsv3_router_gemm"),
    product_row<At{.a = 0, .b = 2, .out = 1, .scale_b = 3}, grouped>("_moe_C::moe_wna16_gemm"),
    product_row<At{.a = 0, .b = 2, .scale_b = 4}, chosen_by_numbers>("_moe_C::moe_wna16_marlin_gemm"),
    product_row<kSkinny>("_rocm_C::wvSplitK"),
    product_row<kSkinny>("_rocm_C::wvSplitKrc"),
    product_row<At{.a = 1, .b = 0, .b_by_rows = true}>("_rocm_C::LLMM1"),
    product_row<kSkinnyFp8>("_rocm_C::wvSplitKQ"),
    product_row<kLinear>("vllm::rocm_unquantized_gemm"),
    product_row<kByRowsDtype>("vllm::rocm_aiter_gemm_a8w8_blockscale"),
    product_row<kByRowsDtype>("vllm::rocm_aiter_triton_gemm_a8w8_blockscale"),
    product_row<kByRowsDtype>("vllm::rocm_aiter_gemm_a8w8_blockscale_bpreshuffle"),
    product_row<kByRowsBiasDtype>("vllm::rocm_aiter_w8a8_gemm"),
    product_row<kByRowsBiasDtype>("vllm::_rocm_aiter_preshuffled_per_token_w8a8_gemm"),
    product_row<At{.b_by_rows = true, .out_dtype = 4, .scale_a = 2, .scale_b = 3, .packed_b = 2, .result = kBf16}>(
        "vllm::rocm_aiter_gemm_a8wfp4"),
    product_row<At{.added = 5, .out_dtype = 2, .scale_a = 3, .scale_b = 4, .result = kBf16}>(
        "vllm::rocm_per_tensor_float_w8a8_scaled_mm_impl"),

    product_row<kScaledDtypeFirst>("sgl_kernel::fp8_scaled_mm"),
    product_row<kScaledDtypeFirst>("sgl_kernel::int8_scaled_mm"),
    product_row<kScaledDtypeFirst>("sgl_kernel::fp8_blockwise_scaled_mm"),
    product_row<kCutlassFp4>("sgl_kernel::cutlass_scaled_fp4_mm"),
    product_row<kGrouped, grouped>("sgl_kernel::cutlass_w4a8_moe_mm"),
    product_row<kGrouped, grouped>("sgl_kernel::es_fp8_blockwise_scaled_grouped_mm"),
    product_row<At{.a = 6, .b = 7, .out = 0, .scale_a = 8, .scale_b = 9}, grouped>(
        "sgl_kernel::fp8_blockwise_scaled_grouped_mm"),
    product_row<At{.a = 0, .b = 1, .out = 4, .scale_a = 2, .scale_b = 3}, grouped>(
        "sgl_kernel::es_sm100_mxfp8_blockscaled_grouped_mm"),
    product_row<kGptq, by_bits>("sgl_kernel::gptq_gemm"),
    product_row<kOutFirst>("sgl_kernel::dsv3_fused_a_gemm"),
    product_row<kOutFirstByRows>("sgl_kernel::dsv3_router_gemm"),
    product_row<kByRowsOut>("sglang_profiler::gemm_a8w8_blockscale_gemm_a8w8_blockscale"),

    product_row<kLinearDtype>("aiter::gemm_a16w16"),
    product_row<At{.b_by_rows = true, .added = 4, .out = 2}>("aiter::_gemm_a16w16_asm"),
    product_row<At{.b_by_rows = true, .out = 3}>("aiter::gemm_a16w16_atomic_"),
    product_row<kByRowsOutBias>("aiter::gemm_a8w8_ck"),
    product_row<kByRowsOutBiasLater>("aiter::_gemm_a8w8_asm"),
    product_row<kByRowsOut>("aiter::gemm_a8w8_bpreshuffle_ck"),
    product_row<kByRowsOut>("aiter::gemm_a8w8_bpreshuffle_cktile"),
    product_row<kByRowsOut>("aiter::gemm_a8w8_blockscale_ck"),
    product_row<kByRowsOut>("aiter::gemm_a8w8_blockscale_cktile"),
    product_row<kByRowsOut>("aiter::gemm_a8w8_blockscale_bpreshuffle_ck"),
    product_row<kByRowsOut>("aiter::gemm_a8w8_blockscale_bpreshuffle_cktile"),
    product_row<kByRowsOut>("aiter::_flatmm_a8w8_blockscale_asm"),
    product_row<kByRowsOut>("aiter::flatmm_a8w8_blockscale_asm"),
    product_row<kByRowsBiasDtype>("aiter::gemm_a8w8"),
    product_row<kByRowsBiasDtype>("aiter::gemm_a8w8_bpreshuffle"),
    product_row<kByRowsDtype>("aiter::gemm_a8w8_blockscale"),
    product_row<kFp4BiasDtype>("aiter::gemm_a4w4"),
    product_row<kFp4Out>("aiter::_gemm_a4w4_asm"),
    product_row<kFp4Out>("aiter::gemm_a4w4_blockscale"),

    product_row<kScaled>("trtllm::cublas_scaled_mm"),
    product_row<kScaled>("trtllm::cuda_scaled_mm"),
    product_row<kBias>("trtllm::cublas_mm"),
    product_row<kBias>("trtllm::dsv3_router_gemm_op"),
    product_row<kBias>("trtllm::dsv3_fused_a_gemm_op"),
    product_row<kByRowsDtype>("trtllm::fp8_rowwise_gemm"),
    product_row<kBatchedFp8>("trtllm::fp8_batched_gemm_trtllmgen"),
    product_row<kNvFp4>("trtllm::nvfp4_gemm"),
    product_row<kNvFp4One>("trtllm::nvfp4_gemm_cutlass"),
    product_row<kNvFp4One>("trtllm::nvfp4_gemm_cublaslt"),
    product_row<kMxFp4Fp8>("trtllm::w4a8_mxfp4_fp8_gemm"),
    product_row<kByRows>("trtllm::fp8_block_scaling_gemm"),
    product_row<kByRowsDtype>("trtllm::fp8_block_scaling_bmm"),
    product_row<kFp4Dtype>("trtllm::fp4_gemm"),
    product_row<kFp4Dtype>("trtllm::cublas_fp4_scaled_mm"),

    product_row<kTe, columns_first>("tex_ts::te_gemm_ts"),
    product_row<At{.out = 2, .scale_a = 3, .scale_b = 4}>("gemm::bmm_fp8"),

    product_row<At{.b_by_rows = true, .result = DType::i32}>("bitsandbytes::int8_linear_matmul"),
};

}  // namespace

std::span<const OpFormula> quantised_product_ops() { return kRows; }

}  // namespace ridge
