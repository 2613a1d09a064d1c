// The schema's getters fill the columns of a Table, batch by batch, several columns at a time.
#include "engine/schema_table.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <ridge/render.h>

#include "base/in_parallel.h"
#include "trace/schema/schema.h"

namespace ridge {
namespace {

constexpr std::size_t kBatch = 1024;  // rows: what a batch takes stays in a core's own cache
constexpr std::size_t kGroup = 5;     // columns that a thread fills together: few enough for several threads

// By schema::ColumnType.
constexpr std::array kTypes = {Type::integer, Type::number, Type::boolean, Type::text};

Type type_of(const schema::Column& column) { return kTypes[static_cast<std::size_t>(column.type())]; }

// What tables know of units; of others the column's name tells.
Unit unit_called(std::string_view name) {
  constexpr std::pair<std::string_view, Unit> kUnits[] = {
      {"count", Unit::count}, {"ns", Unit::ns}, {"bytes", Unit::bytes}, {"flop", Unit::flop}, {"percent", Unit::percent}};
  const auto* const found = std::ranges::find(kUnits, name, [](const auto& unit) { return unit.first; });
  return found == std::end(kUnits) ? Unit::none : found->second;
}

// What is read of a batch before it goes into the table's columns.
struct Scratch {
  template <class T>
  schema::Batch<T> of(std::size_t rows) {
    return {{std::get<std::array<T, kBatch>>(values).data(), rows}, {known.data(), rows}};
  }

  schema::ArgRows arg_rows;
  std::tuple<std::array<std::int64_t, kBatch>, std::array<double, kBatch>, std::array<bool, kBatch>,
             std::array<std::string_view, kBatch>>
      values;
  std::array<std::uint8_t, kBatch> known;
};

template <class T>
void fill(const schema::ColumnReader& reader, std::uint64_t first, std::size_t rows, std::span<const schema::ArgRow> arg_rows,
          Scratch* scratch, Values* out) {
  const schema::Batch<T> batch = scratch->of<T>(rows);
  reader.read<T>(first, batch, arg_rows);
  out->append(std::span<const T>(batch.values), batch.known);
}

using Fill = void (*)(const schema::ColumnReader&, std::uint64_t, std::size_t, std::span<const schema::ArgRow>, Scratch*,
                      Values*);
constexpr std::array<Fill, 4> kFill = {fill<std::int64_t>, fill<double>, fill<bool>, fill<std::string_view>};  // as kTypes

// A column and where its values go.
struct Task {
  schema::ColumnReader reader;
  schema::ColumnType type;
  Values* out;
};

// Columns that one thread fills, a batch of all of them before the next: what they share of an event is then in its cache.
void fill_together(const schema::TableRows& table, std::span<const Task> tasks, std::uint64_t first, std::uint64_t count) {
  const bool share = std::ranges::count_if(tasks, &schema::ColumnReader::reads_arg_rows, &Task::reader) > 1;
  const auto scratch = std::make_unique_for_overwrite<Scratch>();
  for (std::uint64_t row = 0; row < count; row += kBatch) {
    const auto rows = static_cast<std::size_t>(std::min<std::uint64_t>(kBatch, count - row));
    std::span<const schema::ArgRow> arg_rows;
    if (share) arg_rows = scratch->arg_rows.look_up(table, first + row, rows);
    for (const Task& task : tasks)
      kFill[static_cast<std::size_t>(task.type)](task.reader, first + row, rows, arg_rows, scratch.get(), task.out);
  }
}

class SchemaTable final : public TraceTable {
 public:
  SchemaTable(std::shared_ptr<const Trace> trace, const schema::Table& table, const TraceTableInfo& info,
              std::shared_ptr<Threads> threads)
      : trace_(std::move(trace)), table_(table), info_(info), threads_(std::move(threads)), rows_(table.rows(*trace_)) {}

  const TraceTableInfo& info() const override { return info_; }
  std::uint64_t size() const override { return rows_.count; }

  Table read(std::span<const std::size_t> columns, std::uint64_t first, std::uint64_t count) const override {
    first = std::min(first, rows_.count);
    count = std::min(count, rows_.count - first);
    Table out;
    out.name = info_.name;
    for (const std::size_t i : columns) {
      const schema::Column& column = table_.columns[i];
      out.columns.push_back({std::string(column.name), type_of(column), unit_called(column.unit)});
    }
    out.reserve(count);  // by one thread, so that the columns lie one behind the other
    std::vector<Task> tasks;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const schema::Column& column = table_.columns[columns[i]];
      schema::ColumnReader reader(rows_, column);
      if (reader.is_absent()) {
        out.columns[i].values.append_unknown(type_of(column), count);
      } else {
        tasks.push_back({std::move(reader), column.type(), &out.columns[i].values});
      }
    }
    // Those that share what they look up first.
    std::ranges::stable_partition(tasks, &schema::ColumnReader::reads_arg_rows, &Task::reader);
    const Threads::Use use(threads_.get());
    const std::size_t groups = (tasks.size() + kGroup - 1) / kGroup;
    for_each_index({count * tasks.size()}, groups, [&](std::size_t i) {
      fill_together(rows_, std::span(tasks).subspan(i * kGroup, std::min(kGroup, tasks.size() - i * kGroup)), first, count);
    });
    return out;
  }

 private:
  const std::shared_ptr<const Trace> trace_;
  const schema::Table& table_;
  const TraceTableInfo& info_;
  const std::shared_ptr<Threads> threads_;
  const schema::TableRows rows_;
};

}  // namespace

std::span<const TraceTableInfo> trace_tables() {
  static const auto columns = [] {
    std::vector<std::vector<TraceColumnInfo>> all;
    for (const schema::Table& table : schema::tables()) {
      for (auto& of_table = all.emplace_back(); const schema::Column& c : table.columns)
        of_table.push_back({c.name, type_of(c), c.unit, c.line});
    }
    return all;
  }();
  static const auto infos = [] {
    std::vector<TraceTableInfo> all;
    for (const schema::Table& table : schema::tables()) all.push_back({table.name, table.line, columns[all.size()]});
    return all;
  }();
  return infos;
}

Result<std::shared_ptr<const TraceTable>> make_trace_table(std::shared_ptr<const Trace> trace, std::string_view name,
                                                           std::shared_ptr<Threads> threads) {
  std::vector<std::string_view> names;
  for (const TraceTableInfo& info : trace_tables()) {
    if (info.name == name) {
      return std::make_shared<const SchemaTable>(std::move(trace), *schema::find_table(name), info, std::move(threads));
    }
    names.push_back(info.name);
  }
  return fail(ErrorCode::usage, "a trace has no table '" + std::string(name) + "'", "", did_you_mean(name, names));
}

}  // namespace ridge
