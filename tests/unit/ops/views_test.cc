// Shapes of views, by their arguments as the profiler writes them.
#include "ops/views.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace ridge {
namespace {

using Shapes = std::vector<std::vector<std::int64_t>>;

Shapes of(std::string_view op, std::string_view dims, std::string_view constants) {
  Shapes out;
  for (const TensorShape& shape :
       viewed(parse_op_call(op, dims, R"(["float", "Scalar", "Scalar", "Scalar", "Scalar"])", {}, constants)))
    out.push_back(shape.sizes);
  return out;
}

TEST(Views, AreOfTheSameElementsInAnotherShape) {
  EXPECT_EQ(of("aten::view", "[[4, 6], []]", R"(["", "[2, -1, 3]"])"), (Shapes{{2, 4, 3}}));
  EXPECT_EQ(of("aten::t", "[[4, 6]]", R"([""])"), (Shapes{{6, 4}}));
  EXPECT_EQ(of("aten::transpose", "[[2, 4, 6], [], []]", R"(["", "1", "-1"])"), (Shapes{{2, 6, 4}}));
  EXPECT_EQ(of("aten::permute", "[[2, 4, 6], []]", R"(["", "[2, 0, 1]"])"), (Shapes{{6, 2, 4}}));
  EXPECT_EQ(of("aten::unsqueeze", "[[4, 6], []]", R"(["", "-1"])"), (Shapes{{4, 6, 1}}));
  EXPECT_EQ(of("aten::squeeze", "[[1, 6, 1]]", R"([""])"), (Shapes{{6}}));
  EXPECT_EQ(of("aten::squeeze", "[[1, 6, 1], []]", R"(["", "2"])"), (Shapes{{1, 6}}));
  EXPECT_EQ(of("aten::squeeze", "[[1, 6, 1], []]", R"(["", "1"])"), (Shapes{{1, 6, 1}})) << "not of one: it stays";
}

TEST(Views, AreOfParts) {
  EXPECT_EQ(of("aten::select", "[[20, 600], [], []]", R"(["", "0", "3"])"), (Shapes{{600}}));
  EXPECT_EQ(of("aten::slice", "[[4, 600], [], [], [], []]", R"(["", "1", "100", "9223372036854775807", "2"])"),
            (Shapes{{4, 250}}));
  EXPECT_EQ(of("aten::slice", "[[4, 600], [], [], [], []]", R"(["", "-1", "", "-100", "1"])"), (Shapes{{4, 500}}));
  EXPECT_EQ(of("aten::split", "[[4, 600], [], []]", R"(["", "250", "1"])"), (Shapes{{4, 250}, {4, 250}, {4, 100}}));
  EXPECT_EQ(of("aten::split_with_sizes", "[[4, 6], [], []]", R"(["", "[1, 5]", "1"])"), (Shapes{{4, 1}, {4, 5}}));
  EXPECT_EQ(of("aten::unbind", "[[3, 6], []]", R"(["", "0"])"), (Shapes{{6}, {6}, {6}}));
}

TEST(Views, MayBeWider) {
  EXPECT_EQ(of("aten::expand", "[[4, 1], [], []]", R"(["", "[2, -1, 6]", "False"])"), (Shapes{{2, 4, 6}}));
}

// What was not recorded, and what no tensor has: the tensor's own shape, and never an endless list.
TEST(Views, OfWhatMakesNoSenseAreTheTensorItself) {
  EXPECT_EQ(of("aten::view", "[[4, 6], []]", R"(["", ""])"), (Shapes{{4, 6}}));
  EXPECT_EQ(of("aten::view", "[[4, 6], []]", R"(["", "[0, -1]"])"), (Shapes{{4, 6}}));
  EXPECT_EQ(of("aten::transpose", "[[4, 6], [], []]", R"(["", "5", "0"])"), (Shapes{{4, 6}}));
  EXPECT_EQ(of("aten::select", "[[], [], []]", R"(["", "0", "0"])"), (Shapes{{}}));
  EXPECT_EQ(of("aten::permute", "[[4, 6], []]", R"(["", "[0, 9]"])"), (Shapes{{4, 6}}));
  EXPECT_EQ(of("aten::split", "[[4000000000], [], []]", R"(["", "1", "0"])").size(), 64U);
  EXPECT_EQ(of("aten::split", "[[4, 6], [], []]", R"(["", "0", "0"])"), (Shapes{{4, 6}}));
  EXPECT_EQ(of("aten::unbind", "[[9000000000000000000], []]", R"(["", "0"])").size(), 64U);
  EXPECT_TRUE(of("aten::mm", "[[4, 6], [6, 4]]", "[]").empty());
  EXPECT_FALSE(is_view("aten::mm"));
  EXPECT_TRUE(is_view("aten::unbind"));
}

}  // namespace
}  // namespace ridge
