// Ops of the libraries that serve models: FLOPs and bytes against numbers computed by hand, with arguments as real traces of
// vLLM and SGLang have them.
#include <string>

#include <gtest/gtest.h>

#include "ops/op_work.h"

namespace ridge {
namespace {

OpWork serving_work(std::string_view op, std::string_view dims, std::string_view types, std::string_view values = "",
                    Part part = {}) {
  const OpFormula* row = find_op(op);
  EXPECT_NE(row, nullptr) << op;
  return row == nullptr ? OpWork() : row->work(parse_op_call(op, dims, types, "", values), part);
}

TEST(ServingTransfers, NormsReadAndWriteEachTensorOnce) {
  constexpr double kRows = 888.0 * 2880 * 2, kWeight = 2880 * 2;
  const OpWork norm = serving_work("_C::rms_norm", "[[888,2880],[888,2880],[2880],[]]",
                                   R"(["c10::BFloat16","c10::BFloat16","c10::BFloat16","Scalar"])");
  EXPECT_EQ(norm.flops, 0);
  EXPECT_EQ(norm.read, kRows + kWeight);
  EXPECT_EQ(norm.written, kRows);
  // In place: the sum goes to the residual, the norm to the input.
  const OpWork added = serving_work("_C::fused_add_rms_norm", "[[888,2880],[888,2880],[2880],[]]",
                                    R"(["c10::BFloat16","c10::BFloat16","c10::BFloat16","Scalar"])");
  EXPECT_EQ(added.read, 2 * kRows + kWeight);
  EXPECT_EQ(added.written, 2 * kRows);
  const OpWork aiter =
      serving_work("aiter::add_rmsnorm", "[[32,4096],[32,4096],[32,4096],[32,4096],[4096],[]]",
                   R"(["c10::BFloat16","c10::BFloat16","c10::BFloat16","c10::BFloat16","c10::BFloat16","Scalar"])");
  EXPECT_EQ(aiter.read, 2.0 * 32 * 4096 * 2 + 4096 * 2);
  EXPECT_EQ(aiter.written, 2.0 * 32 * 4096 * 2);
  // The result is new: like the first argument.
  const OpWork fresh =
      serving_work("aiter::rms_norm", "[[32,2880],[2880],[],[]]", R"(["c10::BFloat16","c10::BFloat16","Scalar","Scalar"])");
  EXPECT_EQ(fresh.written, 32.0 * 2880 * 2);
  // A byte for each value, and scales that are not counted.
  const OpWork quantised = serving_work("vllm::rocm_aiter_rmsnorm_fused_dynamic_quant", "[[32,2880],[2880],[],[]]",
                                        R"(["c10::BFloat16","c10::BFloat16","Scalar",""])");
  EXPECT_EQ(quantised.written, 32.0 * 2880);
  EXPECT_TRUE(quantised.ambiguous);
}

TEST(ServingTransfers, ActivationsQuantisationAndRotary) {
  const OpWork silu =
      serving_work("sgl_kernel::silu_and_mul", "[[32,12288],[32,24576]]", R"(["c10::BFloat16","c10::BFloat16"])");
  EXPECT_EQ(silu.read, 32.0 * 24576 * 2);
  EXPECT_EQ(silu.written, 32.0 * 12288 * 2);
  const OpWork fp8 = serving_work("_C::static_scaled_fp8_quant", "[[888,512],[888,512],[1]]",
                                  R"(["c10::Float8_e4m3fn","c10::BFloat16","float"])");
  EXPECT_EQ(fp8.read, 888.0 * 512 * 2 + 4);
  EXPECT_EQ(fp8.written, 888.0 * 512);
  // Positions, q and k in place, and of the table of 131072 rows one for each position.
  const OpWork rotary = serving_work("_C::rotary_embedding", "[[888],[888,512],[888,64],[],[131072,64],[]]",
                                     R"(["long int","c10::BFloat16","c10::BFloat16","Scalar","c10::BFloat16","Scalar"])");
  EXPECT_DOUBLE_EQ(rotary.read.value_or(0), 888.0 * 8 + 888 * 576 * 2 + 888 * 64 * 2);
  EXPECT_EQ(rotary.written, 888.0 * 576 * 2);
}

TEST(ServingTransfers, StoresTouchTheRowsTheyStore) {
  // Two caches of 4 GB each, of which 888 rows are written, in the caches' own type.
  constexpr std::string_view kTypes =
      R"(["c10::BFloat16","c10::BFloat16","unsigned char","unsigned char","long int","","float","float"])";
  const OpWork store = serving_work("_C_cache_ops::reshape_and_cache_flash",
                                    "[[888,1,64],[888,1,64],[4213816,16,1,64],[4213816,16,1,64],[888],[],[],[]]", kTypes);
  EXPECT_EQ(store.read, 2.0 * 888 * 64 * 2 + 888 * 8);
  EXPECT_EQ(store.written, 2.0 * 888 * 64);
  // A padded batch: 600 slots for 888 rows.
  const OpWork padded = serving_work("_C_cache_ops::reshape_and_cache_flash",
                                     "[[888,1,64],[888,1,64],[4213816,16,1,64],[4213816,16,1,64],[600],[],[],[]]", kTypes);
  EXPECT_DOUBLE_EQ(padded.written.value_or(0), 2.0 * 600 * 64);
  // Both go into one cache.
  const OpWork latent = serving_work("_C_cache_ops::concat_and_cache_mla", "[[64,512],[64,64],[1000,64,576],[64],[],[]]",
                                     R"(["c10::BFloat16","c10::BFloat16","c10::BFloat16","long int","","float"])");
  EXPECT_EQ(latent.written, 64.0 * 576 * 2);
}

// Four bits a value: into tensors that are given, before x once and behind it today, or into new ones.
TEST(ServingTransfers, AnOpWhoseArgumentsMovedIsReadEitherWay) {
  const OpWork once = serving_work("_C::scaled_fp4_quant", "[[32,2048],[32,4096],[128,64],[1],[]]",
                                   R"(["unsigned char","c10::BFloat16","int","float","Scalar"])");
  const OpWork given = serving_work("_C::scaled_fp4_quant", "[[32,4096],[1],[],[32,2048],[128,64]]",
                                    R"(["c10::BFloat16","float","Scalar","unsigned char","int"])");
  const OpWork fresh = serving_work("_C::scaled_fp4_quant", "[[32,4096],[1],[]]", R"(["c10::BFloat16","float","Scalar"])");
  for (const OpWork& work : {once, given}) {
    EXPECT_EQ(work.read, 32.0 * 4096 * 2 + 4);
    EXPECT_EQ(work.written, 32.0 * 2048 + 128.0 * 64 * 4);
    EXPECT_FALSE(work.ambiguous);
  }
  EXPECT_EQ(fresh.read, once.read);
  EXPECT_EQ(fresh.written, 32.0 * 2048);
  EXPECT_TRUE(fresh.ambiguous);
}

TEST(ServingTransfers, WhatLiesBesideIsNotTouched) {
  // A row of a table of 131072 for each of 32 positions.
  const OpWork rope = serving_work(
      "_C::fused_qk_norm_rope", "[[32,6144],[],[],[],[],[],[128],[128],[131072,128],[],[32]]",
      R"(["c10::BFloat16","Scalar","Scalar","Scalar","Scalar","Scalar","c10::BFloat16","c10::BFloat16","c10::BFloat16","Scalar",)"
      R"("long int"])");
  EXPECT_DOUBLE_EQ(rope.read.value_or(0), 32.0 * 6144 * 2 + 2 * 128 * 2 + 32.0 * 128 * 2 + 32 * 8);
  EXPECT_EQ(rope.written, 32.0 * 6144 * 2);
  // Eight rows of experts for each of 32 tokens, weighed and added up.
  const OpWork sum = serving_work("_moe_C::moe_unpermute", "[[256,4096],[32,8],[32,8],[129],[],[32,4096]]",
                                  R"(["c10::BFloat16","float","int","long int","Scalar","c10::BFloat16"])");
  EXPECT_EQ(sum.read, 256.0 * 4096 * 2 + 32.0 * 8 * 8 + 129 * 8);
  EXPECT_EQ(sum.written, 32.0 * 4096 * 2);
}

TEST(ServingTransfers, UnknownTypesAreNotGuessed) {
  const OpWork odd = serving_work("_C::rms_norm", "[[888,2880],[888,2880],[2880],[]]", R"(["Odd","Odd","Odd","Scalar"])");
  EXPECT_FALSE(odd.read);
  EXPECT_FALSE(odd.written);
}

// Rows of experts behind lists of pointers, and the same without: the result has the columns, a the depth.
TEST(QuantisedProducts, OfExpertsWhereverTheirTensorsStand) {
  const OpWork pointers = serving_work(
      "sgl_kernel::fp8_blockwise_scaled_grouped_mm",
      "[[512,4096],[8],[8],[8],[8],[8],[512,7168],[8,7168,4096],[512,56],[8,56,32]]",
      R"(["c10::BFloat16","long int","long int","long int","long int","long int","c10::Float8_e4m3fn","c10::Float8_e4m3fn",)"
      R"("float","float"])");
  const OpWork plain =
      serving_work("sgl_kernel::es_fp8_blockwise_scaled_grouped_mm", "[[512,4096],[512,7168],[8,7168,4096],[512,56],[8,56,32]]",
                   R"(["c10::BFloat16","c10::Float8_e4m3fn","c10::Float8_e4m3fn","float","float"])");
  for (const OpWork& work : {pointers, plain}) {
    EXPECT_EQ(work.flops, 2.0 * 512 * 4096 * 7168);
    EXPECT_EQ(work.written, 512.0 * 4096 * 2);
    EXPECT_NEAR(work.read.value_or(0), 512.0 * 7168 + 8.0 * 7168 * 4096 + 512.0 * 56 * 4 + 8.0 * 56 * 32 * 4, 1e4);
  }
}

// (A, B [K, N], type, scale of A, scale of B, bias)
TEST(QuantisedProducts, WithTheTypeBeforeTheScales) {
  const OpWork work = serving_work("vllm::rocm_per_tensor_float_w8a8_scaled_mm_impl", "[[32,4096],[4096,6144],[],[1],[1],[]]",
                                   R"(["c10::Float8_e4m3fnuz","c10::Float8_e4m3fnuz","Scalar","float","float",""])",
                                   R"(["","","15","","",""])");
  EXPECT_EQ(work.flops, 2.0 * 32 * 4096 * 6144);
  EXPECT_EQ(work.read, 32.0 * 4096 + 4096.0 * 6144 + 8);
  EXPECT_EQ(work.written, 32.0 * 6144 * 2);
}

TEST(QuantisedProducts, CountWhatTheWeightsHold) {
  // 8 bits: [M, K] x [K, N] into a result that is given.
  const OpWork fp8 = serving_work("_C::cutlass_scaled_mm", "[[32,6144],[32,4096],[4096,6144],[32,1],[1,6144],[]]",
                                  R"(["c10::BFloat16","c10::Float8_e4m3fn","c10::Float8_e4m3fn","float","float",""])");
  EXPECT_EQ(fp8.flops, 2.0 * 32 * 6144 * 4096);
  EXPECT_EQ(fp8.read, 32.0 * 4096 + 4096.0 * 6144 + (32 + 6144) * 4);
  EXPECT_EQ(fp8.written, 32.0 * 6144 * 2);
  EXPECT_EQ(fp8.dtype, DType::f8);
  // 4 bits, two to a byte, both by rows; a scale for each 16.
  const OpWork fp4 =
      serving_work("_C::cutlass_scaled_fp4_mm", "[[32,6144],[32,2048],[6144,2048],[128,256],[6144,256],[]]",
                   R"(["c10::BFloat16","unsigned char","unsigned char","c10::Float8_e4m3fn","c10::Float8_e4m3fn","float"])");
  EXPECT_EQ(fp4.flops, 2.0 * 32 * 6144 * 4096);
  EXPECT_EQ(fp4.read, 32.0 * 2048 + 6144.0 * 2048 + 128 * 256 + 6144 * 256);
  // 4 bits, eight to an int32, as AWQ lays them; and in tiles, as PyTorch's own.
  const OpWork awq = serving_work("_C::awq_gemm", "[[16,4096],[4096,1376],[32,11008],[32,1376],[]]",
                                  R"(["c10::Half","int","c10::Half","int","Scalar"])");
  EXPECT_EQ(awq.flops, 2.0 * 16 * 4096 * 11008);
  const OpWork tiles = serving_work("aten::_weight_int4pack_mm", "[[16,4096],[768,32,32,4],[],[32,6144,2]]",
                                    R"(["c10::BFloat16","int","Scalar","c10::BFloat16"])", R"(["","","128",""])");
  EXPECT_EQ(tiles.flops, 2.0 * 16 * 4096 * 6144);
  EXPECT_EQ(tiles.written, 16.0 * 6144 * 2);
  // How many bits a weight has is an argument.
  constexpr std::string_view kGptq = R"(["c10::Half","int","int","c10::Half","int","Scalar","Scalar","Scalar"])";
  EXPECT_EQ(serving_work("_C::gptq_gemm", "[[16,4096],[512,11008],[32,1376],[32,11008],[4096],[],[],[]]", kGptq,
                         R"(["","","","","","True","False","4"])")
                .flops,
            2.0 * 16 * 4096 * 11008);
  EXPECT_FALSE(serving_work("_C::gptq_gemm", "[[16,4096],[512,11008],[32,1376],[32,11008],[4096],[],[],[]]", kGptq).flops);
  // All rows of x, and weights by rows.
  EXPECT_EQ(serving_work("vllm::rocm_unquantized_gemm", "[[4,8,2880],[5120,2880],[5120]]",
                         R"(["c10::BFloat16","c10::BFloat16","c10::BFloat16"])")
                .flops,
            2.0 * 32 * 2880 * 5120);
  // The weights stand first.
  EXPECT_EQ(
      serving_work("_rocm_C::wvSplitK", "[[5120,2880],[4,2880],[],[]]", R"(["c10::BFloat16","c10::BFloat16","","Scalar"])")
          .flops,
      2.0 * 4 * 2880 * 5120);
}

constexpr std::string_view kVllmDims = "[[32,64,64],[32,8,64],[32,8,64],[32,64,64],[],[],[],[0]]";
constexpr std::string_view kVllmTypes =
    R"(["c10::BFloat16","c10::BFloat16","c10::BFloat16","c10::BFloat16","","","","c10::BFloat16"])";

// "execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk55086sqsq32sqsk55086)"
constexpr ServerTokens kDecode{
    .context = {}, .generation = {.requests = 32, .queries = 32, .keys = 55086, .pairs = 55086, .squares = 32}, .known = true};

TEST(PagedAttention, TakesTheKeysFromTheServersMark) {
  const OpWork decode =
      serving_work("vllm::unified_attention_with_output", kVllmDims, kVllmTypes, "", {.of = AttentionPart{.tokens = kDecode}});
  EXPECT_EQ(decode.flops, 2.0 * 64 * (64 + 64) * 55086);
  EXPECT_EQ(decode.flops_causal, decode.flops);  // a token meets all that were before it
  EXPECT_EQ(decode.read, 32.0 * 64 * 64 * 2 + 55086.0 * 8 * 128 * 2);
  EXPECT_EQ(decode.written, 32.0 * 64 * 64 * 2);
  EXPECT_TRUE(decode.ambiguous);
  // A prefill of two requests, of 100 and 50 new tokens behind 0 and 200 that the cache has.
  const ServerTokens prefill{
      .context = {.requests = 2, .queries = 150, .keys = 350, .pairs = 100 * 100 + 50 * 250, .squares = 100 * 100 + 50 * 50},
      .generation = {},
      .known = true};
  const OpWork read = serving_work("vllm::unified_attention_with_output", "[[150,64,64],[150,8,64],[150,8,64],[150,64,64]]",
                                   kVllmTypes, "", {.of = AttentionPart{.tokens = prefill}});
  EXPECT_EQ(read.flops, 2.0 * 64 * 128 * (100 * 100 + 50 * 250));
  EXPECT_EQ(read.flops_causal, 2.0 * 64 * 128 * (100 * 101 / 2 + 50 * 200 + 50 * 51 / 2));
}

TEST(PagedAttention, ClaimsNothingWithoutThem) {
  const OpWork unmarked = serving_work("vllm::unified_attention_with_output", kVllmDims, kVllmTypes);
  EXPECT_FALSE(unmarked.flops);
  EXPECT_FALSE(unmarked.read);
  // Nor where only the last keys count, and how many is not told.
  EXPECT_FALSE(serving_work("vllm::unified_attention_with_output", kVllmDims, kVllmTypes, "",
                            {.of = AttentionPart{.tokens = kDecode, .window = true}})
                   .flops);
  // A mark that tells the number of tokens that are made, but not how many they meet.
  ServerTokens short_mark = kDecode;
  short_mark.generation.keys = short_mark.generation.pairs = short_mark.generation.squares = -1;
  EXPECT_FALSE(serving_work("vllm::unified_attention_with_output", kVllmDims, kVllmTypes, "",
                            {.of = AttentionPart{.tokens = short_mark}})
                   .flops);
}

TEST(PagedAttention, CountsEverySequenceAsTheLongestWhereThatIsTold) {
  const OpWork longest =
      serving_work("_rocm_C::paged_attention",
                   "[[32,32,128],[],[],[],[32,32,128],[1000,8,16,16,8],[1000,8,128,16],[],[],[32,64],[32],[],[],[]]",
                   R"(["c10::BFloat16","","","","c10::BFloat16","c10::BFloat16","c10::BFloat16","Scalar","Scalar",)"
                   R"("int","int","","Scalar","Scalar"])",
                   R"(["","","","","","","","8","0.1","","","","16","900"])");
  EXPECT_EQ(longest.flops, 2.0 * 32 * 256 * 32 * 900);
  EXPECT_EQ(longest.read, 32.0 * 32 * 128 * 2 + 32.0 * 900 * 8 * 256 * 2);
  EXPECT_TRUE(longest.ambiguous);
}

TEST(PagedAttention, KnowsSglangsNumberedNames) {
  const OpWork ragged =
      serving_work("sglang_profiler::attention_paged_attention_ragged_100",
                   "[[32,32,128],[1000],[32,32,128],[835874,1,8,128],[835874,1,8,128],[33],[20971520]]",
                   R"(["c10::BFloat16","unsigned char","c10::BFloat16","c10::BFloat16","c10::BFloat16","int","int"])", "",
                   {.of = AttentionPart{.tokens = kDecode}});
  EXPECT_EQ(ragged.flops, 2.0 * 32 * 256 * 55086);
  EXPECT_EQ(ragged.read, 32.0 * 32 * 128 * 2 + 55086.0 * 8 * 256 * 2);
}

// Latents of 576 values of which 512 are the value too, 128 heads that share them; 64 requests.
TEST(PagedAttention, OfLatentsIsToldItsDepth) {
  const ServerTokens tokens{.context = {},
                            .generation = {.requests = 64, .queries = 64, .keys = 131072, .pairs = 131072, .squares = 64},
                            .known = true};
  constexpr double kFlops = 2.0 * 128 * (576 + 512) * 131072, kQueries = 64.0 * 128 * 576 * 2;
  struct LatentCall {
    std::string_view op, dims, types, values;
  };
  const LatentCall calls[] = {
      {"sgl_kernel::fwd_kvcache_mla", "[[64,1,128,576],[4096,64,1,576],[],[64],[64,40],[],[],[132,8],[65],[],[]]",
       R"(["c10::BFloat16","c10::BFloat16","Scalar","int","int","Scalar","Scalar","int","int","Scalar",""])",
       R"(["","","512","","","0.1","True","","","False",""])"},
      {"_flashmla_C::fwd_kvcache_mla", "[[64,1,128,576],[4096,64,1,576],[],[],[64],[64,40],[],[],[132,8],[65]]",
       R"(["c10::BFloat16","c10::BFloat16","","Scalar","int","int","Scalar","Scalar","int","int"])",
       R"(["","","","512","","","0.1","True","",""])"},
      {"sgl_kernel::cutlass_mla_decode", "[[64,128,512],[64,128,512],[64,128,64],[4096,64,576],[64],[64,40],[1],[],[]]",
       R"(["c10::BFloat16","c10::BFloat16","c10::BFloat16","c10::BFloat16","int","int","unsigned char","Scalar","Scalar"])",
       R"(["","","","","","","","0.1","1"])"},
  };
  for (const LatentCall& call : calls) {
    const OpWork work = serving_work(call.op, call.dims, call.types, call.values, {.of = AttentionPart{.tokens = tokens}});
    EXPECT_EQ(work.flops, kFlops) << call.op;
    EXPECT_EQ(work.read, kQueries + 131072.0 * 576 * 2) << call.op;
    EXPECT_EQ(work.written, 64.0 * 128 * 512 * 2) << call.op;
  }
}

// Sparse: 2048 keys of each query, out of a cache whose latents lie with their scales, 656 bytes each. No mark is needed.
TEST(PagedAttention, SparseMeetsThePickedKeys) {
  const OpWork work = serving_work(
      "sgl_kernel::fwd_kvcache_mla", "[[64,1,128,576],[4096,64,1,656],[],[64],[64,40],[],[],[132,8],[65],[],[64,1,2048]]",
      R"(["c10::BFloat16","unsigned char","Scalar","int","int","Scalar","Scalar","int","int","Scalar","int"])",
      R"(["","","512","","","0.1","False","","","True",""])");
  EXPECT_EQ(work.flops, 2.0 * 128 * (576 + 512) * 64 * 2048);
  EXPECT_EQ(work.read, 64.0 * 128 * 576 * 2 + 64.0 * 2048 * 656);
  EXPECT_TRUE(work.ambiguous);
}

TEST(PagedAttention, AWindowOfTheCallLimitsTheKeys) {
  const std::string dims =
      "[[32,64,64],[1000,16,8,64],[1000,16,8,64],[],[],[],[32,64,64],[33],[],[],[],[32],[],[],[32,64],[],[],[],[],[],[],[],[],["
      "],[],"
      "[],[]]";
  const std::string types =
      R"(["c10::BFloat16","c10::BFloat16","c10::BFloat16","","","","c10::BFloat16","int","","","","int","Scalar","Scalar","int"])";
  const auto values = [](std::string_view window) {
    std::string all = R"(["","","","","","","","","","","","","1","2000","","","","","","","","","","0.1","True",")";
    return all + std::string(window) + R"(","0"])";
  };
  const OpWork all = serving_work("sgl_kernel::fwd", dims, types, values("-1"), {.of = AttentionPart{.tokens = kDecode}});
  EXPECT_EQ(all.flops, 2.0 * 64 * 128 * 55086);
  const OpWork last = serving_work("sgl_kernel::fwd", dims, types, values("127"), {.of = AttentionPart{.tokens = kDecode}});
  EXPECT_EQ(last.flops, 2.0 * 64 * 128 * 32 * 128);
  // Without a mark: the longest, which the call is told.
  EXPECT_EQ(serving_work("sgl_kernel::fwd", dims, types, values("-1")).flops, 2.0 * 64 * 128 * 32 * 2000);
}

// Packed sequences of other libraries, each counted as the longest.
TEST(PagedAttention, PackedSequencesCountAsTheLongest) {
  constexpr std::string_view kTypes =
      R"(["c10::BFloat16","c10::BFloat16","c10::BFloat16","int","int","Scalar","Scalar","Scalar","Scalar","Scalar","Scalar","Scalar","Scalar"])";
  const OpWork aiter =
      serving_work("aiter::mha_varlen_fwd", "[[300,16,128],[300,4,128],[300,4,128],[4],[4],[],[],[],[],[],[],[],[]]", kTypes,
                   R"(["","","","","","120","120","0","0.","0.1","0.","False","True"])");
  EXPECT_EQ(aiter.flops, 2.0 * 3 * 16 * 120 * 120 * 256);
  // xFormers has one more tensor between the lengths and the greatest ones.
  const OpWork xformers = serving_work(
      "xformers_flash::flash_fwd", "[[300,16,128],[300,4,128],[300,4,128],[4],[4],[],[],[],[],[],[]]",
      R"(["c10::BFloat16","c10::BFloat16","c10::BFloat16","int","int","","Scalar","Scalar","Scalar","Scalar","Scalar"])",
      R"(["","","","","","","120","120","0.","0.1","True"])");
  EXPECT_EQ(xformers.flops, aiter.flops);
  EXPECT_LT(xformers.flops_causal.value_or(0), *xformers.flops);
}

TEST(Experts, MultiplyEveryTokenWithThoseItChose) {
  // 888 tokens, 4 of 128 experts each, gated: [E, 2 x 512, 3072] and [E, 3072, 512]; practically all experts are met.
  const OpWork fused = serving_work("vllm::fused_experts", "[[888,3072],[128,1024,3072],[128,3072,512],[888,4],[888,4]]",
                                    R"(["c10::BFloat16","c10::BFloat16","c10::BFloat16","float","int"])");
  EXPECT_EQ(fused.flops, 2.0 * 888 * 4 * 3072 * (1024 + 512));
  EXPECT_NEAR(fused.read.value_or(0), 888.0 * 3072 * 2 + 128.0 * 3072 * 1536 * 2, 1e4);
  EXPECT_TRUE(fused.ambiguous);
  // One token meets 4 of them.
  const OpWork one = serving_work("vllm::fused_experts", "[[1,3072],[128,1024,3072],[128,3072,512],[1,4],[1,4]]",
                                  R"(["c10::BFloat16","c10::BFloat16","c10::BFloat16","float","int"])");
  EXPECT_DOUBLE_EQ(one.read.value_or(0), 3072.0 * 2 + 4.0 * 3072 * 1536 * 2);
  // Weights of 4 bits, two to a byte.
  EXPECT_EQ(serving_work("vllm::fused_experts", "[[888,3072],[128,1024,1536],[128,3072,256],[888,4],[888,4]]",
                         R"(["c10::BFloat16","unsigned char","unsigned char","float","int"])")
                .flops,
            fused.flops);
}

TEST(Experts, AreNotGuessedWhereWidthsAreNotTold) {
  constexpr std::string_view kDims = "[[888,3072],[888,128],[]]", kTypes = R"(["c10::BFloat16","c10::BFloat16",""])";
  EXPECT_FALSE(serving_work("vllm::moe_forward", kDims, kTypes).flops);
  // Widths from the buffers of the call, the types from the kernels' names.
  const ExpertsPart told{.top_k = 4, .inner = 512, .gated = true, .weight_item = 0.53125, .in_item = 1.03125, .out_item = 2};
  const OpWork up = serving_work("vllm::moe_forward", kDims, kTypes, "", {.role = KernelRole::up, .of = told});
  EXPECT_EQ(up.flops, 2.0 * 888 * 4 * 3072 * 1024);
  EXPECT_EQ(up.dtype, DType::f8);
  EXPECT_NEAR(up.read.value_or(0), 888.0 * 3072 * 1.03125 + 128.0 * 3072 * 1024 * 0.53125, 1e4);
  const OpWork down = serving_work("vllm::moe_forward", kDims, kTypes, "", {.role = KernelRole::down, .of = told});
  EXPECT_EQ(down.flops, 2.0 * 888 * 4 * 3072 * 512);
  EXPECT_EQ(down.written, 888.0 * 4 * 3072 * 2);
}

}  // namespace
}  // namespace ridge
