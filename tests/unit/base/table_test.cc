// Typed columns: what goes in comes out, unknown stays unknown, each text is kept once.
#include <ridge/table.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

namespace ridge {
namespace {

Table four_columns() {
  Table table;
  table.columns = {{"name", Type::text}, {"count", Type::integer}, {"share", Type::number}, {"fused", Type::boolean}};
  table.add_row({"gemm", std::int64_t{7}, 0.5, true});
  table.add_row({Cell(), Cell(), Cell(), Cell()});
  table.add_row({"", std::int64_t{0}, 0.0, false});
  table.add_row({"gemm"});
  return table;
}

TEST(Table, GivesBackWhatItWasGiven) {
  const Table table = four_columns();
  ASSERT_EQ(table.size(), 4U);
  EXPECT_EQ(table.row(0), (Row{"gemm", std::int64_t{7}, 0.5, true}));
  EXPECT_EQ(table.row(2), (Row{"", std::int64_t{0}, 0.0, false}));
  EXPECT_EQ(table.column("count").int64(0), 7);
  EXPECT_EQ(table.column("share").number(0), 0.5);
  EXPECT_EQ(table.column("fused").boolean(0), true);
  EXPECT_EQ(table.column("name").text(0), "gemm");
  EXPECT_EQ(table.find("nothing"), nullptr);
}

TEST(Table, UnknownIsNeitherZeroNorEmpty) {
  const Table table = four_columns();
  EXPECT_EQ(table.row(1), Row(4));
  EXPECT_EQ(table.row(3), (Row{"gemm", Cell(), Cell(), Cell()}));  // what a row lacks is unknown
  for (const Column& column : table.columns) {
    EXPECT_TRUE(is_null(column.at(1))) << column.name;
    EXPECT_FALSE(is_null(column.at(2))) << column.name;
  }
  EXPECT_EQ(table.column("count").int64(1), std::nullopt);
  EXPECT_EQ(table.column("name").text(1), std::nullopt);
}

TEST(Table, ColumnsAnswerInTheirOwnType) {
  const Table table = four_columns();
  EXPECT_EQ(table.column("count").number(0), 7.0);
  EXPECT_EQ(table.column("share").int64(0), std::nullopt);
  EXPECT_EQ(table.column("count").text(0), std::nullopt);
  EXPECT_EQ(table.column("name").number(0), std::nullopt);
}

TEST(Table, IntegersAreExactAndMayStandForNumbers) {
  Table table;
  table.columns = {{"whole", Type::integer}, {"number", Type::number}};
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  table.add_row({kMost, std::int64_t{3}});
  EXPECT_EQ(table.cell(0, 0), CellView(kMost));
  EXPECT_EQ(table.cell(0, 1), CellView(3.0));
}

TEST(Table, CopiesAndCutsStandOnTheirOwn) {
  Table table = four_columns();
  const Table copy = table;
  table.truncate(1);
  table.truncate(5);
  EXPECT_EQ(table.size(), 1U);
  table.add_row({"other"});
  EXPECT_EQ(table.column("name").text(1), "other");
  EXPECT_EQ(copy.size(), 4U);
  EXPECT_EQ(copy.column("name").text(3), "gemm");
}

TEST(Table, AColumnMayBeAddedWhole) {
  Table table;
  table.add_column({"device", Type::text}, {"H200"});
  table.add_column({"count", Type::integer}, {Cell()});
  EXPECT_EQ(table.row(0), (Row{"H200", Cell()}));
}

TEST(Dictionary, KeepsEachTextOnce) {
  Dictionary texts;
  for (int round = 0; round < 2; ++round) {
    for (std::uint32_t i = 0; i < 10'000; ++i) EXPECT_EQ(texts.add("text " + std::to_string(i)), i);
  }
  EXPECT_EQ(texts.size(), 10'000U);
  EXPECT_EQ(texts.text(0), "text 0");
  EXPECT_EQ(texts.text(9'999), "text 9999");
  EXPECT_EQ(texts.add(""), 10'000U);
  EXPECT_EQ(texts.text(10'000), "");
  const Dictionary copy = texts;
  texts.add("more");
  EXPECT_EQ(copy.text(9'999), "text 9999");
}

TEST(Values, ManyAtOnceAreAsOneByOne) {
  constexpr std::size_t kRows = 200;  // several words of the mask, the last one in part
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < kRows; ++i) texts.push_back("name " + std::to_string(i % 7));
  std::vector<std::int64_t> integers;
  std::vector<double> numbers;
  const auto booleans = std::make_unique<bool[]>(kRows);
  std::vector<std::string_view> views;
  std::vector<std::uint8_t> known;
  Table one_by_one;
  one_by_one.columns = {{"i", Type::integer}, {"n", Type::number}, {"b", Type::boolean}, {"t", Type::text}};
  for (std::size_t i = 0; i < kRows; ++i) {
    const bool is_known = i % 3 != 0;
    known.push_back(is_known ? 1 : 0);
    integers.push_back(is_known ? static_cast<std::int64_t>(i) : 0);
    numbers.push_back(is_known ? static_cast<double>(i) / 2 : 0);
    booleans[i] = is_known && i % 2 == 0;
    views.push_back(is_known ? std::string_view(texts[i]) : std::string_view());
    one_by_one.add_row(is_known ? Row{integers[i], numbers[i], static_cast<bool>(booleans[i]), texts[i]} : Row(4));
  }
  Table at_once;
  at_once.columns = {{"i", Type::integer}, {"n", Type::number}, {"b", Type::boolean}, {"t", Type::text}};
  for (Column& column : std::span(at_once.columns).first(3)) column.values.append_unknown(column.type, kRows);
  const auto [of_i, of_n, of_b] =
      std::tuple(at_once.columns[0].values.rows_to_write(), at_once.columns[1].values.rows_to_write(),
                 at_once.columns[2].values.rows_to_write());
  std::ranges::copy(integers, of_i.integers.begin());
  std::ranges::copy(numbers, of_n.numbers.begin());
  for (const auto& rows : {of_i, of_n, of_b}) Bitmap::pack(known, rows.known);
  for (std::size_t first = 0; first < kRows; first += Bitmap::kBits) {
    std::vector<std::uint8_t> flags(booleans.get() + first, booleans.get() + std::min(kRows, first + Bitmap::kBits));
    Bitmap::pack(flags, of_b.booleans.subspan(first / Bitmap::kBits));
  }
  for (std::size_t first = 0; first < kRows; first += 50)  // pieces that begin inside a word
    at_once.columns[3].values.append(std::span<const std::string_view>(views).subspan(first, 50),
                                     std::span(known).subspan(first, 50));
  ASSERT_EQ(at_once.size(), kRows);
  for (std::size_t i = 0; i < kRows; ++i) EXPECT_EQ(at_once.row(i), one_by_one.row(i)) << i;
  EXPECT_EQ(at_once.columns[3].values.texts()->dictionary.size(), 7U);
}

TEST(Values, AreReadWhereTheyLie) {
  const Table table = four_columns();
  EXPECT_EQ(table.column("count").values.integers()[0], 7);
  EXPECT_EQ(table.column("count").values.numbers().size(), 0U);  // of another type
  EXPECT_EQ(table.column("share").values.numbers()[0], 0.5);
  EXPECT_EQ(table.column("fused").values.booleans()->words()[0], 0b0001U);
  EXPECT_EQ(table.column("fused").values.known().words()[0], 0b0101U);
  EXPECT_TRUE(table.column("name").values.texts()->codes == std::vector<std::uint32_t>({0, 0, 1, 0}));
  EXPECT_EQ(table.column("name").values.texts()->dictionary.bytes(), "gemm");
}

TEST(Bitmap, BitsBehindTheLastRowAreZero) {
  Bitmap bits;
  for (int i = 0; i < 130; ++i) bits.push_back(true);
  EXPECT_EQ(bits.set_bits(), 130U);
  bits.truncate(65);
  EXPECT_EQ(bits.size(), 65U);
  EXPECT_EQ(bits.words().size(), 2U);
  EXPECT_EQ(bits.words()[1], 1U);
  bits.push_back(false);
  bits.push_back(true);
  EXPECT_EQ(bits.words()[1], 0b101U);
  EXPECT_EQ(bits.set_bits(), 66U);
}

TEST(Bitmap, BytesOfAnyValueBecomeBitsAtAnyPlace) {
  for (const std::size_t before : {0U, 1U, 7U, 63U, 64U, 65U}) {
    Bitmap bits;
    for (std::size_t i = 0; i < before; ++i) bits.push_back(i % 3 == 0);
    std::vector<std::uint8_t> bytes;
    for (std::size_t i = 0; i < 300; ++i)
      bytes.push_back(i % 5 < 2 ? std::uint8_t{0} : static_cast<std::uint8_t>(i));  // 256 is 0 too
    bits.append(bytes);
    ASSERT_EQ(bits.size(), before + bytes.size());
    for (std::size_t i = 0; i < before; ++i) EXPECT_EQ(bits[i], i % 3 == 0) << before << " " << i;
    for (std::size_t i = 0; i < bytes.size(); ++i) EXPECT_EQ(bits[before + i], bytes[i] != 0) << before << " " << i;
  }
}

// Columns of several megabytes: their memory is another than that of small ones.
TEST(Table, LargeColumnsAreCopiedCutAndFilledAgain) {
  constexpr std::size_t kRows = 600'000;
  Table table;
  table.columns = {{"whole", Type::integer}, {"name", Type::text}};
  table.reserve(kRows);
  const std::vector<std::uint8_t> known = {1, 0, 1};
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(kRows); i += 3) {
    for (const auto& cell : {CellView(i), CellView(), CellView(-i)}) table.columns[0].push(cell);
    table.columns[1].values.append(std::vector<std::string_view>{"a", "", "b"}, known);
  }
  const Table copy = table;
  table.truncate(4);
  table.add_row({std::int64_t{7}, "c"});
  EXPECT_EQ(table.row(4), (Row{std::int64_t{7}, "c"}));
  table.reserve(2 * kRows);
  EXPECT_EQ(table.row(2), (Row{std::int64_t{0}, "b"}));
  ASSERT_EQ(copy.size(), kRows);
  EXPECT_EQ(copy.row(kRows - 3), (Row{static_cast<std::int64_t>(kRows) - 3, "a"}));
  EXPECT_EQ(copy.row(kRows - 2), Row(2));
  EXPECT_EQ(copy.row(kRows - 1), (Row{-(static_cast<std::int64_t>(kRows) - 3), "b"}));
}

}  // namespace
}  // namespace ridge
