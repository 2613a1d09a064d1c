// Arguments parsed from a trace's texts, hostile ones among them.
#include "ops/op_call.h"

#include <string>

#include <gtest/gtest.h>

#include "ops/op_work.h"

namespace ridge {
namespace {

TEST(OpCall, ReadsTensorsListsAndValues) {
  const OpCall call = parse_op_call("aten::cat", "[[[4,3],[5,3]],[],[2,0],[]]", R"(["TensorList","Scalar","float","double"])",
                                    "[[[3,1],[3,1]],[],[1,2],[]]", R"(["","0","",""])");
  ASSERT_EQ(call.arguments.size(), 4U);
  EXPECT_TRUE(call.has_shapes);
  ASSERT_EQ(call.arguments[0].list.size(), 2U);
  EXPECT_EQ(call.arguments[0].list[1].sizes, (std::vector<std::int64_t>{5, 3}));
  EXPECT_EQ(call.arguments[1].kind, OpArgument::Kind::value);
  EXPECT_EQ(call.arguments[1].value, "0");
  EXPECT_EQ(call.arguments[2].kind, OpArgument::Kind::tensor);
  EXPECT_EQ(call.arguments[3].kind, OpArgument::Kind::tensor);  // 0-dim
  EXPECT_EQ(call.arguments[3].tensor.dtype, DType::f64);
}

TEST(OpCall, AListOfMoreThan30TensorsWasLeftOut) {
  const OpCall call = parse_op_call("aten::_foreach_add_", "[[],[]]", R"(["TensorList","Scalar"])", "", R"(["","1"])");
  EXPECT_EQ(call.arguments[0].kind, OpArgument::Kind::tensor_list);
  EXPECT_TRUE(call.arguments[0].list_left_out);
}

TEST(OpCall, StringsKeepTheirCommasAndEscapes) {
  const OpCall call = parse_op_call("aten::x", "", R"(["",""])", "", R"(["[1, 2]","a\"b"])");
  ASSERT_EQ(call.arguments.size(), 2U);
  EXPECT_EQ(call.arguments[0].value, "[1, 2]");
  EXPECT_EQ(call.arguments[1].value, "a\"b");
  EXPECT_FALSE(call.has_shapes);
}

// torch.float4_e2m1fn_x2: an element is a byte with two values. The second matrix of a product is dense along K, which is its
// first dimension.
TEST(OpCall, EscapesOfLinesAreWhatTheyMean) {
  const OpCall call = parse_op_call("aten::f", "[[],[]]", R"(["",""])", "", R"(["a\nb\\","\u2028"])");
  ASSERT_EQ(call.arguments.size(), 2U);
  EXPECT_EQ(call.arguments[0].value, "a\nb\\");
  EXPECT_EQ(call.arguments[1].value, "\\u2028");
}

TEST(OpCall, ElementsOfTwoValuesAreUnpacked) {
  const OpCall call =
      parse_op_call("aten::_scaled_mm", "[[128,4096],[4096,256]]", R"(["c10::Float4_e2m1fn_x2","c10::Float4_e2m1fn_x2"])",
                    "[[4096,1],[1,4096]]", R"(["",""])");
  EXPECT_EQ(call.arguments[0].tensor.sizes, (std::vector<std::int64_t>{128, 8192}));
  EXPECT_EQ(call.arguments[1].tensor.sizes, (std::vector<std::int64_t>{8192, 256}));
  EXPECT_EQ(touched_bytes(call.arguments[0].tensor), 128 * 4096);
  EXPECT_EQ(touched_bytes(call.arguments[1].tensor), 4096 * 256);
  EXPECT_EQ(call.arguments[1].tensor.strides, (std::vector<std::int64_t>{1, 8192}));
}

TEST(TouchedBytes, CountsWhatStridesReach) {
  const auto bytes = [](std::vector<std::int64_t> sizes, std::vector<std::int64_t> strides, DType dtype) {
    return touched_bytes({std::move(sizes), std::move(strides), dtype});
  };
  EXPECT_EQ(bytes({8, 16}, {}, DType::f32), 8 * 16 * 4);
  EXPECT_EQ(bytes({8, 16}, {16, 1}, DType::f32), 8 * 16 * 4);
  EXPECT_EQ(bytes({16, 8}, {1, 16}, DType::f32), 8 * 16 * 4);                   // transposed: the same memory
  EXPECT_EQ(bytes({1000, 16}, {0, 1}, DType::f32), 16 * 4);                     // expanded
  EXPECT_EQ(bytes({1000, 1000}, {0, 0}, DType::f32), 4);                        // a scalar, expanded
  EXPECT_EQ(bytes({1024, 512}, {1024, 2}, DType::f32), (1024 * 1024 - 1) * 4);  // [:, ::2]: every sector is read
  EXPECT_EQ(bytes({1024, 64}, {1024, 1}, DType::f32), 1024 * 64 * 4);           // [:, :64]: rows of whole sectors
  EXPECT_EQ(bytes({1024, 1}, {1024, 1}, DType::f32), 1024 * 64);                // [:, :1]: an access each
  EXPECT_EQ(bytes({6, 3}, {1, 1}, DType::i64), 8 * 8);                          // windows that overlap
}

// As far as a family's kernels can be off.
decltype(Part::of) hostile_part(OpFamily family) {
  switch (family) {
    case OpFamily::gemm: return GemmPart{.partial_bytes = 1};
    case OpFamily::convolution: return ConvolutionPart{.partial_bytes = 1};
    case OpFamily::attention: return AttentionPart{.partial_bytes = 1};
    case OpFamily::reduction: return ReductionPart{.item = DType::f32};
    case OpFamily::gather: return GatherPart{.rows = 1LL << 62};
    case OpFamily::copy: return CatPart{.item = DType::f32, .count = 1LL << 62};
    case OpFamily::recurrent: return RecurrentPart{.partial_bytes = 1};
    case OpFamily::sort: return SelectionPart{.partial_bytes = 1};
    case OpFamily::optimizer: return ListPart{.item = DType::f32, .count = 1LL << 62};
    case OpFamily::experts: return ExpertsPart{.top_k = 4, .inner = 9e18, .weight_item = 1};
    default: return {};
  }
}

// What a broken or hostile trace may hold. Nothing may crash, hang or overflow (the sanitizer build says so), and no number may
// be made up.
TEST(OpCall, HostileTextsAreHarmless) {
  const std::string deep(100000, '[');
  const std::string many = "[" + [] {
    std::string s;
    for (int i = 0; i < 5000; ++i) s += "[9223372036854775807],";
    return s;
  }() + "[]]";
  const std::string long_shape = "[[" + [] {
    std::string s;
    for (int i = 0; i < 5000; ++i) s += "9223372036854775807,";
    return s;
  }() + "1]]";
  const std::string texts[] = {
      "",
      "[",
      "]",
      "[[",
      "[[-5,3],[3,4]]",
      "[[99999999999999999999999,2],[2,2]]",
      "[[9223372036854775807,9223372036854775807],"
      "[9223372036854775807,9223372036854775807],[9223372036854775807],[],[]]",
      "[[1.5,2]]",
      "[[[[[1]]]]]",
      "[null]",
      "{}",
      "[[1,2],",
      deep,
      many,
      long_shape,
      "[[0,0],[0,0],[0,0]]",
      "[[2,3,4,5],[6,3,0,-1]]",
  };
  const std::string types[] = {"", R"(["float","float","float","float","float"])", R"(["TensorList","TensorList"])", "[\"",
                               "[1,2]"};
  const std::string values[] = {"", R"(["","","","[0, 0]","[-9223372036854775808]","1e999","nan","inf","","[]","[True, ",""])",
                                R"(["9223372036854775807","9223372036854775807","0"])"};
  constexpr const char* kOps[] = {"torchvision::nms",
                                  "_C::rms_norm",
                                  "_C::rotary_embedding",
                                  "_C_cache_ops::reshape_and_cache_flash",
                                  "vllm::rocm_aiter_rmsnorm_fused_add_dynamic_quant",
                                  "_C::cutlass_scaled_fp4_mm",
                                  "_C::gptq_gemm",
                                  "_C::marlin_gemm",
                                  "aten::_weight_int4pack_mm",
                                  "vllm::unified_attention_with_output",
                                  "_rocm_C::paged_attention",
                                  "vllm::rocm_aiter_mla_decode_fwd",
                                  "vllm::moe_forward",
                                  "vllm::fused_experts",
                                  "aiter::ck_moe_stage2",
                                  "torchvision::roi_align",
                                  "torchvision::_roi_align_backward",
                                  "aten::grid_sampler_2d_backward",
                                  "aten::reflection_pad1d_backward",
                                  "aten::_fft_r2c",
                                  "aten::searchsorted",
                                  "aten::_index_put_impl_",
                                  "aten::scatter",
                                  "aten::mm",
                                  "aten::addmm",
                                  "aten::bmm",
                                  "aten::_scaled_mm",
                                  "aten::_grouped_mm",
                                  "aten::linear",
                                  "aten::mv",
                                  "aten::convolution",
                                  "aten::cudnn_convolution",
                                  "aten::cudnn_convolution_transpose",
                                  "aten::convolution_backward",
                                  "aten::_flash_attention_forward",
                                  "aten::_efficient_attention_backward",
                                  "aten::add",
                                  "aten::sum",
                                  "aten::_softmax",
                                  "aten::native_layer_norm_backward",
                                  "aten::gather",
                                  "aten::index",
                                  "aten::embedding_dense_backward",
                                  "aten::cat",
                                  "aten::arange",
                                  "aten::tril",
                                  "aten::max_pool2d_with_indices",
                                  "aten::upsample_bilinear2d",
                                  "aten::reflection_pad2d",
                                  "aten::nll_loss_forward",
                                  "aten::topk",
                                  "aten::_fused_adamw_",
                                  "aten::_foreach_add_",
                                  "aten::copy_",
                                  "aten::index_add",
                                  "aten::_embedding_bag_dense_backward",
                                  "aten::_cudnn_rnn",
                                  "aten::native_dropout",
                                  "aten::frexp",
                                  "aten::_prelu_kernel_backward",
                                  "aten::cummax",
                                  "aten::cumsum",
                                  "aten::linalg_vector_norm",
                                  "aten::kthvalue",
                                  "aten::median",
                                  "aten::_embedding_bag",
                                  "aten::native_layer_norm",
                                  "aten::dot",
                                  "aten::_cudnn_rnn_backward"};
  for (const std::string& dims : texts) {
    for (const std::string& type : types) {
      for (const std::string& value : values) {
        OpCall call = parse_op_call("", dims, type, dims, value);
        for (const char* op : kOps) {
          const OpFormula* row = find_op(op);
          ASSERT_NE(row, nullptr) << op;
          call.op = op;
          for (int role = 0; role <= static_cast<int>(KernelRole::unknown); ++role) {
            const Part part{.role = static_cast<KernelRole>(role), .of = hostile_part(row->family)};
            const OpWork work = row->work(call, part);
            if (call.has_shapes) continue;
            EXPECT_LE(work.read.value_or(0), 1) << op << ' ' << dims.substr(0, 60);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace ridge
