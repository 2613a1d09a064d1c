// The schema's getters fill the columns of a Table, batch by batch, several rows at a time.
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
#include "base/lasting.h"
#include "trace/schema/schema.h"

namespace ridge {
namespace {

constexpr std::size_t kBatch = 1024;       // rows: what a batch takes stays in a core's own cache
constexpr std::size_t kPart = 8 * kBatch;  // rows that a thread takes at a time

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

// A column and where its values go.
struct Task {
  schema::ColumnReader reader;
  const schema::Column* column;
  Values* values;
  Values::Rows out = {};  // of `values`, where these are written in place
};

// What a thread needs beside the columns that it fills.
struct Scratch {
  schema::ArgRows arg_rows;
  std::array<std::uint8_t, kBatch> known, flags;
  std::array<bool, kBatch> booleans;
  std::array<std::string_view, kBatch> texts;
};

// A batch of one column: rows [first, first + rows) of the trace's table, which begin at `at` of the column.
struct BatchOfRows {
  std::uint64_t first;
  std::size_t at, rows;
  std::span<const schema::ArgRow> arg_rows;
  Scratch* scratch;

  std::span<std::uint8_t> known() const { return {scratch->known.data(), rows}; }
};

void fill_integers(const Task& task, const BatchOfRows& batch) {
  task.reader.read<std::int64_t>(batch.first, {task.out.integers.subspan(batch.at, batch.rows), batch.known()}, batch.arg_rows);
}
void fill_numbers(const Task& task, const BatchOfRows& batch) {
  task.reader.read<double>(batch.first, {task.out.numbers.subspan(batch.at, batch.rows), batch.known()}, batch.arg_rows);
}
void fill_booleans(const Task& task, const BatchOfRows& batch) {
  const std::span<bool> booleans(batch.scratch->booleans.data(), batch.rows);
  task.reader.read<bool>(batch.first, {booleans, batch.known()}, batch.arg_rows);
  std::ranges::copy(booleans, batch.scratch->flags.begin());
  Bitmap::pack({batch.scratch->flags.data(), batch.rows}, task.out.booleans.subspan(batch.at / Bitmap::kBits));
}
void fill_keys(const Task& task, const BatchOfRows& batch) {
  task.reader.read_keys(batch.first, {task.out.codes.subspan(batch.at, batch.rows), batch.known()}, batch.arg_rows);
}
constexpr std::array kFill = {fill_integers, fill_numbers, fill_booleans, fill_keys};  // as kTypes

// Some rows of all columns: what these share of an event is then in the thread's cache.
void fill_part(const schema::TableRows& table, std::span<const Task> tasks, std::uint64_t first, std::size_t from,
               std::size_t to) {
  const bool share = std::ranges::count_if(tasks, &schema::ColumnReader::reads_arg_rows, &Task::reader) > 1;
  const auto scratch = std::make_unique_for_overwrite<Scratch>();
  for (std::size_t at = from; at < to; at += kBatch) {
    BatchOfRows batch{first + at, at, std::min(kBatch, to - at), {}, scratch.get()};
    if (share) batch.arg_rows = scratch->arg_rows.look_up(table, batch.first, batch.rows);
    for (const Task& task : tasks) {
      kFill[static_cast<std::size_t>(task.column->type())](task, batch);
      Bitmap::pack(batch.known(), task.out.known.subspan(at / Bitmap::kBits));
    }
  }
}

// Keys become codes of the texts that they stand for, in the order of the rows.
void encode(const Task& task) {
  constexpr std::uint32_t kNone = UINT32_MAX;
  std::vector<std::uint32_t> code_of(task.reader.keys(), kNone);
  for (std::size_t row = 0; row < task.out.codes.size(); ++row) {
    if (((task.out.known[row / Bitmap::kBits] >> (row % Bitmap::kBits)) & 1U) == 0) continue;  // its code is 0
    std::uint32_t& key = task.out.codes[row];
    std::uint32_t& code = code_of[key];
    if (code == kNone) code = task.out.dictionary->add(task.reader.text_of(key));
    key = code;
  }
}

// Texts without keys, or with so many that a table of them all would take longer than the rows.
void append_texts(const Task& task, std::uint64_t first, std::uint64_t count) {
  const auto scratch = std::make_unique_for_overwrite<Scratch>();
  for (std::uint64_t row = 0; row < count; row += kBatch) {
    const auto rows = static_cast<std::size_t>(std::min<std::uint64_t>(kBatch, count - row));
    const schema::Batch<std::string_view> batch{{scratch->texts.data(), rows}, {scratch->known.data(), rows}};
    task.reader.read<std::string_view>(first + row, batch);
    task.values->append(batch.values, batch.known);
  }
}
bool is_appended(const Task& task, std::uint64_t count) {
  constexpr std::uint64_t kKeysOfARow = 4;
  const std::size_t keys = task.reader.keys();
  return task.column->type() == schema::ColumnType::text && (keys == 0 || keys / kKeysOfARow > count);
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
    std::vector<Task> in_place, appended;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const schema::Column& column = table_.columns[columns[i]];
      Task task{schema::ColumnReader(rows_, column), &column, &out.columns[i].values};
      if (!task.reader.is_absent() && is_appended(task, count)) {
        appended.push_back(std::move(task));
        continue;
      }
      task.values->append_unknown(type_of(column), count);
      if (task.reader.is_absent()) continue;
      task.out = task.values->rows_to_write();
      in_place.push_back(std::move(task));
    }
    const Threads::Use use(threads_.get());
    fill(in_place, first, static_cast<std::size_t>(count));
    for_each_index({count * appended.size()}, appended.size(), [&](std::size_t i) { append_texts(appended[i], first, count); });
    return out;
  }

 private:
  // Threads take parts of the rows, then columns of texts.
  void fill(std::span<const Task> tasks, std::uint64_t first, std::size_t count) const {
    const JobSize size{count * tasks.size()};
    for_each_index(size, (count + kPart - 1) / kPart,
                   [&](std::size_t i) { fill_part(rows_, tasks, first, i * kPart, std::min(count, (i + 1) * kPart)); });
    std::vector<const Task*> texts;
    for (const Task& task : tasks)
      if (task.column->type() == schema::ColumnType::text) texts.push_back(&task);
    for_each_index(size, texts.size(), [&](std::size_t i) { encode(*texts[i]); });
  }

  const std::shared_ptr<const Trace> trace_;
  const schema::Table& table_;
  const TraceTableInfo& info_;
  const std::shared_ptr<Threads> threads_;
  const schema::TableRows rows_;
};

}  // namespace

std::span<const TraceTableInfo> trace_tables() {
  static const auto& columns = lasting([] {
    std::vector<std::vector<TraceColumnInfo>> all;
    for (const schema::Table& table : schema::tables()) {
      for (auto& of_table = all.emplace_back(); const schema::Column& c : table.columns)
        of_table.push_back({c.name, type_of(c), c.unit, c.line});
    }
    return all;
  }());
  static const auto& infos = lasting([] {
    std::vector<TraceTableInfo> all;
    for (const schema::Table& table : schema::tables()) all.push_back({table.name, table.line, columns[all.size()]});
    return all;
  }());
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
