// Costs of a server's launches: what its marks and the buffers of its calls tell that arguments do not.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include <simdjson.h>

#include "cost/cost_model.h"
#include "model/capture_loan.h"
#include "support/files.h"
#include "support/loaded_trace.h"

namespace ridge {
namespace {

using test::event;
using test::join;
using test::launch;
using test::load_events;
using test::load_file;
using test::path_of;

std::string args(std::string_view dims, std::string_view types, std::string_view values) {
  return "\"Input Dims\": " + std::string(dims) + ", \"Input type\": " + std::string(types) +
         ", \"Concrete Inputs\": " + std::string(values);
}
std::string empty_of(int ts, std::string_view sizes, std::string_view type) {
  return event({.name = "aten::empty",
                .ts = ts,
                .dur = 1,
                .args = args("[[],[]]", R"(["ScalarList","Scalar"])",
                             "[\"" + std::string(sizes) + "\",\"" + std::string(type) + "\"]")});
}

constexpr std::string_view kUp = "bmm_MxE4m3_MxE2m1MxE4m3_Fp32_t128x16x256u2_s3_transOut_clmp_swiGlu_dynBatch_sm100f";
constexpr std::string_view kDown = "bmm_Bfloat16_MxE2m1MxE4m3_Fp32_t128x16x256u2_s3_transOut_clmp_dynBatch_sm100f";

// vLLM's mixture of experts as it ran on a B200: the buffers tell 4 experts a token and 512 values between the products.
std::string experts(bool with_buffers) {
  std::string all =
      event({.name = "vllm::moe_forward",
             .ts = 100,
             .dur = 100,
             .args = args("[[888,3072],[888,128],[]]", R"(["c10::BFloat16","c10::BFloat16",""])", R"(["","",""])")});
  if (with_buffers) {
    all += ", " + join({empty_of(105, "[888, 4]", "3"), empty_of(107, "[888, 3072]", "15"), empty_of(109, "[5472, 512]", "0"),
                        empty_of(111, "[88064]", "0"), empty_of(113, "[5472, 3072]", "15")});
  }
  return all + ", " +
         join({launch(1, 120, 2, "void moe::dev::routing::routingIndicesOffsetsKernel<int>(int)", 220, 5),
               launch(2, 130, 2, kUp, 230, 100), launch(3, 140, 2, kDown, 340, 60),
               launch(4, 150, 2, "void moe::dev::finalize::finalizeKernelVecLoad<int>(int)", 410, 7)});
}

TEST(ServingCosts, WidthsOfExpertsComeFromTheBuffersOfTheCall) {
  const auto loaded = load_events(experts(true));
  const CostModel costs(*loaded.model, {});
  EXPECT_EQ(costs[0].flops, 0);
  EXPECT_EQ(costs[1].flops, 2.0 * 888 * 4 * 3072 * 1024);
  EXPECT_EQ(costs[2].flops, 2.0 * 888 * 4 * 3072 * 512);
  EXPECT_EQ(costs[1].dtype, DType::f8);
  EXPECT_EQ(costs[1].estimate, Estimate::ambiguous);
  EXPECT_EQ(costs[2].bytes_written, 888.0 * 4 * 3072 * 2);
  EXPECT_EQ(costs[3].bytes_read, 888.0 * 4 * 3072 * 2);
  EXPECT_EQ(costs[3].bytes_written, 888.0 * 3072 * 2);
}

TEST(ServingCosts, ExpertsOfUnknownWidthCostUnknown) {
  const auto loaded = load_events(experts(false));
  const CostModel costs(*loaded.model, {});
  EXPECT_FALSE(costs[1].flops);
  EXPECT_FALSE(costs[1].bytes_read);
  EXPECT_EQ(costs[1].estimate, Estimate::none);
}

std::string attention(std::string_view mark, std::string_view kernel) {
  return join({event({.name = mark, .ts = 90, .dur = 100, .cat = "user_annotation"}),
               event({.name = "vllm::unified_attention_with_output",
                      .ts = 100,
                      .dur = 50,
                      .args = args("[[32,64,64],[32,8,64],[32,8,64],[32,64,64],[],[],[]]",
                                   R"(["c10::BFloat16","c10::BFloat16","c10::BFloat16","c10::BFloat16","","",""])",
                                   R"(["","","","","","",""])")}),
               launch(1, 110, 2, kernel, 220, 40)});
}

TEST(ServingCosts, KeysOfPagesComeFromTheServersMark) {
  constexpr std::string_view kMark = "execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk55086sqsq32sqsk55086)";
  const auto loaded = load_events(attention(kMark, "kernel_unified_attention_3d"));
  EXPECT_EQ(CostModel(*loaded.model, {})[0].flops, 2.0 * 64 * 128 * 55086);
  // Without its keys, with a kernel that may look at the last ones only, or with one that is none of attention's.
  const auto short_mark = load_events(attention("execute_context_0(0)_generation_32(32)", "kernel_unified_attention_3d"));
  EXPECT_FALSE(CostModel(*short_mark.model, {})[0].flops);
  const auto window = load_events(attention(kMark, "kernel_unified_attention_2d"));
  EXPECT_FALSE(CostModel(*window.model, {})[0].flops);
  const auto helper = load_events(attention(kMark, "void vllm::some_helper<int>(int)"));
  EXPECT_FALSE(CostModel(*helper.model, {})[0].flops);
}

// FlashInfer decodes with its prefill kernel too: in a step that reads and makes tokens, as many queries as the call has tell
// which it serves.
TEST(ServingCosts, QueriesTellWhichTokensOfAStepAreServed) {
  constexpr std::string_view kMark =
      "execute_context_1(sq100sk100sqsq10000sqsk10000)_generation_32(sq32sk55086sqsq32sqsk55086)";
  const auto cost = [&](std::string_view mark, int queries) {
    const std::string q = "[" + std::to_string(queries) + ",64,64]";
    const auto loaded = load_events(join(
        {event({.name = mark, .ts = 90, .dur = 100, .cat = "user_annotation"}),
         event({.name = "batch_prefill_with_kv_cache_dtype_q_bf16_f16qk_False::paged_run",
                .ts = 100,
                .dur = 50,
                .args = args("[[9],[9],[9]," + q + ",[9999,16,8,64],[9999,16,8,64],[33],[33],[900],[32]," + q + ",[],[],[],[]]",
                             R"(["unsigned char","unsigned char","long int","c10::BFloat16","c10::BFloat16","c10::BFloat16",)"
                             R"("int","int","int","int","c10::BFloat16","","Scalar","Scalar","Scalar"])",
                             R"(["","","","","","","","","","","","","1","0","-1"])")}),
         launch(1, 110, 2, "void flashinfer::BatchPrefillWithPagedKVCacheKernel<int>(int)", 220, 40)}));
    return CostModel(*loaded.model, {})[0].flops;
  };
  EXPECT_EQ(cost(kMark, 32), 2.0 * 64 * 128 * 55086);
  EXPECT_EQ(cost(kMark, 100), 2.0 * 64 * 128 * 10000);
  // A step of one sort has no other tokens, whatever the kernel is named.
  EXPECT_EQ(cost("execute_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk55086sqsq32sqsk55086)", 32), 2.0 * 64 * 128 * 55086);
}

TEST(ServingCosts, ACollectiveMovesBytesAndHasNoRoofOfMemory) {
  const auto loaded = load_events(
      join({event({.name = "symm_mem::multimem_all_reduce_",
                   .ts = 100,
                   .dur = 50,
                   .args = args("[[2557440],[],[]]", R"(["c10::BFloat16","",""])", R"(["","",""])")}),
            launch(1, 110, 2, "void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(int)", 220, 40)}));
  CostOptions options;
  options.device = **find_device("H200");
  const CostModel costs(*loaded.model, options);
  EXPECT_EQ(costs[0].bytes_read, 2557440.0 * 2);
  EXPECT_EQ(costs[0].bytes_written, 2557440.0 * 2);
  EXPECT_FALSE(costs.roof(0).roof_ns);
  EXPECT_FALSE(costs.roof(0).pct_peak_bandwidth);
}

// What each kernel reads, against hardware counters: products of 8 and 4 bits with their scales; of grouped products the
// matrices that some row meets (21 of 32, 30 of 32, 81 of 128, 128 of 128); norms, stores, decoding.
TEST(ServingCosts, ReadWhatCountersSay) {
  const auto loaded = load_file(*path_of("serving_cases"));
  const CostModel costs(*loaded.model, {});
  const Trace& trace = *loaded.trace;
  const auto& events = trace.of(EventClass::device_work);
  std::vector<std::size_t> rows(events.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  std::erase_if(rows, [&](std::size_t row) { return trace.kind(events[row]).work != DeviceWork::kernel; });
  std::sort(rows.begin(), rows.end(),
            [&](std::size_t a, std::size_t b) { return trace.events.ts_ns(events[a]) < trace.events.ts_ns(events[b]); });
  simdjson::dom::parser parser;
  const std::string json = test::json_of(test::source_dir() + "/tests/fixtures/serving_cases.counters.json");
  const simdjson::dom::array counters = parser.parse(json).get_array().value();
  ASSERT_EQ(counters.size(), rows.size());
  constexpr double kSmall = 64 * 1024, kShare = 0.1;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto counted = static_cast<double>(counters.at(i).at(1).get_int64().value());
    const std::string kernel(trace.text(trace.events.name(events[rows[i]])).substr(0, 80));
    // A reduction of partial sums that were left in the cache of the run, not of the counters' one.
    if (kernel.find("lean_reduction") != std::string::npos) continue;
    ASSERT_TRUE(costs[rows[i]].bytes_read) << i << ' ' << kernel;
    EXPECT_NEAR(*costs[rows[i]].bytes_read, counted, std::max(kSmall, kShare * counted)) << i << ' ' << kernel;
  }
}

// What a product or attention launches besides itself multiplies nothing: pointers for each expert, columns put in order,
// weights unpacked, parts put together.
TEST(ServingCosts, HelpersMultiplyNothing) {
  struct WithHelpers {
    std::string_view op, dims, types, values;
    std::vector<std::string_view> helpers;
    std::string_view kernel;
    double flops;
  };
  constexpr std::string_view kCutlass =
      "void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cute::tuple<int>>>(int)";
  const WithHelpers cases[] = {
      {"_C::cutlass_moe_mm",
       "[[512,4096],[512,7168],[8,7168,4096],[512,1],[8,4096],[8]]",
       R"(["c10::BFloat16","c10::Float8_e4m3fn","c10::Float8_e4m3fn","float","float","int"])",
       R"(["","","","","",""])",
       {"void get_group_gemm_starts<cutlass::float_e4m3_t, cutlass::bfloat16_t, float>(int*)"},
       kCutlass,
       2.0 * 512 * 4096 * 7168},
      {"sgl_kernel::es_fp8_blockwise_scaled_grouped_mm",
       "[[512,4096],[512,7168],[8,7168,4096],[512,56],[8,56,32]]",
       R"(["c10::BFloat16","c10::Float8_e4m3fn","c10::Float8_e4m3fn","float","float"])",
       R"(["","","","",""])",
       {"void expert_specialization::groupedGemmPreComputeKernel<int>(int*)"},
       kCutlass,
       2.0 * 512 * 4096 * 7168},
      {"_C::gptq_marlin_gemm",
       "[[32,4096],[],[256,12288],[32,6144],[],[],[],[],[],[],[],[],[]]",
       R"(["c10::BFloat16","","int","c10::BFloat16","","","","","","","Scalar","Scalar","Scalar"])",
       R"(["","","","","","","","","","","32","6144","4096"])",
       {"void marlin::permute_cols_kernel(int4 const*, int const*, int4*, int, int, int)"},
       "void marlin::Marlin<__nv_bfloat16, 256, 1, 8, 8, 4>(int4 const*)",
       2.0 * 32 * 6144 * 4096},
      {"_C::gptq_gemm",
       "[[64,4096],[512,6144],[32,768],[32,6144],[4096],[],[],[]]",
       R"(["c10::Half","int","int","c10::Half","int","Scalar","Scalar","Scalar"])",
       R"(["","","","","","True","False","4"])",
       {"vllm::gptq::reconstruct_exllama_4bit_kernel(unsigned int const*, int const*)"},
       "nvjet_sm90_hsh_64x64_64x13_1x2_h_bz_NNT",
       2.0 * 64 * 6144 * 4096},
      {"_C::cutlass_scaled_mm",
       "[[32,6144],[32,4096],[4096,6144],[32,1],[1,6144],[]]",
       R"(["c10::BFloat16","c10::Float8_e4m3fn","c10::Float8_e4m3fn","float","float",""])",
       R"(["","","","","",""])",
       {"void vllm::a_helper_that_nobody_has_heard_of<int>(int)"},
       kCutlass,
       2.0 * 32 * 6144 * 4096},
      {"sgl_kernel::fwd_kvcache_mla",
       "[[64,1,128,576],[4096,64,1,656],[],[64],[64,40],[],[],[132,8],[65],[],[64,1,2048]]",
       R"(["c10::BFloat16","unsigned char","Scalar","int","int","Scalar","Scalar","int","int","Scalar","int"])",
       R"(["","","512","","","0.1","False","","","True",""])",
       {"void smxx::decode::flash_fwd_mla_combine_kernel<cutlass::bfloat16_t, 512>(int)"},
       "void sm90::decode::sparse_fp8::flash_fwd_splitkv_mla_fp8_sparse_kernel<int>(int)",
       2.0 * 128 * (576 + 512) * 64 * 2048},
  };
  for (const WithHelpers& each : cases) {
    std::string events = event({.name = each.op, .ts = 100, .dur = 90, .args = args(each.dims, each.types, each.values)});
    int id = 0;
    for (const std::string_view kernel : each.helpers) events = join({events, launch(++id, 110, 2, kernel, 220, 5)});
    events = join({events, launch(++id, 120, 2, each.kernel, 230, 40)});
    const auto loaded = load_events(events);
    const CostModel costs(*loaded.model, {});
    for (std::size_t i = 0; i < each.helpers.size(); ++i) EXPECT_EQ(costs[i].flops.value_or(0), 0) << each.helpers[i];
    EXPECT_EQ(costs[each.helpers.size()].flops, each.flops) << each.kernel;
  }
}

// Shares of kernel time whose FLOPs, and whose bytes, are known.
struct Known {
  double flops = 0, bytes = 0;
};
Known known_of(const Trace& trace, const Model& model) {
  const CostModel costs(model, {});
  const auto& events = trace.of(EventClass::device_work);
  double all = 0;
  Known known;
  for (std::size_t row = 0; row < events.size(); ++row) {
    if (trace.kind(events[row]).work != DeviceWork::kernel) continue;
    const auto time = static_cast<double>(trace.events.dur_ns(events[row]).value_or(0));
    all += time;
    if (costs[row].flops) known.flops += time;
    if (costs[row].bytes_read && costs[row].bytes_written) known.bytes += time;
  }
  return {known.flops / all, known.bytes / all};
}

// What stays unknown: attention with a window of unknown size, a collective of NCCL, kernels under no op.
TEST(ServingCosts, AreKnownForNearlyAllTimeOfARealStep) {
  const auto path = path_of("b200_vllm_eager");
  if (!path) GTEST_SKIP() << "the public traces are not here";
  const auto loaded = load_file(*path);
  const Known known = known_of(*loaded.trace, *loaded.model);
  EXPECT_GT(known.flops, 0.95);
  EXPECT_GT(known.bytes, 0.95);
}

// The capture lends ops, shapes and what the experts' op allocates; the replay's own mark tells the keys.
TEST(ServingCosts, AreKnownForNearlyAllTimeOfReplaysWithTheirCaptures) {
  constexpr std::pair<const char*, const char*> kPairs[] = {{"sglang_decode_replay", "sglang_decode_capture"},
                                                            {"amd_vllm_graph_replay", "vllm_decode_capture"}};
  for (const auto& [replay_name, capture_name] : kPairs) {
    const auto replay_path = path_of(replay_name), capture_path = path_of(capture_name);
    if (!replay_path || !capture_path) GTEST_SKIP() << "the public traces are not here";
    const auto capture = load_file(*capture_path);
    auto replay = read_trace(*replay_path, {});
    ASSERT_TRUE(replay);
    lend_capture(*capture.model, replay->get());
    const Known known = known_of(**replay, Model(**replay));
    EXPECT_GT(known.flops, 0.95) << replay_name;
    EXPECT_GT(known.bytes, 0.95) << replay_name;
  }
}

}  // namespace
}  // namespace ridge
