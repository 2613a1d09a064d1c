// Which file a table goes to, and how its rows get there: texts as codes of all rows at once, numbers batch by batch.
#include "engine/arrow_export.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <ridge/output_file.h>
#include <ridge/render.h>
#include <ridge/trace_table.h>

#include "base/try.h"
#include "engine/schema_table.h"
#include "render/arrow_file.h"

namespace ridge {
namespace {

constexpr std::string_view kEnding = ".arrow";
// What a user who gives such a name expects, and would get a folder of that name.
constexpr std::string_view kOtherFormats[] = {".parquet", ".pq", ".feather", ".csv", ".json", ".json.gz"};
constexpr std::uint64_t kRowsOfBatch = 1 << 20;  // a multiple of 64: masks are cut between words

std::vector<std::string_view> table_names() {
  std::vector<std::string_view> names;
  for (const TraceTableInfo& info : trace_tables()) names.push_back(info.name);
  return names;
}

// Columns of a table by whether they hold texts.
struct Split {
  explicit Split(const TraceTableInfo& info) {
    for (std::size_t i = 0; i < info.columns.size(); ++i) (info.columns[i].type == Type::text ? texts : numbers).push_back(i);
  }
  std::vector<std::size_t> texts, numbers;
};

// How far all tables are together.
struct Told {
  const ProgressFunction& goes_on;
  std::uint64_t done = 0;
  std::uint64_t all = 0;

  Result<void> rows(std::uint64_t more) {
    done += more;
    if (!goes_on || goes_on(done, all)) return {};
    return fail(ErrorCode::interrupted, "interrupted");
  }
};

Result<void> write_rows(const TraceTable& table, const Writer& write, Told* told) {
  const Split split(table.info());
  Table texts = table.read(split.texts, 0, table.size());
  Table first = table.read(split.numbers, 0, 0);  // names, types and units of the others
  std::vector<Column> columns(table.info().columns.size());
  for (std::size_t i = 0; i < split.texts.size(); ++i) columns[split.texts[i]] = std::move(texts.columns[i]);
  for (std::size_t i = 0; i < split.numbers.size(); ++i) columns[split.numbers[i]] = std::move(first.columns[i]);
  render::ArrowFile file(write);
  if (auto begun = file.begin(columns); !begun) return begun;
  for (std::uint64_t row = 0; row < table.size(); row += kRowsOfBatch) {
    const Table numbers = table.read(split.numbers, row, kRowsOfBatch);
    const std::uint64_t rows = std::min(kRowsOfBatch, table.size() - row);
    std::vector<render::ArrowFile::Slice> slices(columns.size());
    for (const std::size_t i : split.texts) slices[i] = {&columns[i], row};
    for (std::size_t i = 0; i < split.numbers.size(); ++i) slices[split.numbers[i]] = {&numbers.columns[i], 0};
    if (auto done = file.batch(slices, rows); !done) return done;
    if (auto more = told->rows(rows); !more) return more;
  }
  return file.finish();
}

}  // namespace

Result<ExportPlan> plan_export(const std::vector<std::string>& names, const std::string& output) {
  ExportPlan plan;
  const std::vector<std::string_view> known = table_names();
  for (const std::string& name : names) {
    if (std::ranges::find(known, name) == known.end())
      return fail(ErrorCode::usage, "a trace has no table '" + name + "'", "", did_you_mean(name, known));
  }
  plan.tables = names.empty() ? std::vector<std::string>(known.begin(), known.end()) : names;
  const bool is_folder = output.empty() || output.ends_with('/') || std::filesystem::is_directory(output);
  const auto ends = [&](std::string_view ending) { return output.ends_with(ending); };
  if (!is_folder && std::ranges::any_of(kOtherFormats, ends)) {
    const std::string_view parquet = ends(".parquet") || ends(".pq") ? "Parquet" : "that format";
    return fail(ErrorCode::usage, "ridge export writes Arrow files, not " + std::string(parquet), output,
                "a name that ends with .arrow and --table NAME, or a folder; for Parquet ridge.export(trace, out, "
                "format=\"parquet\") in Python");
  }
  if (!output.ends_with(kEnding) && output != "-") {
    plan.folder = output;
    for (const std::string& table : plan.tables)
      plan.paths.push_back((std::filesystem::path(output) / (table + std::string(kEnding))).string());
    return plan;
  }
  if (plan.tables.size() != 1) {
    return fail(ErrorCode::usage, "an Arrow file holds one table", output, "name it with --table, or give a folder");
  }
  plan.paths = {output};
  return plan;
}

Result<ExportCounts> export_tables(const std::shared_ptr<const Trace>& trace, const ExportPlan& plan,
                                   const std::shared_ptr<Threads>& threads, const ProgressFunction& goes_on) {
  if (!plan.folder.empty()) {
    std::error_code error;
    std::filesystem::create_directories(plan.folder, error);
    if (error) return fail(ErrorCode::cannot_write, "cannot make the folder: " + error.message(), plan.folder);
  }
  std::vector<std::shared_ptr<const TraceTable>> tables;
  Told told{goes_on};
  for (const std::string& name : plan.tables) {
    TRY(std::shared_ptr<const TraceTable> table, make_trace_table(trace, name, threads));
    told.all += table->size();
    tables.push_back(std::move(table));
  }
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const auto fill = [&](const Writer& write) { return write_rows(*tables[i], write, &told); };
    if (auto done = write_output_file(plan.paths[i], fill); !done) return tl::unexpected(done.error());
  }
  return ExportCounts{tables.size(), told.done};
}

}  // namespace ridge
