// Values that lie one behind the other: growing, zeros that were never written, and rooms that columns share.
#include <ridge/column_vector.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>
#include <ridge/table.h>

namespace ridge {
namespace {

constexpr std::size_t kLargeRows = ColumnRoom::kLarge / sizeof(std::int64_t);

TEST(ColumnVector, KeepsItsValuesAsItGrows) {
  for (const std::size_t rows : {std::size_t{1}, std::size_t{1000}, 3 * kLargeRows}) {
    ColumnVector<std::int64_t> values;
    for (std::size_t i = 0; i < rows; ++i) values.push_back(static_cast<std::int64_t>(i) - 7);
    ASSERT_EQ(values.size(), rows);
    for (std::size_t i = 0; i < rows; ++i) ASSERT_EQ(values[i], static_cast<std::int64_t>(i) - 7);
  }
}

// What lay there before a truncation is no zero.
TEST(ColumnVector, ZerosAreZerosWhereValuesWere) {
  for (const std::size_t rows : {std::size_t{10}, kLargeRows}) {
    ColumnVector<std::int64_t> values;
    values.reserve(2 * rows);
    for (std::size_t i = 0; i < rows; ++i) values.push_back(5);
    values.truncate(3);
    values.append_zeros(2 * rows - 3);
    ASSERT_EQ(values.size(), 2 * rows);
    for (std::size_t i = 0; i < 2 * rows; ++i) ASSERT_EQ(values[i], i < 3 ? 5 : 0) << i;
    values.append(std::array<std::int64_t, 2>{8, 9});
    EXPECT_EQ(values[2 * rows - 1], 0);
    EXPECT_EQ(values[2 * rows + 1], 9);
  }
}

TEST(ColumnVector, ACopyHasMemoryOfItsOwnAndAMoveLeavesNothing) {
  ColumnVector<std::uint32_t> values;
  values.append(std::array<std::uint32_t, 3>{1, 2, 3});
  ColumnVector<std::uint32_t> copy = values;
  copy.push_back(4);
  const ColumnVector<std::uint32_t> moved = std::move(values);
  EXPECT_TRUE(moved == std::vector<std::uint32_t>({1, 2, 3}));
  EXPECT_TRUE(copy == std::vector<std::uint32_t>({1, 2, 3, 4}));
  EXPECT_NE(copy.data(), moved.data());
}

TEST(ColumnRoom, GivesWhatIsLeftAndNoMore) {
  ColumnRoom room(ColumnRoom::kLarge);
  auto* const first = static_cast<std::byte*>(room.take(100));
  auto* const second = static_cast<std::byte*>(room.take(ColumnRoom::kLarge - 2 * ColumnRoom::kAlignment));
  EXPECT_EQ(second - first, 2 * static_cast<std::ptrdiff_t>(ColumnRoom::kAlignment));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first) % ColumnRoom::kLarge, 0U);
  EXPECT_EQ(room.take(1), nullptr);
}

// The columns of a large table lie in one room, and each keeps it: a column that was moved out outlives the table.
TEST(ColumnRoom, LivesAsLongAsAColumnInIt) {
  Column kept;
  {
    Table table{.name = "t", .columns = {{.name = "a", .type = Type::integer}, {.name = "b", .type = Type::integer}}};
    table.reserve(kLargeRows);
    for (Column& column : table.columns) {
      column.values.append_unknown(column.type, kLargeRows);
      std::ranges::fill(column.values.rows_to_write().integers, 42);
      std::ranges::fill(column.values.rows_to_write().known, ~std::uint64_t{0});
    }
    const auto a = table.columns[0].values.integers(), b = table.columns[1].values.integers();
    EXPECT_EQ(b.data() - a.data(), static_cast<std::ptrdiff_t>(kLargeRows));  // one behind the other
    kept = std::move(table.columns[1]);
  }
  EXPECT_EQ(kept.values.integers()[kLargeRows - 1], 42);
  kept.push(std::int64_t{43});  // more than it has room for
  EXPECT_EQ(kept.int64(0), 42);
  EXPECT_EQ(kept.int64(kLargeRows), 43);
}

TEST(Values, UnknownOnesAreNullWhateverTheirType) {
  for (const Type type : {Type::text, Type::integer, Type::number, Type::boolean}) {
    Column column{.name = "c", .type = type};
    column.values.append_unknown(type, 70);
    EXPECT_EQ(column.size(), 70U);
    EXPECT_EQ(column.values.known().set_bits(), 0U);
    EXPECT_TRUE(is_null(column.at(69)));
  }
}

}  // namespace
}  // namespace ridge
