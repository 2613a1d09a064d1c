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
  std::string_view dtype = {};  // of the factors, where it is not that of the whole table
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
    {"nvjet_sm90_tst_192x192_64x4_1x2_h_bz_coopB_bias_TNN", "[2, 66, 1]", 6144, 30528, 768, 117400000},
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

// One kind of product after another, deeper and deeper, with all else equal; then layouts, and other types. The second factor is
// transposed where the kernel's name says so.
constexpr CountedProduct kSweep[] = {
    {"nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_TNT", "[2, 66, 1]", 2048, 6144, 512, 8413952, "c10::BFloat16"},
    {"nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_TNT", "[2, 66, 1]", 2048, 6144, 1024, 17157120, "c10::BFloat16"},
    {"nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_TNT", "[2, 66, 1]", 2048, 6144, 1536, 28505600, "c10::BFloat16"},
    {"nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_TNT", "[2, 66, 1]", 2048, 6144, 2048, 47948032, "c10::BFloat16"},
    {"nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_TNT", "[2, 66, 1]", 2048, 6144, 3072, 96604672, "c10::BFloat16"},
    {"nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_TNT", "[2, 66, 1]", 2048, 6144, 5120, 167801600, "c10::BFloat16"},
    {"nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_TNT", "[2, 66, 1]", 2048, 6144, 8192, 268457984, "c10::BFloat16"},
    {"nvjet_sm90_tst_320x128_64x3_1x2_h_bz_coopB_TNT", "[2, 66, 1]", 3072, 10240, 512, 15948544, "c10::BFloat16"},
    {"nvjet_sm90_tst_320x128_64x3_1x2_h_bz_coopB_TNT", "[2, 66, 1]", 3072, 10240, 1024, 35902464, "c10::BFloat16"},
    {"nvjet_sm90_tst_320x128_64x3_1x2_h_bz_coopB_TNT", "[2, 66, 1]", 3072, 10240, 1536, 66880256, "c10::BFloat16"},
    {"nvjet_sm90_tst_320x128_64x3_1x2_h_bz_coopB_TNT", "[2, 66, 1]", 3072, 10240, 2048, 120433408, "c10::BFloat16"},
    {"nvjet_sm90_tst_320x128_64x3_1x2_h_bz_coopB_TNT", "[2, 66, 1]", 3072, 10240, 3072, 229145856, "c10::BFloat16"},
    {"nvjet_sm90_tst_320x128_64x3_1x2_h_bz_coopB_TNT", "[2, 66, 1]", 3072, 10240, 5120, 386692608, "c10::BFloat16"},
    {"nvjet_sm90_tst_320x128_64x3_1x2_h_bz_coopB_TNT", "[2, 66, 1]", 3072, 10240, 8192, 618693888, "c10::BFloat16"},
    {"nvjet_sm90_tst_192x192_64x4_2x1_v_bz_coopB_TNN", "[2, 66, 1]", 6144, 6144, 512, 16849664, "c10::BFloat16"},
    {"nvjet_sm90_tst_192x192_64x4_2x1_v_bz_coopB_TNN", "[2, 66, 1]", 6144, 6144, 1024, 41942016, "c10::BFloat16"},
    {"nvjet_sm90_tst_192x192_64x4_2x1_v_bz_coopB_TNN", "[2, 66, 1]", 6144, 6144, 1536, 69385728, "c10::BFloat16"},
    {"nvjet_sm90_tst_192x192_64x4_2x1_v_bz_coopB_TNN", "[2, 66, 1]", 6144, 6144, 2048, 100650496, "c10::BFloat16"},
    {"nvjet_sm90_tst_192x192_64x4_2x1_v_bz_coopB_TNN", "[2, 66, 1]", 6144, 6144, 3072, 224636928, "c10::BFloat16"},
    {"nvjet_sm90_tst_192x192_64x4_2x1_v_bz_coopB_TNN", "[2, 66, 1]", 6144, 6144, 5120, 424608256, "c10::BFloat16"},
    {"nvjet_sm90_tst_192x192_64x4_2x1_v_bz_coopB_TNN", "[2, 66, 1]", 6144, 6144, 8192, 679504128, "c10::BFloat16"},
    {"nvjet_sm90_tst_320x128_64x3_1x2_h_bz_coopB_TNT", "[2, 66, 1]", 8192, 5120, 512, 19311872, "c10::BFloat16"},
    {"nvjet_sm90_tst_320x128_64x3_1x2_h_bz_coopB_TNT", "[2, 66, 1]", 8192, 5120, 1024, 41020672, "c10::BFloat16"},
    {"nvjet_sm90_tst_320x128_64x3_1x2_h_bz_coopB_TNT", "[2, 66, 1]", 8192, 5120, 1536, 69208320, "c10::BFloat16"},
    {"nvjet_sm90_tst_320x128_64x3_1x2_h_bz_coopB_TNT", "[2, 66, 1]", 8192, 5120, 2048, 133646336, "c10::BFloat16"},
    {"nvjet_sm90_tst_320x128_64x3_1x2_h_bz_coopB_TNT", "[2, 66, 1]", 8192, 5120, 3072, 295334400, "c10::BFloat16"},
    {"nvjet_sm90_tst_320x128_64x3_1x2_h_bz_coopB_TNT", "[2, 66, 1]", 8192, 5120, 5120, 498757888, "c10::BFloat16"},
    {"nvjet_sm90_tst_320x128_64x3_1x2_h_bz_coopB_TNT", "[2, 66, 1]", 8192, 5120, 8192, 798048768, "c10::BFloat16"},
    {"nvjet_sm90_tst_320x128_64x3_1x2_h_bz_coopB_TNT", "[2, 66, 1]", 5120, 20480, 512, 42007040, "c10::BFloat16"},
    {"nvjet_sm90_tst_320x128_64x3_1x2_h_bz_coopB_TNT", "[2, 66, 1]", 5120, 20480, 1024, 91654656, "c10::BFloat16"},
    {"nvjet_sm90_tst_320x128_64x3_1x2_h_bz_coopB_TNT", "[2, 66, 1]", 5120, 20480, 1536, 166017280, "c10::BFloat16"},
    {"nvjet_sm90_tst_320x128_64x3_1x2_h_bz_coopB_TNT", "[2, 66, 1]", 5120, 20480, 2048, 304873472, "c10::BFloat16"},
    {"nvjet_sm90_tst_320x128_64x3_1x2_h_bz_coopB_TNT", "[2, 66, 1]", 5120, 20480, 3072, 695635712, "c10::BFloat16"},
    {"nvjet_sm90_tst_320x128_64x3_1x2_h_bz_coopB_TNT", "[2, 66, 1]", 5120, 20480, 5120, 1287805440, "c10::BFloat16"},
    {"nvjet_sm90_tst_320x128_64x3_1x2_h_bz_coopB_TNT", "[2, 66, 1]", 5120, 20480, 8192, 2580813056, "c10::BFloat16"},
    {"nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_TNT", "[2, 66, 1]", 12288, 2048, 512, 14706432, "c10::BFloat16"},
    {"nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_TNT", "[2, 66, 1]", 12288, 2048, 1024, 29388288, "c10::BFloat16"},
    {"nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_TNT", "[2, 66, 1]", 12288, 2048, 1536, 44117248, "c10::BFloat16"},
    {"nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_TNT", "[2, 66, 1]", 12288, 2048, 2048, 61306880, "c10::BFloat16"},
    {"nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_TNT", "[2, 66, 1]", 12288, 2048, 3072, 115662080, "c10::BFloat16"},
    {"nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_TNT", "[2, 66, 1]", 12288, 2048, 5120, 261906944, "c10::BFloat16"},
    {"nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_TNT", "[2, 66, 1]", 12288, 2048, 8192, 419474176, "c10::BFloat16"},
    {"nvjet_sm90_tst_320x128_64x3_1x2_h_bz_coopB_NNT", "[2, 66, 1]", 4096, 14336, 4096, 571100672, "c10::BFloat16"},
    {"nvjet_sm90_tst_320x128_64x3_1x2_h_bz_coopB_TNT", "[2, 66, 1]", 4096, 14336, 4096, 571415552, "c10::BFloat16"},
    {"nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT", "[2, 66, 1]", 4096, 4096, 14336, 528527872, "c10::BFloat16"},
    {"nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_TNT", "[2, 66, 1]", 4096, 4096, 14336, 528552960, "c10::BFloat16"},
    {"nvjet_sm90_tst_320x128_64x3_1x2_h_bz_coopB_NNT", "[2, 66, 1]", 8192, 8192, 8192, 1278181632, "c10::BFloat16"},
    {"nvjet_sm90_tst_320x128_64x3_1x2_h_bz_coopB_TNT", "[2, 66, 1]", 8192, 8192, 8192, 1281368064, "c10::BFloat16"},
    {"nvjet_sm90_tst_192x192_64x3_2x1_v_bz_coopB_NNN", "[2, 66, 1]", 6000, 1536, 6144, 116220928, "c10::BFloat16"},
    {"nvjet_sm90_tst_192x192_64x4_2x1_v_bz_coopB_TNN", "[2, 66, 1]", 6000, 1536, 6144, 116220160, "c10::BFloat16"},
    {"nvjet_sm90_tst_192x192_64x3_1x2_h_bz_coopB_NNN", "[2, 66, 1]", 10240, 3584, 2560, 180754176, "c10::BFloat16"},
    {"nvjet_sm90_tst_192x192_64x4_1x2_h_bz_coopB_TNN", "[2, 66, 1]", 10240, 3584, 2560, 185001472, "c10::BFloat16"},
    {"nvjet_sm90_hsh_192x192_64x3_2x1_v_bz_coopB_NNN", "[2, 66, 1]", 4096, 11008, 4096, 400552448, "c10::Half"},
    {"nvjet_sm90_hsh_192x192_64x4_2x1_v_bz_coopB_TNN", "[2, 66, 1]", 4096, 11008, 4096, 403358464, "c10::Half"},
    {"nvjet_sm90_hsh_320x128_64x3_1x2_h_bz_coopB_NNT", "[2, 66, 1]", 8192, 5120, 2048, 137940224, "c10::Half"},
    {"nvjet_sm90_hsh_320x128_64x3_1x2_h_bz_coopB_TNT", "[2, 66, 1]", 8192, 5120, 2048, 133708288, "c10::Half"},
    {"sm90_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize128x128x32_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas", "[66, 2, 1]", 4096, 4096, 2048, 169423872, "float"},
    {"sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x32_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas", "[15, 8, 1]", 4096, 4096, 2048, 150920192, "float"},
    {"sm90_xmma_gemm_f32f32_tf32f32_f32_nt_n_tilesize128x256x32_warpgroupsize2x1x1_execute_segment_k_off_kernel__5x_cublas", "[132, 1, 1]", 4096, 4096, 2048, 146223616, "float"},
    {"sm90_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize128x128x32_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas", "[120, 1, 1]", 8192, 3072, 3072, 465650432, "float"},
    {"sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x32_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas", "[15, 8, 1]", 8192, 3072, 3072, 452664576, "float"},
    {"sm90_xmma_gemm_f32f32_tf32f32_f32_nt_n_tilesize128x256x32_warpgroupsize2x1x1_execute_segment_k_off_kernel__5x_cublas", "[132, 1, 1]", 8192, 3072, 3072, 327245824, "float"},
    {"sm90_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize128x128x32_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas", "[66, 2, 1]", 2560, 10240, 2560, 394388736, "float"},
    {"sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x32_warpgroupsize1x1x1_execute_segment_k_on_kernel__5x_cublas", "[120, 1, 1]", 2560, 10240, 2560, 336118528, "float"},
    {"sm90_xmma_gemm_f32f32_tf32f32_f32_nt_n_tilesize128x256x32_warpgroupsize2x1x1_execute_segment_k_on_kernel__5x_cublas", "[66, 2, 1]", 2560, 10240, 2560, 324443904, "float"},
    {"sm90_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize128x128x32_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas", "[132, 1, 1]", 16384, 2048, 512, 38178816, "float"},
    {"sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x32_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas", "[66, 2, 1]", 16384, 2048, 512, 38002944, "float"},
    {"sm90_xmma_gemm_f32f32_tf32f32_f32_nt_n_tilesize128x128x32_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas", "[132, 1, 1]", 16384, 2048, 512, 37866240, "float"},
    {"sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize256x128x8_stage3_warpsize4x2x1_ffma_aligna4_alignc4_execute_kernel__5x_cublas", "[16, 32, 1]", 4096, 4096, 1024, 68808960, "float"},
    {"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_stage3_warpsize2x2x1_ffma_aligna4_alignc4_execute_kernel__5x_cublas", "[32, 32, 1]", 4096, 4096, 1024, 70056704, "float"},
    {"void cutlass::Kernel2<cutlass_80_simt_sgemm_256x128_8x4_nn_align1>(x)", "[192, 3, 3]", 3072, 6144, 3072, 386802176, "float"},
    {"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_stage3_warpsize2x2x1_ffma_aligna4_alignc4_execute_kernel__5x_cublas", "[24, 48, 1]", 3072, 6144, 3072, 264285952, "float"},
    {"void cutlass::Kernel2<cutlass_80_simt_sgemm_256x128_8x4_nn_align1>(x)", "[512, 1, 1]", 8192, 2048, 512, 21180416, "float"},
    {"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_stage3_warpsize2x2x1_ffma_aligna4_alignc4_execute_kernel__5x_cublas", "[64, 16, 1]", 8192, 2048, 512, 44241408, "float"},
    {"nvjet_sm90_qqtst_128x128_128x6_2x1_v_bz_coopA_algo2_TNT", "[2, 66, 1]", 4096, 4096, 4096, 51265024, "c10::Float8_e4m3fn"},
    {"nvjet_sm90_qqtst_144x128_128x6_1x2_h_bz_coopA_algo2_TNN", "[2, 66, 1]", 4096, 14336, 4096, 150901248, "c10::Float8_e4m3fn"},
    {"nvjet_sm90_qqtst_128x128_128x6_2x1_v_bz_coopA_algo2_TNT", "[2, 66, 1]", 4096, 4096, 14336, 394528768, "c10::Float8_e4m3fn"},
    {"nvjet_sm90_qqtst_144x128_128x6_1x2_h_bz_coopA_algo2_TNN", "[2, 66, 1]", 8192, 8192, 8192, 517728512, "c10::Float8_e4m3fn"},
    {"nvjet_sm90_qqtst_144x128_128x6_1x2_h_bz_coopA_algo2_TNN", "[2, 66, 1]", 2048, 28672, 8192, 477932032, "c10::Float8_e4m3fn"},
    {"void cutlass::Kernel2<cutlass_80_tensorop_i16832gemm_s8_128x256_128x3_tn_align16>(x)", "[128, 4, 1]", 4096, 4096, 4096, 77600256, "signed char"},
    {"void cutlass::Kernel2<cutlass_80_tensorop_i16832gemm_s8_128x256_128x3_tn_align16>(x)", "[128, 14, 1]", 4096, 14336, 4096, 290448640, "signed char"},
    {"void cutlass::Kernel2<cutlass_80_tensorop_i16832gemm_s8_128x256_128x3_tn_align16>(x)", "[256, 8, 1]", 8192, 8192, 8192, 746182144, "signed char"},
    {"nvjet_sm90_tst_64x16_64x16_2x1_v_bz_TNT", "[2, 64, 1]", 16, 8192, 8192, 134499584, "c10::BFloat16"},
};
// clang-format on

// How many are within 10 %; prints the others.
int right(std::span<const CountedProduct> products, std::string_view dtype) {
  int count = 0;
  for (const CountedProduct& p : products) {
    const auto matrix = [](int rows, int columns) { return "[" + std::to_string(rows) + ", " + std::to_string(columns) + "]"; };
    const std::string_view factors = p.dtype.empty() ? dtype : p.dtype;
    const bool scaled = factors == "c10::Float8_e4m3fn";  // to 16 bits
    const std::string_view op = scaled ? "aten::_scaled_mm" : factors == "signed char" ? "aten::_int_mm" : "aten::mm";
    const std::string type = "\"" + std::string(factors) + "\"";
    const std::string args =
        "\"Input Dims\": [" + matrix(p.m, p.k) + ", " + matrix(p.k, p.n) + (scaled ? ", [], [], [], [], []" : "") +
        "], \"Input type\": [" + type + ", " + type +
        (scaled ? R"(, "float", "float", "", "", "Scalar"], "Concrete Inputs": ["", "", "", "", "", "", "15"])" : "]");
    const auto loaded = test::load_events(test::join(
        {test::event({.name = op, .ts = 5, .dur = 500, .args = args}), test::launch(1, p.kernel, p.grid, "[384, 1, 1]")}));
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

// What is read again grows with the depth, as the cache holds less and less of a wave, and stops where it holds nothing.
TEST(Products, OfEveryDepthTypeAndLayoutAreReadAsTheirWavesLeaveTheCache) {
  EXPECT_GE(right(kSweep, ""), 70) << "of " << std::size(kSweep);
}

TEST(Products, OfBfloatsAreReadAsTheLibraryOrdersTheirTiles) {
  EXPECT_GE(right(kBfloat, "c10::BFloat16"), 72) << "of " << std::size(kBfloat);
}

}  // namespace
}  // namespace ridge
