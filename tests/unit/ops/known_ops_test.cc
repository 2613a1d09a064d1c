// Joined op names split again.
#include "ops/known_ops.h"

#include <gtest/gtest.h>

namespace ridge {
namespace {

using Names = std::vector<std::string>;

TEST(KnownOps, SplitsJoinedNames) {
  EXPECT_EQ(split_op_names("_to_copy_add_native_layer_norm_native_layer_norm_backward_view"),
            (Names{"_to_copy", "add", "native_layer_norm", "native_layer_norm_backward", "view"}));
  EXPECT_EQ(split_op_names("_native_batch_norm_legit_no_training_max_pool2d_with_indices_relu"),
            (Names{"_native_batch_norm_legit_no_training", "max_pool2d_with_indices", "relu"}));
  EXPECT_EQ(split_op_names("sum_threshold_backward"), (Names{"sum", "threshold_backward"}));
}

TEST(KnownOps, KeepsTheUnderscoreOfAnOpInPlace) {
  EXPECT_EQ(split_op_names("_native_batch_norm_legit_functional_copy_"),
            (Names{"_native_batch_norm_legit_functional", "copy_"}));
  EXPECT_EQ(split_op_names("copy__native_layer_norm"), (Names{"copy_", "native_layer_norm"}));
}

TEST(KnownOps, TakesWordsItDoesNotKnowOneByOne) {
  EXPECT_EQ(split_op_names("add_frobnicate_mul"), (Names{"add", "frobnicate", "mul"}));
  EXPECT_TRUE(split_op_names("").empty());
}

}  // namespace
}  // namespace ridge
