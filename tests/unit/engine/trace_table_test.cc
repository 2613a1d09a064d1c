// The tables of a trace through the public door: the same rows as the schema's getters give, whole and piece by piece.
#include <ridge/trace_table.h>

#include <numeric>

#include <gtest/gtest.h>

#include <ridge/engine.h>

#include "support/files.h"
#include "trace/schema/schema.h"

namespace ridge {
namespace {

std::vector<std::size_t> all_columns(const TraceTable& table) {
  std::vector<std::size_t> columns(table.info().columns.size());
  std::iota(columns.begin(), columns.end(), std::size_t{0});
  return columns;
}

Engine opened(const std::string& fixture = "clean_tf32") {
  return std::move(Engine::open({test::source_dir() + "/tests/fixtures/" + fixture + ".json.gz"}, {}).value());
}

TEST(TraceTable, ListsWhatTheSchemaHas) {
  ASSERT_EQ(trace_tables().size(), schema::tables().size());
  for (std::size_t i = 0; i < trace_tables().size(); ++i) {
    EXPECT_EQ(trace_tables()[i].name, schema::tables()[i].name);
    EXPECT_EQ(trace_tables()[i].columns.size(), schema::tables()[i].columns.size());
  }
}

TEST(TraceTable, PiecesAreTheWhole) {
  const Engine engine = opened();
  for (const TraceTableInfo& info : trace_tables()) {
    const auto table = engine.trace_table(0, info.name).value();
    const Table whole = table->read(all_columns(*table), 0, table->size());
    ASSERT_EQ(whole.size(), table->size()) << info.name;
    constexpr std::uint64_t kPiece = 1000;
    for (std::uint64_t first = 0; first < table->size(); first += 7 * kPiece) {
      const Table piece = table->read(all_columns(*table), first, kPiece);
      for (std::size_t row = 0; row < piece.size(); row += 37) EXPECT_EQ(piece.row(row), whole.row(first + row)) << info.name;
    }
  }
}

// Columns that are read together share what they look up of each event; alone, each looks it up itself.
TEST(TraceTable, ColumnsReadTogetherAreThoseReadAlone) {
  const Engine engine = opened("resnet18_eager_shapes");  // some thousand launches and ops: several batches
  for (const TraceTableInfo& info : trace_tables()) {
    const auto table = engine.trace_table(0, info.name).value();
    const Table whole = table->read(all_columns(*table), 0, table->size());
    for (std::size_t i = 0; i < info.columns.size(); ++i) {
      const Table alone = table->read(std::vector{i}, 0, table->size());
      ASSERT_EQ(alone.size(), whole.size()) << info.name;
      for (std::size_t row = 0; row < whole.size(); ++row)
        ASSERT_EQ(alone.cell(row, 0), whole.cell(row, i)) << info.name << "." << info.columns[i].name << " row " << row;
    }
  }
}

// Large tables read texts by keys, in parts that several threads take; small ones text by text. What Arrow gets is the same.
TEST(TraceTable, TextsAreKnownInTheOrderOfTheRows) {
  const Engine engine = opened("gpt_eager_train_stack_mem");
  const auto table = engine.trace_table(0, "events").value();
  ASSERT_GT(table->size(), 20'000U);  // several parts
  const Table whole = table->read(all_columns(*table), 0, table->size());
  for (const Column& column : whole.columns) {
    const Values::Texts* const texts = column.values.texts();
    if (texts == nullptr) continue;
    Dictionary in_order;
    for (std::size_t row = 0; row < whole.size(); ++row) {
      const auto text = column.text(row);
      ASSERT_EQ(texts->codes[row], text ? in_order.add(*text) : 0) << column.name << " row " << row;
    }
    EXPECT_EQ(texts->dictionary.bytes(), in_order.bytes()) << column.name;
  }
  for (std::uint64_t first = 0; first < table->size(); first += 3'333) {  // so few that texts are not read by keys
    const Table few = table->read(all_columns(*table), first, 20);
    for (std::size_t row = 0; row < few.size(); ++row) EXPECT_EQ(few.row(row), whole.row(first + row)) << first + row;
  }
}

TEST(TraceTable, ColumnsAreChosenByPlaceAndRowsEndWithTheTable) {
  const Engine engine = opened();
  const auto events = engine.trace_table(0, "events").value();
  const std::size_t chosen[] = {6, 1};  // dur_ns, name
  const Table last = events->read(chosen, events->size() - 2, 100);
  ASSERT_EQ(last.columns.size(), 2U);
  EXPECT_EQ(last.columns[0].name, "dur_ns");
  EXPECT_EQ(last.columns[0].unit, Unit::ns);
  EXPECT_EQ(last.columns[1].name, "name");
  EXPECT_EQ(last.size(), 2U);
  EXPECT_TRUE(events->read(chosen, events->size() + 5, 1).empty());
}

TEST(TraceTable, OutlivesTheEngine) {
  std::shared_ptr<const TraceTable> table;
  {
    const Engine engine = opened();
    table = engine.trace_table(0, "ops").value();
  }
  EXPECT_GT(table->read(all_columns(*table), 0, 10).size(), 0U);
}

TEST(TraceTable, AnUnknownOneNamesTheNearest) {
  const Engine engine = opened();
  const auto none = engine.trace_table(0, "opps");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::usage);
  EXPECT_NE(none.error().hint.find("ops"), std::string::npos) << none.error().hint;
  EXPECT_FALSE(engine.trace_table(7, "ops"));
}

}  // namespace
}  // namespace ridge
