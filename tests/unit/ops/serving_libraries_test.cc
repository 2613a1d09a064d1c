// Attention, products, experts and fusions of FlashInfer, xFormers, TensorRT-LLM, Transformer Engine and vLLM: FLOPs and bytes
// against numbers computed by hand, with arguments in the order in which the libraries declare them.
#include <string>

#include <gtest/gtest.h>

#include "ops/op_work.h"

namespace ridge {
namespace {

OpWork library_work(std::string_view op, std::string_view dims, std::string_view types, std::string_view values = "",
                    Part part = {}) {
  const OpFormula* row = find_op(op);
  EXPECT_NE(row, nullptr) << op;
  return row == nullptr ? OpWork() : row->work(parse_op_call(op, dims, types, "", values), part);
}

constexpr ServerTokens kThreeDecode{
    .context = {}, .generation = {.requests = 3, .queries = 3, .keys = 500, .pairs = 500, .squares = 3}, .known = true};

// (workspace, workspace, plan, q, k, v, indptr, indices, last page, out, lse, layout, window)
constexpr std::string_view kDecodeTypes =
    R"(["unsigned char","unsigned char","long int","c10::BFloat16","c10::BFloat16","c10::BFloat16","int","int","int",)"
    R"("c10::BFloat16","","Scalar","Scalar"])";
std::string decode_dims(std::string_view cache, std::string_view pages) {
  const std::string c(cache);
  return "[[1000],[1000],[10],[3,32,128]," + c + "," + c + ",[4],[" + std::string(pages) + "],[3],[3,32,128],[],[],[]]";
}
std::string decode_values(std::string_view layout, std::string_view window) {
  return R"(["","","","","","","","","","","",")" + std::string(layout) + R"(",")" + std::string(window) + R"("])";
}

TEST(FlashInfer, DecodingMeetsThePagesThatAreListed) {
  constexpr std::string_view kOp =
      "batch_decode_with_kv_cache_dtype_q_bf16_dtype_kv_bf16_dtype_o_bf16_dtype_idx_i32_head_dim_qk_128_head_dim_vo_128_"
      "posenc_0_use_swa_False_use_logits_cap_False::run";
  // 32 pages of 16 tokens, 8 heads of keys.
  const OpWork listed = library_work(kOp, decode_dims("[1000,16,8,128]", "32"), kDecodeTypes, decode_values("0", "-1"));
  EXPECT_EQ(listed.flops, 2.0 * 32 * 256 * 32 * 16);
  EXPECT_EQ(listed.read, 3.0 * 32 * 128 * 2 + 32.0 * 16 * 8 * 256 * 2);
  EXPECT_EQ(listed.written, 3.0 * 32 * 128 * 2);
  EXPECT_TRUE(listed.ambiguous);
  // The same cache with its heads before the tokens of a page.
  const OpWork heads_first = library_work(kOp, decode_dims("[1000,8,16,128]", "32"), kDecodeTypes, decode_values("1", "-1"));
  EXPECT_EQ(heads_first.flops, listed.flops);
  EXPECT_EQ(heads_first.read, listed.read);
  // A server's mark knows better.
  const OpWork marked = library_work(kOp, decode_dims("[1000,16,8,128]", "32"), kDecodeTypes, decode_values("0", "-1"),
                                     {.of = AttentionPart{.tokens = kThreeDecode}});
  EXPECT_EQ(marked.flops, 2.0 * 32 * 256 * 500);
  // Only the last 64 of each sequence.
  EXPECT_EQ(library_work(kOp, decode_dims("[1000,16,8,128]", "32"), kDecodeTypes, decode_values("0", "63")).flops,
            2.0 * 32 * 256 * 3 * 64);
  // More pages than there are: a buffer of a graph, of which nobody says how much counts.
  const OpWork buffer = library_work(kOp, decode_dims("[1000,16,8,128]", "4096"), kDecodeTypes, decode_values("0", "-1"));
  EXPECT_FALSE(buffer.flops);
  EXPECT_FALSE(buffer.read);
}

// (workspace, workspace, plan, q, k, v, q ends, page ends, pages, last page, out, lse, mask, layout, window)
TEST(FlashInfer, PagesOfAPrefillTellNotWhoMeetsWhom) {
  constexpr std::string_view kOp = "batch_prefill_with_kv_cache_dtype_q_f16_dtype_kv_f16_f16qk_False_sm90::paged_run";
  constexpr std::string_view kDims =
      "[[9],[9],[9],[150,32,128],[1000,16,8,128],[1000,16,8,128],[3],[3],[22],[2],[150,32,128],[],[],[],[]]";
  constexpr std::string_view kTypes =
      R"(["unsigned char","unsigned char","long int","c10::Half","c10::Half","c10::Half","int","int","int","int","c10::Half","",)"
      R"("Scalar","Scalar","Scalar"])";
  constexpr std::string_view kValues = R"(["","","","","","","","","","","","","1","0","-1"])";
  EXPECT_FALSE(library_work(kOp, kDims, kTypes, kValues).flops);
  const ServerTokens prefill{
      .context = {.requests = 2, .queries = 150, .keys = 350, .pairs = 100 * 100 + 50 * 250, .squares = 100 * 100 + 50 * 50},
      .generation = {},
      .known = true};
  const OpWork read = library_work(kOp, kDims, kTypes, kValues, {.of = AttentionPart{.tokens = prefill}});
  EXPECT_EQ(read.flops, 2.0 * 32 * 256 * (100 * 100 + 50 * 250));
  EXPECT_EQ(read.read, 150.0 * 32 * 128 * 2 + 350.0 * 8 * 256 * 2);
  // Compiled ahead of time it has another name.
  EXPECT_EQ(library_work("flashinfer_kernels_sm90::batch_prefill_with_paged_kv_cache_sm90_run", kDims, kTypes, kValues,
                         {.of = AttentionPart{.tokens = prefill}})
                .flops,
            read.flops);
}

// (workspace, workspace, plan, q, k, v, q ends, k ends, out, lse, mask, layout, window)
TEST(FlashInfer, RaggedKeysAreAllArguments) {
  constexpr std::string_view kOp = "batch_prefill_with_kv_cache_dtype_q_bf16_head_dim_qk_192_head_dim_vo_128::ragged_run";
  const auto dims = [](std::string_view ends) {
    const std::string e(ends);
    return "[[9],[9],[9],[150,16,192],[150,16,192],[150,16,128]," + e + "," + e + ",[150,16,128],[],[],[],[]]";
  };
  constexpr std::string_view kTypes =
      R"(["unsigned char","unsigned char","long int","c10::BFloat16","c10::BFloat16","c10::BFloat16","int","int",)"
      R"("c10::BFloat16","","Scalar","Scalar","Scalar"])";
  constexpr std::string_view kValues = R"(["","","","","","","","","","","1","0","-1"])";
  const OpWork one = library_work(kOp, dims("[2]"), kTypes, kValues);
  EXPECT_EQ(one.flops, 2.0 * 16 * (192 + 128) * 150 * 150);
  EXPECT_EQ(one.flops_causal, 2.0 * 16 * (192 + 128) * 150 * 151 / 2);
  EXPECT_EQ(one.read, 150.0 * 16 * (192 + 192 + 128) * 2);
  EXPECT_EQ(one.written, 150.0 * 16 * 128 * 2);
  // Of several sequences the bytes are known; the products where the mark tells their squares.
  const OpWork several = library_work(kOp, dims("[3]"), kTypes, kValues);
  EXPECT_FALSE(several.flops);
  EXPECT_EQ(several.read, one.read);
  const ServerTokens prefill{
      .context = {.requests = 2, .queries = 150, .squares = 100 * 100 + 50 * 50}, .generation = {}, .known = true};
  EXPECT_EQ(library_work(kOp, dims("[3]"), kTypes, kValues, {.of = AttentionPart{.tokens = prefill}}).flops,
            2.0 * 16 * (192 + 128) * (100 * 100 + 50 * 50));
}

TEST(FlashInfer, OneRequestIsCountedExactly) {
  constexpr std::string_view kTypes =
      R"(["c10::BFloat16","c10::BFloat16","c10::BFloat16","unsigned char","c10::BFloat16","","Scalar","Scalar","Scalar"])";
  // (q, k, v, buffer, out, lse, mask, layout, window): 10 queries behind 90 keys, causal.
  const OpWork prefill = library_work("single_prefill_with_kv_cache_dtype_q_bf16_f16qk_False::run",
                                      "[[10,8,64],[100,2,64],[100,2,64],[32],[10,8,64],[],[],[],[]]", kTypes,
                                      R"(["","","","","","","1","0","-1"])");
  EXPECT_EQ(prefill.flops, 2.0 * 8 * 128 * 10 * 100);
  EXPECT_EQ(prefill.flops_causal, 2.0 * 8 * 128 * (10 * 100 - 45));
  EXPECT_EQ(prefill.read, 10.0 * 8 * 64 * 2 + 2 * 100.0 * 2 * 64 * 2);
  // (q, k, v, buffer, out, lse, layout, window): one query.
  const OpWork decode =
      library_work("single_decode_with_kv_cache_dtype_q_bf16_posenc_0::run",
                   "[[8,64],[2,100,64],[2,100,64],[32],[8,64],[],[],[]]", kTypes, R"(["","","","","","","1","-1"])");
  EXPECT_EQ(decode.flops, 2.0 * 8 * 128 * 100);
}

// Queries and latents each have a part that tells the place.
TEST(FlashInfer, LatentsAreReadOnceForKeysAndValues) {
  const OpWork latent = library_work(
      "batch_mla_attention_dtype_q_bf16_head_dim_ckv_512_head_dim_kpe_64_profiler_False::run",
      "[[9],[9],[9],[3,16,512],[3,16,64],[1000,1,512],[1000,1,64],[500],[3,16,512],[],[],[],[],[]]",
      R"(["unsigned char","unsigned char","long int","c10::BFloat16","c10::BFloat16","c10::BFloat16","c10::BFloat16","int",)"
      R"("c10::BFloat16","","Scalar","Scalar","Scalar","Scalar"])",
      "", {.of = AttentionPart{.tokens = kThreeDecode}});
  EXPECT_EQ(latent.flops, 2.0 * 16 * (576 + 512) * 500);
  EXPECT_EQ(latent.read, 3.0 * 16 * 576 * 2 + 500.0 * 576 * 2);
}

TEST(Xformers, EfficientAttentionInBothForms) {
  constexpr std::string_view kDims = "[[2,128,16,64],[2,128,16,64],[2,128,16,64],[],[],[],[],[],[],[],[]]";
  constexpr std::string_view kTypes =
      R"(["c10::Half","c10::Half","c10::Half","","","","Scalar","Scalar","Scalar","Scalar","Scalar"])";
  // (q, k, v, bias, starts, starts, longest, dropout, lse, mask, scale)
  const OpWork ck = library_work("xformers::efficient_attention_forward_ck", kDims, kTypes,
                                 R"(["","","","","","","","0.","True","1","0.125"])");
  EXPECT_EQ(ck.flops, 2.0 * 2 * 16 * 128 * 128 * 128);
  EXPECT_LT(ck.flops_causal.value_or(0), *ck.flops);
  // Packed, with one greatest length: the number behind it is no length.
  const OpWork packed = library_work(
      "xformers::efficient_attention_forward_cutlass", "[[1,256,16,64],[1,256,16,64],[1,256,16,64],[],[3],[3],[],[],[],[],[]]",
      R"(["c10::Half","c10::Half","c10::Half","","int","int","Scalar","Scalar","Scalar","Scalar","Scalar"])",
      R"(["","","","","","","160","0.","True","1","0.125"])");
  EXPECT_FALSE(packed.flops);
  EXPECT_TRUE(packed.read);
  // (q, k, v, bias, starts, starts, longest, longest, dropout, mask, lse)
  const OpWork newer = library_work(
      "xformers::efficient_attention_forward_cutlass", "[[1,256,16,64],[1,256,16,64],[1,256,16,64],[],[3],[3],[],[],[],[],[]]",
      R"(["c10::Half","c10::Half","c10::Half","","int","int","Scalar","Scalar","Scalar","Scalar","Scalar"])",
      R"(["","","","","","","160","160","0.","1","True"])");
  EXPECT_EQ(newer.flops, 2.0 * 2 * 16 * 160 * 160 * 128);
  // (shared, gradient, q, k, v, out, lse, starts, starts, longest, longest, dropout, scale, causal): five products.
  const OpWork backward =
      library_work("xformers_flash::flash_bwd",
                   "[[],[2,128,16,64],[2,128,16,64],[2,128,16,64],[2,128,16,64],[2,128,16,64],[2,16,128],[],[],[],[],[],[],[]]",
                   R"(["Scalar","c10::Half","c10::Half","c10::Half","c10::Half","c10::Half","float","","","Scalar","Scalar",)"
                   R"("Scalar","Scalar","Scalar"])",
                   R"(["False","","","","","","","","","128","128","0.","0.125","True"])");
  EXPECT_EQ(backward.flops, 2.5 * *ck.flops);
  EXPECT_LT(backward.flops_causal.value_or(0), *backward.flops);
}

TEST(LibraryProducts, CountWhatTheWeightsHold) {
  // Machete: 4 bits, eight to an int32: [K / 8, N].
  constexpr std::string_view kMachete = R"(["c10::BFloat16","int","Scalar","Scalar","c10::BFloat16"])";
  const OpWork machete = library_work("_C::machete_mm", "[[16,4096],[512,11008],[],[],[32,11008]]", kMachete);
  EXPECT_EQ(machete.flops, 2.0 * 16 * 4096 * 11008);
  EXPECT_EQ(machete.read, 16.0 * 4096 * 2 + 512.0 * 11008 * 4 + 32.0 * 11008 * 2);
  EXPECT_EQ(machete.written, 16.0 * 11008 * 2);
  // 8 bits, four to an int32.
  EXPECT_EQ(library_work("_C::machete_mm", "[[16,4096],[1024,11008],[],[],[32,11008]]", kMachete).flops, machete.flops);
  EXPECT_FALSE(library_work("_C::machete_mm", "[[16,4096],[1000,11008],[],[],[32,11008]]", kMachete).flops);
  // 4-bit floats, two to a byte: (a, w, scales, scales, alpha, type).
  const OpWork fp4 = library_work("trtllm::nvfp4_gemm", "[[32,2048],[6144,2048],[131072],[1572864],[1],[]]",
                                  R"(["unsigned char","unsigned char","unsigned char","unsigned char","float","Scalar"])",
                                  R"(["","","","","","15"])");
  EXPECT_EQ(fp4.flops, 2.0 * 32 * 6144 * 4096);
  EXPECT_EQ(fp4.written, 32.0 * 6144 * 2);
  // Grouped by expert: 64 rows meet nearly all of 8 matrices, [E, N, K] or [E, K, N].
  constexpr std::string_view kGroupedTypes =
      R"(["c10::BFloat16","c10::Float8_e4m3fn","c10::Float8_e4m3fn","float","float","int"])";
  const OpWork grouped =
      library_work("_C::cutlass_moe_mm", "[[64,1024],[64,2048],[8,1024,2048],[64,1],[8,1],[8]]", kGroupedTypes);
  EXPECT_EQ(grouped.flops, 2.0 * 64 * 1024 * 2048);
  EXPECT_NEAR(grouped.read.value_or(0), 64.0 * 2048 + 8.0 * 1024 * 2048, 0.01 * 8 * 1024 * 2048);
  EXPECT_EQ(library_work("_C::cutlass_moe_mm", "[[64,1024],[64,2048],[8,2048,1024],[64,1],[8,1],[8]]", kGroupedTypes).flops,
            grouped.flops);
  // Every op of these multiplies matrices.
  EXPECT_TRUE(is_matrix_work(*find_op("trtllm::nvfp4_gemm")));
  EXPECT_TRUE(is_matrix_work(*find_op("batch_mla_attention_dtype_q_bf16::run")));
}

// 64 tokens, 4 of 16 experts each.
TEST(LibraryProducts, OfChosenExpertsHaveARowForEachChoice) {
  const OpWork plain = library_work("_moe_C::moe_wna16_gemm", "[[64,2048],[64,4,1024],[16,1024,1024],[16,1024,16]]",
                                    R"(["c10::BFloat16","c10::BFloat16","unsigned char","c10::BFloat16"])");
  EXPECT_EQ(plain.flops, 2.0 * 64 * 4 * 1024 * 2048);
  EXPECT_EQ(plain.written, 64.0 * 4 * 1024 * 2);
  const auto marlin = [](std::string_view columns) {
    return library_work("_moe_C::moe_wna16_marlin_gemm",
                        "[[64,2048],[],[16,128,2048],[],[16,16,1024],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[]]",
                        R"(["c10::BFloat16","","int","","c10::BFloat16"])",
                        R"(["","","","","","","","","","","","","","","","16","4","False","99","64",")" + std::string(columns) +
                            R"(","2048"])");
  };
  EXPECT_EQ(marlin("1024").flops, plain.flops);
  EXPECT_EQ(marlin("1024").written, plain.written);
  EXPECT_FALSE(marlin("640").flops);  // the weights hold something else
}

// Columns first, as cuBLAS has it: A is the weight [N, K] of a forward product, and bytes are 8-bit floats.
TEST(LibraryProducts, OfTransformerEngineSayWhatIsTransposed) {
  const auto gemm = [](std::string_view a, std::string_view b, std::string_view d, std::string_view type,
                       std::string_view trans_a, std::string_view trans_b) {
    const std::string t(type);
    return library_work("tex_ts::te_gemm_ts",
                        "[" + std::string(a) + ",[3],[],[],[]," + std::string(b) + ",[3],[],[],[]," + std::string(d) +
                            ",[0],[],[0],[0],[],[0],[],[33554432],[],[],[]]",
                        "[\"" + t + "\",\"float\",\"\",\"\",\"\",\"" + t +
                            "\",\"float\",\"\",\"\",\"\",\"c10::BFloat16\",\"float\",\"\",\"float\",\"c10::BFloat16\"]",
                        R"(["","","0","6",")" + std::string(trans_a) + R"(","","","0","6",")" + std::string(trans_b) +
                            R"(","","","5","","","5","","0","","33554432","0","0"])");
  };
  const OpWork forward = gemm("[6144,4096]", "[512,4096]", "[512,6144]", "unsigned char", "1", "0");
  EXPECT_EQ(forward.flops, 2.0 * 512 * 6144 * 4096);
  EXPECT_EQ(forward.read, 6144.0 * 4096 + 512.0 * 4096);
  EXPECT_EQ(forward.written, 512.0 * 6144 * 2);
  EXPECT_EQ(forward.dtype, DType::f8);
  // The gradient of x: weight [N, K], gradient [M, N]; the gradient of the weight: x [M, K], gradient [M, N].
  EXPECT_EQ(gemm("[6144,4096]", "[512,6144]", "[512,4096]", "c10::BFloat16", "0", "0").flops, forward.flops);
  EXPECT_EQ(gemm("[512,4096]", "[512,6144]", "[6144,4096]", "c10::BFloat16", "0", "1").flops, forward.flops);
}

TEST(LibraryExperts, OfTensorRtLlmAreSharedByDevices) {
  const auto fused = [](std::string_view devices, std::string_view scattered) {
    return library_work(
        "trtllm::fused_moe",
        "[[256,3072],[256,4],[256,4],[16,1024,3072],[],[16,3072,512],[],[],[],[],[],[],[],[],[],[],[],[],[],[],[]]",
        R"(["c10::BFloat16","int","float","c10::BFloat16","","c10::BFloat16"])",
        R"(["","","","","","","","15","","","True","","","","1","0",")" + std::string(devices) + R"(","0","1","0",")" +
            std::string(scattered) + R"("])");
  };
  EXPECT_EQ(fused("1", "False").flops, 2.0 * 256 * 4 * 3072 * (1024 + 512));
  EXPECT_EQ(fused("8", "False").flops, 2.0 * 256 * 4 / 8 * 3072 * (1024 + 512));
  EXPECT_FALSE(fused("8", "True").flops);
  EXPECT_FALSE(fused("", "False").flops);
  // 4-bit tokens and weights, two to a byte, an eighth of 128 experts: (logits, bias, x, scale, w, scale, w, scale, three
  // scales, experts, k, group, groups, width, first, here).
  const OpWork fp4 =
      library_work("trtllm::fp4_block_scale_moe_runner",
                   "[[256,128],[],[256,1536],[256,192],[16,1024,1536],[16,1024,192],[16,3072,256],[16,3072,32],"
                   "[16],[16],[16],[],[],[],[],[],[],[]]",
                   R"(["float","","unsigned char","unsigned char","unsigned char","unsigned char","unsigned char",)"
                   R"("unsigned char","float","float","float"])",
                   R"(["","","","","","","","","","","","128","4","1","1","512","0","16"])");
  EXPECT_EQ(fp4.flops, 2.0 * 256 * 4 / 8 * 3072 * (1024 + 512));
  EXPECT_EQ(fp4.written, 256.0 * 3072 * 2);
}

TEST(LibraryTransfers, FusionsMoveWhatTheyAreGiven) {
  constexpr double kRows = 64.0 * 4096 * 2;
  // A sum over ranks alone, and with the residual added and the norm applied.
  const OpWork sum =
      library_work("trtllm::allreduce", "[[64,4096],[],[],[],[],[10]]", R"(["c10::BFloat16","","","","","long int"])");
  EXPECT_EQ(sum.read, kRows);
  EXPECT_EQ(sum.written, kRows);
  const OpWork fused = library_work("trtllm::allreduce", "[[64,4096],[64,4096],[4096],[],[],[10]]",
                                    R"(["c10::BFloat16","c10::BFloat16","c10::BFloat16","","","long int"])");
  EXPECT_EQ(fused.read, 2 * kRows + 4096 * 2);
  EXPECT_EQ(fused.written, 2 * kRows);
  EXPECT_TRUE(fused.ambiguous);
  // Half of x gates the other half.
  EXPECT_EQ(library_work("trtllm::flashinfer_silu_and_mul", "[[64,8192]]", R"(["c10::BFloat16"])").written, kRows);
  // Norms with a cast behind them: a byte for each value.
  EXPECT_EQ(
      library_work("tex_ts::rmsnorm_fwd_fp8_inf_ts", "[[64,4096],[4096]]", R"(["c10::BFloat16","c10::BFloat16"])").written,
      64.0 * 4096);
  EXPECT_EQ(library_work("trtllm::fp4_quantize", "[[64,4096],[1]]", R"(["c10::BFloat16","float"])").written, 64.0 * 4096 / 2);
}

}  // namespace
}  // namespace ridge
