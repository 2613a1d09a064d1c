// The spellings of element types that traces use.
#include "base/dtype.h"

#include <gtest/gtest.h>

namespace ridge {
namespace {

TEST(DType, ReadsTheSpellingsOfTraces) {
  EXPECT_EQ(parse_dtype("c10::BFloat16"), DType::bf16);
  EXPECT_EQ(parse_dtype("long int"), DType::i64);
  EXPECT_EQ(parse_dtype("long"), DType::i64);
  EXPECT_EQ(parse_dtype("short int"), DType::i16);
  EXPECT_EQ(parse_dtype("unsigned char"), DType::u8);
  EXPECT_EQ(parse_dtype("c10::Float8_e4m3fn"), DType::f8);
  EXPECT_EQ(parse_dtype("c10::complex<float>"), DType::c64);
  EXPECT_EQ(parse_dtype("*fp8e4nv"), DType::f8);
  EXPECT_EQ(parse_dtype("*bf16"), DType::bf16);
  EXPECT_EQ(parse_dtype("*i1"), DType::boolean);
  EXPECT_EQ(parse_dtype("torch.float16"), DType::f16);
  EXPECT_EQ(parse_dtype("Scalar"), DType::unknown);
  EXPECT_EQ(parse_dtype("TensorList"), DType::unknown);
  EXPECT_EQ(parse_dtype(""), DType::unknown);
}

TEST(DType, NamesReadBack) {
  for (std::size_t i = 1; i < kDTypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    EXPECT_EQ(parse_dtype(name_of(dtype)), dtype);
    EXPECT_GT(item_bytes(dtype), 0);
  }
  EXPECT_EQ(item_bytes(DType::f4), 0.5);
  EXPECT_EQ(item_bytes(DType::tf32), 4);
}

}  // namespace
}  // namespace ridge
