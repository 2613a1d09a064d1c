// Products of one kernel each, as the library chose it for their sizes, against dram__bytes_read.sum of an H200: what operands
// are read again.
#include <cmath>
#include <cstdio>
#include <span>
#include <string>

#include <gtest/gtest.h>

#include "cost/cost_model.h"
#include "unit/cost/hand_made_launch.h"

namespace ridge {
namespace {

struct CountedProduct {
  std::string_view kernel, grid;
  int m, n, k;
  double counted;
};

// clang-format off
// float32, with and without TF32.
constexpr CountedProduct kFloat[] = {
    {"sm90_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize128x256x32_execute_kernel__5x_cublas", "[66, 2, 1]", 4096, 4096, 4096, 293679872},
    {"sm90_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize128x128x32_execute_kernel__5x_cublas", "[132, 1, 1]", 16384, 1024, 1024, 71934720},
    {"sm90_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize128x128x32_execute_kernel__5x_cublas", "[132, 1, 1]", 8192, 4096, 512, 29838080},
    {"sm90_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize128x128x32_execute_kernel__5x_cublas", "[132, 1, 1]", 65536, 1024, 256, 68252160},
    {"sm90_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize128x128x32_execute_kernel__5x_cublas", "[132, 1, 1]", 32768, 3072, 768, 194603776},
    {"sm90_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize128x128x32_execute_kernel__5x_cublas", "[66, 2, 1]", 2048, 8192, 2048, 156098304},
    {"sm90_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize128x128x32_execute_kernel__5x_cublas", "[132, 1, 1]", 131072, 256, 256, 253830912},
    {"sm90_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize128x128x32_execute_kernel__5x_cublas", "[132, 1, 1]", 20000, 512, 2048, 529142784},
    {"sm90_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x256x32_execute_kernel__5x_cublas", "[66, 2, 1]", 4096, 4096, 4096, 293669120},
    {"sm90_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x32_execute_kernel__5x_cublas", "[66, 2, 1]", 16384, 1024, 1024, 71695872},
    {"sm90_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x32_execute_kernel__5x_cublas", "[66, 2, 1]", 8192, 4096, 512, 29821952},
    {"sm90_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x32_execute_kernel__5x_cublas", "[132, 1, 1]", 65536, 1024, 256, 68221440},
    {"sm90_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x32_execute_kernel__5x_cublas", "[60, 2, 1]", 32768, 3072, 768, 187931392},
    {"sm90_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x32_execute_kernel__5x_cublas", "[15, 8, 1]", 2048, 8192, 2048, 151401216},
    {"sm90_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x32_execute_kernel__5x_cublas", "[66, 2, 1]", 131072, 256, 256, 134550272},
    {"sm90_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x32_execute_kernel__5x_cublas", "[66, 2, 1]", 20000, 512, 2048, 187576320},
    {"sm90_xmma_gemm_f32f32_f32f32_f32_nt_n_tilesize128x256x32_execute_kernel__5x_cublas", "[66, 2, 1]", 4096, 4096, 4096, 293718272},
    {"sm90_xmma_gemm_f32f32_f32f32_f32_nt_n_tilesize128x256x32_execute_kernel__5x_cublas", "[132, 1, 1]", 16384, 1024, 1024, 77992192},
    {"sm90_xmma_gemm_f32f32_f32f32_f32_nt_n_tilesize128x128x32_execute_kernel__5x_cublas", "[66, 2, 1]", 8192, 4096, 512, 30106624},
    {"sm90_xmma_gemm_f32f32_f32f32_f32_nt_n_tilesize128x128x32_execute_kernel__5x_cublas", "[132, 1, 1]", 65536, 1024, 256, 68234240},
    {"sm90_xmma_gemm_f32f32_f32f32_f32_nt_n_tilesize128x128x32_execute_kernel__5x_cublas", "[132, 1, 1]", 32768, 3072, 768, 200314112},
    {"sm90_xmma_gemm_f32f32_f32f32_f32_nt_n_tilesize128x256x32_execute_kernel__5x_cublas", "[66, 2, 1]", 2048, 8192, 2048, 139976704},
    {"sm90_xmma_gemm_f32f32_f32f32_f32_nt_n_tilesize128x128x32_execute_kernel__5x_cublas", "[132, 1, 1]", 131072, 256, 256, 134567936},
    {"sm90_xmma_gemm_f32f32_f32f32_f32_nt_n_tilesize128x128x32_execute_kernel__5x_cublas", "[66, 2, 1]", 20000, 512, 2048, 187102976},
    {"sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize256x128x8_execute_kernel__5x_cublas", "[16, 32, 1]", 4096, 4096, 4096, 342070272},
    {"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_execute_kernel__5x_cublas", "[32, 32, 1]", 4096, 4096, 4096, 347955456},
    {"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_execute_kernel__5x_cublas", "[128, 8, 1]", 16384, 1024, 1024, 274311936},
    {"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_execute_kernel__5x_cublas", "[64, 32, 1]", 8192, 4096, 512, 80768256},
    {"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_execute_kernel__5x_cublas", "[512, 8, 1]", 65536, 1024, 256, 538201856},
    {"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_execute_kernel__5x_cublas", "[256, 24, 1]", 32768, 3072, 768, 2362291456},
    {"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_execute_kernel__5x_cublas", "[16, 64, 1]", 2048, 8192, 2048, 136087040},
    {"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_execute_kernel__5x_cublas", "[1024, 2, 1]", 131072, 256, 256, 269572864},
    {"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x64x8_execute_kernel__5x_cublas", "[157, 8, 1]", 20000, 512, 2048, 826318336},
    // Of models: radiance fields, tables, codebooks, detectors.
    {"void cutlass::Kernel2<cutlass_80_simt_sgemm_256x128_8x4_nt_align1>(x)", "[64, 7, 1]", 1024, 12544, 1024, 72208640},
    {"sm90_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize128x128x32_execute_kernel__5x_cublas", "[66, 2, 1]", 131072, 320, 256, 256824320},
    {"sm90_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize128x128x32_execute_kernel__5x_cublas", "[66, 2, 1]", 131072, 284, 128, 134315008},
    {"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x64x8_execute_kernel__5x_cublas", "[768, 3, 1]", 98304, 192, 64, 64332544},
    {"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize64x64x8_execute_kernel__5x_cublas", "[512, 16, 1]", 32768, 1024, 66, 14385920},
    {"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_execute_kernel__5x_cublas", "[16, 157, 1]", 2048, 20000, 512, 50354000},
};

// bfloat16; counted to the kilobyte, over a gigabyte to the megabyte.
constexpr CountedProduct kBfloat[] = {
    {"nvjet_sm90_tst_128x128_64x6_2x1_v_bz_NNT", "[2, 64, 1]", 2048, 1024, 4096, 25189000},
    {"nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT", "[2, 66, 1]", 2048, 4096, 1024, 12605000},
    {"nvjet_sm90_tst_192x128_64x5_1x2_h_bz_coopB_NNT", "[2, 66, 1]", 2048, 3072, 768, 7885000},
    {"nvjet_sm90_tst_96x128_64x6_2x1_v_bz_NNN", "[2, 64, 1]", 2048, 768, 3072, 17323000},
    {"nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT", "[2, 66, 1]", 2048, 12288, 4096, 261350000},
    {"nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT", "[2, 66, 1]", 2048, 4096, 11008, 231114000},
    {"nvjet_sm90_tst_192x192_64x3_2x1_v_bz_coopB_NNN", "[2, 66, 1]", 2048, 32000, 1024, 126260000},
    {"nvjet_sm90_tst_128x256_64x4_2x1_v_bz_coopA_NNN", "[2, 66, 1]", 2048, 50304, 768, 80726000},
    {"nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT", "[2, 64, 1]", 4096, 1024, 4096, 41967000},
    {"nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT", "[2, 66, 1]", 4096, 4096, 1024, 19546000},
    {"nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT", "[2, 66, 1]", 4096, 3072, 768, 11032000},
    {"nvjet_sm90_tst_192x128_64x5_1x2_h_bz_coopB_NNT", "[2, 64, 1]", 4096, 768, 3072, 29906000},
    {"nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT", "[2, 66, 1]", 4096, 12288, 4096, 454791000},
    {"nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT", "[2, 66, 1]", 4096, 4096, 11008, 405837000},
    {"nvjet_sm90_tst_320x128_64x3_1x2_h_bz_coopB_NNT", "[2, 66, 1]", 4096, 32000, 1024, 132020000},
    {"nvjet_sm90_tst_128x256_64x4_2x1_v_bz_coopA_NNN", "[2, 66, 1]", 4096, 50304, 768, 156922000},
    {"nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT", "[2, 66, 1]", 8192, 1024, 4096, 85411000},
    {"nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT", "[2, 66, 1]", 8192, 4096, 1024, 37333000},
    {"nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT", "[2, 66, 1]", 8192, 3072, 768, 24659000},
    {"nvjet_sm90_tst_192x128_64x5_1x2_h_bz_coopB_NNT", "[2, 66, 1]", 8192, 768, 3072, 58261000},
    {"nvjet_sm90_tst_192x192_64x3_2x1_v_bz_coopB_NNN", "[2, 66, 1]", 8192, 12288, 4096, 898416000},
    {"nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT", "[2, 66, 1]", 8192, 4096, 11008, 811635000},
    {"nvjet_sm90_tst_320x128_64x3_1x2_h_bz_coopB_NNT", "[2, 66, 1]", 8192, 32000, 1024, 207208000},
    {"nvjet_sm90_tst_192x192_64x3_2x1_v_bz_coopB_NNN", "[2, 66, 1]", 8192, 50304, 768, 444416000},
    {"nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT", "[2, 66, 1]", 16384, 1024, 4096, 171240000},
    {"nvjet_sm90_tst_320x128_64x3_1x2_h_bz_coopB_NNT", "[2, 66, 1]", 16384, 4096, 1024, 45071000},
    {"nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT", "[2, 66, 1]", 16384, 3072, 768, 48725000},
    {"nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT", "[2, 66, 1]", 16384, 768, 3072, 113710000},
    {"nvjet_sm90_tst_192x192_64x3_2x1_v_bz_coopB_NNN", "[2, 66, 1]", 16384, 12288, 4096, 1613000000},
    {"nvjet_sm90_tst_320x128_64x3_1x2_h_bz_coopB_NNT", "[2, 66, 1]", 16384, 4096, 11008, 1602000000},
    {"nvjet_sm90_tst_320x128_64x3_1x2_h_bz_coopB_NNT", "[2, 66, 1]", 16384, 32000, 1024, 372139000},
    {"nvjet_sm90_tst_192x192_64x3_2x1_v_bz_coopB_NNN", "[2, 66, 1]", 16384, 50304, 768, 813398000},
    {"nvjet_sm90_tst_128x256_64x4_2x1_v_bz_coopA_NTN", "[2, 64, 1]", 4096, 1024, 2048, 20993000},
    {"nvjet_sm90_tst_128x256_64x4_2x1_v_bz_coopA_NTN", "[2, 64, 1]", 1024, 4096, 2048, 20993000},
    {"nvjet_sm90_tst_192x96_64x5_1x2_h_bz_NTT", "[2, 64, 1]", 768, 3072, 2048, 15755000},
    {"nvjet_sm90_tst_192x96_64x5_1x2_h_bz_NTT", "[2, 64, 1]", 3072, 768, 2048, 15753000},
    {"nvjet_sm90_tst_128x256_64x4_2x1_v_bz_coopA_NTN", "[2, 66, 1]", 4096, 12288, 2048, 121549000},
    {"nvjet_sm90_tst_192x192_64x3_1x2_h_bz_coopB_NTN", "[2, 66, 1]", 11008, 4096, 2048, 147256000},
    {"nvjet_sm90_tst_128x256_64x4_2x1_v_bz_coopA_NTN", "[2, 66, 1]", 1024, 32000, 2048, 142899000},
    {"nvjet_sm90_tst_192x192_64x3_1x2_h_bz_coopB_NTN", "[2, 66, 1]", 768, 50304, 2048, 239316000},
    {"nvjet_sm90_tst_128x256_64x4_2x1_v_bz_coopA_NTN", "[2, 64, 1]", 4096, 1024, 4096, 41968000},
    {"nvjet_sm90_tst_128x256_64x4_2x1_v_bz_coopA_NTN", "[2, 64, 1]", 1024, 4096, 4096, 41966000},
    {"nvjet_sm90_tst_128x160_64x5_4x1_v_bz_NTT", "[4, 30, 1]", 768, 3072, 4096, 31485000},
    {"nvjet_sm90_tst_128x160_64x5_2x4_h_bz_NTT", "[8, 15, 1]", 3072, 768, 4096, 31483000},
    {"nvjet_sm90_tst_128x256_64x4_2x1_v_bz_coopA_NTN", "[2, 66, 1]", 4096, 12288, 4096, 408814000},
    {"nvjet_sm90_tst_192x192_64x3_1x2_h_bz_coopB_NTN", "[2, 66, 1]", 11008, 4096, 4096, 402338000},
    {"nvjet_sm90_tst_128x256_64x4_2x1_v_bz_coopA_NTN", "[2, 66, 1]", 1024, 32000, 4096, 331320000},
    {"nvjet_sm90_tst_192x192_64x3_1x2_h_bz_coopB_NTN", "[2, 66, 1]", 768, 50304, 4096, 512550000},
    {"nvjet_sm90_tst_128x256_64x4_2x1_v_bz_coopA_NTN", "[2, 64, 1]", 4096, 1024, 8192, 83915000},
    {"nvjet_sm90_tst_128x256_64x4_2x1_v_bz_coopA_NTN", "[2, 64, 1]", 1024, 4096, 8192, 83919000},
    {"nvjet_sm90_tst_128x160_64x5_4x1_v_bz_NTT", "[4, 30, 1]", 768, 3072, 8192, 62942000},
    {"nvjet_sm90_tst_128x160_64x5_2x4_h_bz_NTT", "[8, 15, 1]", 3072, 768, 8192, 62942000},
    {"nvjet_sm90_tst_128x256_64x4_2x1_v_bz_coopA_NTN", "[2, 66, 1]", 4096, 12288, 8192, 868220000},
    {"nvjet_sm90_tst_192x192_64x3_1x2_h_bz_coopB_NTN", "[2, 66, 1]", 11008, 4096, 8192, 820079000},
    {"nvjet_sm90_tst_128x256_64x4_2x1_v_bz_coopA_NTN", "[2, 66, 1]", 1024, 32000, 8192, 675314000},
    {"nvjet_sm90_tst_192x192_64x3_1x2_h_bz_coopB_NTN", "[2, 66, 1]", 768, 50304, 8192, 1025000000},
    {"nvjet_sm90_tst_128x256_64x4_2x1_v_bz_coopA_NTN", "[2, 64, 1]", 4096, 1024, 16384, 167808000},
    {"nvjet_sm90_tst_128x256_64x4_2x1_v_bz_coopA_NTN", "[2, 64, 1]", 1024, 4096, 16384, 167816000},
    {"nvjet_sm90_tst_128x256_64x4_2x1_v_bz_coopA_NTN", "[2, 66, 1]", 4096, 12288, 16384, 1741000000},
    {"nvjet_sm90_tst_192x192_64x3_1x2_h_bz_coopB_NTN", "[2, 66, 1]", 11008, 4096, 16384, 1640000000},
    {"nvjet_sm90_tst_128x256_64x4_2x1_v_bz_coopA_NTN", "[2, 66, 1]", 1024, 32000, 16384, 1350000000},
    {"nvjet_sm90_tst_192x192_64x3_1x2_h_bz_coopB_NTN", "[2, 66, 1]", 768, 50304, 16384, 2052000000},
    // Of models: speech, text.
    {"nvjet_sm90_tst_192x192_64x3_2x1_v_bz_coopB_NNN", "[2, 66, 1]", 12000, 768, 3072, 85424000},
    {"nvjet_sm90_tst_112x128_64x7_2x1_v_bz_TNN", "[2, 66, 1]", 4096, 896, 4864, 57920768},
    {"nvjet_sm90_tst_192x192_64x3_2x1_v_bz_coopB_NTN", "[2, 66, 1]", 50264, 768, 4096, 512900000},
    {"nvjet_sm90_tst_128x256_64x4_2x1_v_bz_coopA_TNN", "[2, 66, 1]", 8000, 1024, 2816, 71668992},
    // By rows, with groups of 16 clusters where tiles are 320 high, of 8 where they are 256 or less.
    {"nvjet_sm90_tst_320x128_64x3_1x2_h_bz_coopB_TNT", "[2, 66, 1]", 2560, 12288, 4096, 286300000},
    {"nvjet_sm90_tst_320x128_64x3_1x2_h_bz_coopB_TNT", "[2, 66, 1]", 9472, 12288, 4096, 1069600000},
    {"nvjet_sm90_tst_320x128_64x3_1x2_h_bz_coopB_TNT", "[2, 66, 1]", 8704, 4096, 11008, 856700000},
    {"nvjet_sm90_tst_320x128_64x3_1x2_h_bz_coopB_TNT", "[2, 66, 1]", 11776, 32000, 1024, 264700000},
    {"nvjet_sm90_tst_320x128_64x3_1x2_h_bz_coopB_TNT", "[2, 66, 1]", 4096, 64000, 896, 215400000},
    {"nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_TNT", "[2, 66, 1]", 4864, 12288, 4096, 561900000},
    {"nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_TNT", "[2, 66, 1]", 9472, 4096, 11008, 935700000},
    {"nvjet_sm90_tst_256x160_64x4_1x2_h_bz_coopA_NNT", "[2, 66, 1]", 12000, 3072, 768, 37000000},
    {"nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_TNT", "[2, 66, 1]", 4096, 4864, 896, 19000000},
};
// clang-format on

// How many are within 10 %; prints the others.
int right(std::span<const CountedProduct> products, std::string_view dtype) {
  int count = 0;
  for (const CountedProduct& p : products) {
    const auto matrix = [](int rows, int columns) { return "[" + std::to_string(rows) + ", " + std::to_string(columns) + "]"; };
    const std::string type = "\"" + std::string(dtype) + "\"";
    const std::string args =
        "\"Input Dims\": [" + matrix(p.m, p.k) + ", " + matrix(p.k, p.n) + "], \"Input type\": [" + type + ", " + type + "]";
    const auto loaded = test::load_events(test::join({test::event({.name = "aten::mm", .ts = 5, .dur = 500, .args = args}),
                                                      test::launch(1, p.kernel, p.grid, "[384, 1, 1]")}));
    const double read = CostModel(*loaded.model, {})[0].bytes_read.value_or(0);
    const bool near = std::abs(read - p.counted) <= 0.1 * p.counted;
    count += near ? 1 : 0;
    if (!near) std::printf("  %d x %d x %d: %.0f MB, counted %.0f\n", p.m, p.n, p.k, read / 1e6, p.counted / 1e6);
  }
  return count;
}

TEST(Products, OfFloatsAreReadAsTheLibraryOrdersTheirTiles) {
  EXPECT_GE(right(kFloat, "float"), 34) << "of " << std::size(kFloat);
}

TEST(Products, OfBfloatsAreReadAsTheLibraryOrdersTheirTiles) {
  EXPECT_GE(right(kBfloat, "c10::BFloat16"), 70) << "of " << std::size(kBfloat);
}

}  // namespace
}  // namespace ridge
