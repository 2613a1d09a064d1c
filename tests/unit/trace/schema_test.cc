// The schema: no table or column of a Trace is forgotten, what is not known is null, and the document is the schema's.
#include "trace/schema/schema.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <map>
#include <random>
#include <regex>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "support/files.h"
#include "support/schema_values.h"
#include "support/trace_lines.h"
#include "trace/tables.h"

namespace ridge::test {
namespace {

using Texts = std::vector<std::optional<std::string>>;
using Integers = std::vector<std::optional<std::int64_t>>;

template <class T>
auto list_of(const Trace& trace, std::string_view table, std::string_view column) {
  const auto values = read_column<T>(trace, table, column);
  std::conditional_t<std::is_same_v<T, std::string_view>, Texts, std::vector<std::optional<T>>> list;
  for (std::size_t row = 0; row < values.size; ++row) list.emplace_back(values[row]);
  return list;
}

constexpr std::string_view kHandMade = R"({"schemaVersion": 1, "baseTimeNanoseconds": 1700000000000000000, "record_shapes": 1,
  "cuda_runtime_version": 13000, "oddity": {"a": [1, 2]}, "distributedInfo": {"rank": 3, "world_size": 8},
  "deviceProperties": [{"id": 0, "name": "NVIDIA H200", "numSms": 132}, {"id": 1}],
  "traceEvents": [
  {"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "args": {"name": "python"}},
  {"ph": "M", "name": "thread_name", "pid": 1, "tid": 9, "args": {"name": "main"}},
  {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 9, "ts": 100, "dur": 5,
   "args": {"External id": 7, "Input Dims": [[2, 3], [3, 4]], "flag": true}},
  {"ph": "X", "cat": "cpu_op", "pid": 1, "tid": "aux", "ts": 103, "args": {"External id": "seven"}},
  {"ph": "C", "name": "memory", "pid": 1, "ts": 104, "args": {"used": 5, "free": 2.5, "note": "x"}},
  {"ph": "C", "name": "memory", "pid": 1, "ts": 106, "args": {"used": 6}},
  {"ph": "s", "cat": "ac2g", "name": "ac2g", "pid": 1, "tid": 9, "ts": 101, "id": 12},
  {"ph": "X", "cat": "cpu_op", "name": "torn", "pid": 1, "tid": 9},
  ]})";

TEST(Schema, NamesAreDistinctAndEverythingHasItsLine) {
  std::set<std::string_view> names;
  for (const schema::Table& table : schema::tables()) {
    EXPECT_TRUE(names.insert(table.name).second) << table.name;
    EXPECT_FALSE(table.line.empty()) << table.name;
    EXPECT_EQ(schema::find_table(table.name), &table);
    std::set<std::string_view> columns;
    for (const schema::Column& column : table.columns) {
      EXPECT_TRUE(columns.insert(column.name).second) << table.name << "." << column.name;
      EXPECT_FALSE(column.line.empty()) << table.name << "." << column.name;
    }
  }
  EXPECT_EQ(schema::find_table("nothing"), nullptr);
}

// The tables of trace/tables.h are C++ structs, so their source is asked: a struct for each, a maker, and its columns.
TEST(Schema, HasEveryTableAndColumnOfTheTrace) {
  const std::string source = contents(test::source_dir() + "/src/trace/tables.h");
  const std::regex struct_pattern(R"(struct (\w+Table) \{([^}]*)\};)"), columns_pattern(R"(ArgColumn ([^;]*);)"),
      word(R"(\w+)");
  int tables = 0, columns = 0;
  for (std::sregex_iterator it(source.begin(), source.end(), struct_pattern), end; it != end; ++it, ++tables) {
    const std::string type = (*it)[1], body = (*it)[2];
    std::smatch maker;
    ASSERT_TRUE(std::regex_search(source, maker, std::regex(type + R"( (\w+)\(const Trace)"))) << type;
    const schema::Table* table = schema::find_table(maker[1].str());
    ASSERT_NE(table, nullptr) << maker[1] << " is in no table of the schema";
    for (std::sregex_iterator list(body.begin(), body.end(), columns_pattern); list != end; ++list) {
      const std::string names = (*list)[1];
      for (std::sregex_iterator name(names.begin(), names.end(), word); name != end; ++name, ++columns) {
        // The collective's name is not the event's.
        const std::string wanted = type == "CollectiveTable" && name->str() == "name" ? "collective" : name->str();
        EXPECT_NE(std::ranges::find(table->columns, wanted, &schema::Column::name), table->columns.end())
            << table->name << " has no column " << wanted;
      }
    }
  }
  EXPECT_GE(tables, 8);
  EXPECT_GE(columns, 60);
}

// A column is named after the argument that it holds, as the profiler writes that; the others are listed.
TEST(Schema, ColumnsHoldTheArgumentOfTheirName) {
  const std::map<std::string, std::string_view> others = {
      {"device_work.occupancy_pct", "est. achieved occupancy %"},
      {"device_work.bandwidth_gb_per_s", "memory bandwidth (GB/s)"},
      {"collectives.collective", "Collective name"},
      {"collectives.in_elements", "In msg nelems"},
      {"collectives.out_elements", "Out msg nelems"},
      {"collectives.group_name", "Process Group Name"},
      {"collectives.group_description", "Process Group Description"},
      {"collectives.group_ranks", "Process Group Ranks"},
      {"collectives.sequence", "Seq"},
      {"collectives.source_rank", "Src Rank"},
      {"collectives.destination_rank", "Dst Rank"},
      {"python_frames.id", "Python id"},
      {"python_frames.parent_id", "Python parent id"},
      {"python_frames.module_id", "Python module id"},
      {"python_frames.call_from", "CallFrom"},
      {"memory_events.bytes", "Bytes"},  // of a copy it is "bytes"
  };
  for (const schema::Table& table : schema::tables()) {
    for (const schema::Column& column : table.columns) {
      if (column.key == ArgKey::none) continue;
      const std::string_view key = arg_key_texts()[static_cast<std::size_t>(column.key)];
      const auto other = others.find(std::string(table.name) + "." + std::string(column.name));
      std::string name;
      for (const char c : key) name += c == ' ' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      if (other != others.end()) {
        EXPECT_EQ(key, other->second) << other->first;
      } else {
        EXPECT_EQ(name, column.name) << table.name;
        EXPECT_NE(key, "Bytes") << table.name;
      }
    }
  }
}

// Each class of events is a table, so that their rows are all events.
TEST(Schema, HasATableForEveryClass) {
  const auto trace = read_ok(fixture("gpt_eager_train_stack_mem"));
  const std::set<std::string_view> shared = {"events", "collectives"};  // what they list is in other tables too
  std::uint64_t rows = trace->of(EventClass::counter).size();           // by value, in a table of arguments
  std::size_t tables = 1;
  for (const schema::Table& table : schema::event_tables()) {
    if (shared.contains(table.name)) continue;
    rows += table.rows(*trace).count;
    ++tables;
  }
  EXPECT_EQ(tables, kEventClasses);
  EXPECT_EQ(rows, trace->events.size());
}

// Other classes' arguments are none of a table's: its column has no value and is not looked for row by row.
TEST(Schema, AColumnIsAbsentWhereNoEventOfItsClassHasTheArgument) {
  const auto trace = read_ok(fixture("gpt_eager_train_stack_mem"));
  const auto is_absent = [&](std::string_view name, std::string_view column) {
    const schema::Table& table = *schema::find_table(name);
    const schema::TableRows rows = table.rows(*trace);
    return schema::ColumnReader(rows, find_column(table, column)).is_absent();
  };
  EXPECT_TRUE(is_absent("launches", "grid"));
  EXPECT_TRUE(is_absent("launches", "stream"));
  EXPECT_FALSE(is_absent("launches", "correlation"));
  EXPECT_FALSE(is_absent("device_work", "grid"));
  const auto grid = read_column<std::string_view>(*trace, "launches", "grid");
  ASSERT_GT(grid.size, 0U);
  EXPECT_EQ(std::ranges::count(grid.known, 0), static_cast<std::ptrdiff_t>(grid.size));
}

// What is asked once per form is what each event's own form says, whether rows were looked up before or not.
TEST(Schema, ColumnsByFormAreThoseOfTheirEvents) {
  const auto trace = read_ok(fixture("gpt_eager_train_stack_mem"));
  const auto compare = [&]<class T>(const schema::Table& table, const schema::Column& column, T) {
    const schema::TableRows rows = table.rows(*trace);
    const SchemaValues<T> read = read_column<T>(rows, column);
    SchemaValues<T> own(rows.count), looked_up(rows.count);
    std::get<schema::Getter<T>>(column.get)({rows, nullptr, {}}, 0, {{own.values.get(), own.size}, own.known});
    schema::ArgRows arg_rows;
    const auto found = arg_rows.look_up(rows, 0, rows.count);
    schema::ColumnReader(rows, column).read<T>(0, {{looked_up.values.get(), rows.count}, looked_up.known}, found);
    for (std::size_t row = 0; row < own.size; ++row) {
      ASSERT_EQ(read[row], own[row]) << table.name << "." << column.name << " " << row;
      ASSERT_EQ(looked_up[row], own[row]) << table.name << "." << column.name << " " << row;
    }
  };
  std::set<std::string_view> seen;
  for (const schema::Table& table : schema::event_tables()) {
    for (const schema::Column& column : table.columns) {
      if (column.by_form.index() == 0) continue;
      seen.insert(column.name);
      if (column.type() == schema::ColumnType::integer) compare(table, column, std::int64_t{});
      if (column.type() == schema::ColumnType::text) compare(table, column, std::string_view{});
    }
  }
  EXPECT_EQ(seen, (std::set<std::string_view>{"cat", "class", "ph", "track", "work"}));
}

TEST(Schema, Events) {
  const auto trace = read_ok(kHandMade);
  EXPECT_EQ(list_of<std::string_view>(*trace, "ops", "name"), (Texts{"aten::mm", ""}));
  EXPECT_EQ(list_of<std::int64_t>(*trace, "ops", "event"), (Integers{2, 3}));
  EXPECT_EQ(list_of<std::int64_t>(*trace, "ops", "ts_ns"), (Integers{100'000, 103'000}));
  EXPECT_EQ(list_of<std::int64_t>(*trace, "ops", "start_ns"), (Integers{0, 3'000}));
  EXPECT_EQ(list_of<std::int64_t>(*trace, "ops", "dur_ns"), (Integers{5'000, std::nullopt}));
  EXPECT_EQ(list_of<std::int64_t>(*trace, "ops", "external_id"), (Integers{7, std::nullopt}));  // a text is no integer
  EXPECT_EQ(list_of<std::string_view>(*trace, "ops", "input_dims"), (Texts{"[[2,3],[3,4]]", std::nullopt}));
  EXPECT_EQ(list_of<std::string_view>(*trace, "ops", "kernel_file"), (Texts{std::nullopt, std::nullopt}));
  EXPECT_EQ(list_of<std::int64_t>(*trace, "flows", "id"), (Integers{12}));
  EXPECT_EQ(list_of<std::string_view>(*trace, "events", "class"),
            (Texts{"metadata", "metadata", "op", "op", "counter", "counter", "flow"}));
  EXPECT_EQ(list_of<std::int64_t>(*trace, "events", "ts_ns")[0], std::nullopt);  // metadata has no time
  EXPECT_EQ(list_of<std::int64_t>(*trace, "events", "start_ns")[0], std::nullopt);
  EXPECT_EQ(list_of<std::string_view>(*trace, "events", "cat")[0], std::nullopt);
  EXPECT_TRUE(list_of<std::int64_t>(*trace, "device_work", "event").empty());
}

TEST(Schema, TracksAndKinds) {
  const auto trace = read_ok(kHandMade);
  const auto track = list_of<std::int64_t>(*trace, "ops", "track");
  const auto at = [&](std::size_t op) { return static_cast<std::size_t>(*track[op]); };
  EXPECT_EQ(list_of<std::int64_t>(*trace, "tracks", "pid")[at(0)], 1);
  EXPECT_EQ(list_of<std::int64_t>(*trace, "tracks", "tid")[at(0)], 9);
  EXPECT_EQ(list_of<std::string_view>(*trace, "tracks", "tid_text")[at(0)], std::nullopt);
  EXPECT_EQ(list_of<std::int64_t>(*trace, "tracks", "tid")[at(1)], std::nullopt);
  EXPECT_EQ(list_of<std::string_view>(*trace, "tracks", "tid_text")[at(1)], "aux");
  EXPECT_EQ(list_of<std::string_view>(*trace, "tracks", "pid_text")[at(1)], std::nullopt);
  EXPECT_EQ(list_of<std::string_view>(*trace, "tracks", "thread_name")[at(0)], "main");
  EXPECT_EQ(list_of<std::string_view>(*trace, "tracks", "thread_name")[at(1)], std::nullopt);
  EXPECT_EQ(list_of<std::string_view>(*trace, "tracks", "process_name")[at(0)], "python");
  EXPECT_EQ(list_of<std::string_view>(*trace, "tracks", "process_labels")[at(0)], std::nullopt);
  EXPECT_EQ(list_of<std::int64_t>(*trace, "tracks", "thread_sort_index")[at(0)], std::nullopt);
  EXPECT_EQ(list_of<std::int64_t>(*trace, "tracks", "process_sort_index")[at(0)], std::nullopt);
  EXPECT_EQ(list_of<std::int64_t>(*trace, "tracks", "track")[at(1)], track[1]);
  EXPECT_EQ(list_of<std::string_view>(*trace, "kinds", "ph").size(), trace->forms.kinds().size());
  EXPECT_EQ(list_of<std::string_view>(*trace, "kinds", "class").size(), trace->forms.kinds().size());
}

TEST(Schema, CountersAndArguments) {
  const auto trace = read_ok(kHandMade);
  EXPECT_EQ(list_of<std::string_view>(*trace, "counters", "series"), (Texts{"used", "free", "note", "used"}));
  EXPECT_EQ(list_of<double>(*trace, "counters", "value"), (std::vector<std::optional<double>>{5, 2.5, std::nullopt, 6}));
  EXPECT_EQ(list_of<std::int64_t>(*trace, "counters", "start_ns"), (Integers{4'000, 4'000, 4'000, 6'000}));
  EXPECT_EQ(list_of<std::string_view>(*trace, "counters", "name"), (Texts{"memory", "memory", "memory", "memory"}));
  EXPECT_EQ(list_of<std::string_view>(*trace, "args", "key")[2], "External id");
  EXPECT_EQ(list_of<bool>(*trace, "args", "boolean")[4], true);
  EXPECT_EQ(list_of<bool>(*trace, "args", "boolean")[3], std::nullopt);
}

TEST(Schema, TheFile) {
  const auto trace = read_ok(kHandMade);
  EXPECT_EQ(list_of<std::string_view>(*trace, "trace", "container"), (Texts{"plain"}));
  EXPECT_EQ(list_of<std::string_view>(*trace, "trace", "format"), (Texts{"json"}));
  EXPECT_EQ(list_of<std::int64_t>(*trace, "trace", "file_bytes"), (Integers{static_cast<std::int64_t>(kHandMade.size())}));
  EXPECT_EQ(list_of<std::int64_t>(*trace, "trace", "json_bytes"), (Integers{static_cast<std::int64_t>(kHandMade.size())}));
  EXPECT_EQ(list_of<std::int64_t>(*trace, "trace", "elements"), (Integers{8}));
  EXPECT_EQ(list_of<std::int64_t>(*trace, "trace", "window_start_ns"), (Integers{100'000}));
  EXPECT_EQ(list_of<std::int64_t>(*trace, "trace", "window_ns"), (Integers{5'000}));
  EXPECT_EQ(list_of<std::int64_t>(*trace, "trace", "base_time_ns"), (Integers{1'700'000'000'000'000'000}));
  EXPECT_EQ(list_of<std::int64_t>(*trace, "trace", "rank"), (Integers{3}));
  EXPECT_EQ(list_of<std::int64_t>(*trace, "trace", "world_size"), (Integers{8}));
  EXPECT_EQ(list_of<bool>(*trace, "trace", "record_shapes")[0], true);
  EXPECT_EQ(list_of<bool>(*trace, "trace", "with_stack")[0], std::nullopt);
  EXPECT_EQ(list_of<std::string_view>(*trace, "trace", "host_name"), (Texts{std::nullopt}));
  EXPECT_EQ(list_of<std::string_view>(*trace, "metadata", "key"), (Texts{"cuda_runtime_version", "oddity"}));
  EXPECT_EQ(list_of<std::string_view>(*trace, "devices", "name"), (Texts{"NVIDIA H200", std::nullopt}));
  EXPECT_EQ(list_of<std::int64_t>(*trace, "devices", "multiprocessors"), (Integers{132, std::nullopt}));
  EXPECT_EQ(list_of<std::int64_t>(*trace, "devices", "memory_bytes"), (Integers{std::nullopt, std::nullopt}));
}

TEST(Schema, Problems) {
  const auto trace = read_ok(kHandMade);
  Texts found;
  for (const std::string& line : problem_lines(trace->diagnostics)) found.emplace_back(line.substr(0, line.find(' ')));
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(list_of<std::string_view>(*trace, "diagnostics", "problem"), found);
  for (const auto& count : list_of<std::int64_t>(*trace, "diagnostics", "count")) EXPECT_GT(count, 0);
}

// A batch is the same wherever it starts.
TEST(Schema, AnyRangeOfRows) {
  const auto trace = read_ok(fixture("gpt_eager_train_stack_mem"));
  const schema::Table& table = *schema::find_table("args");
  const schema::TableRows rows = table.rows(*trace);
  const auto whole = read_column<std::string_view>(rows, find_column(table, "key"), rows.count);
  ASSERT_GT(rows.count, 5000U);
  const schema::ColumnReader reader(rows, find_column(table, "key"));
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    const std::size_t first = random() % rows.count, count = std::min<std::size_t>(random() % 50, rows.count - first);
    std::vector<std::string_view> values(count);
    std::vector<std::uint8_t> known(count);
    reader.read<std::string_view>(first, {values, known});
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(values[i], whole[first + i]);
  }
}

// docs/schema.md is what the schema says, behind an introduction. `make update` writes it anew.
TEST(SchemaDocument, IsTheSchema) {
  const std::string path = test::source_dir() + "/docs/schema.md";
  const std::string document = contents(path), tables = schema::as_markdown();
  const std::string introduction = document.substr(0, document.find("\n## "));
  if (std::getenv("RIDGE_UPDATE") != nullptr) {
    std::ofstream(path) << introduction << tables;
    return;
  }
  EXPECT_EQ(document, introduction + tables) << "the schema has changed: make update";
}

}  // namespace
}  // namespace ridge::test
