// Scripts come as texts of the report's second table; the first says of every call what became of it.
#include "replay_files.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include <fmt/format.h>

#include <ridge/json.h>
#include <ridge/output_file.h>
#include <ridge/render.h>

#include "standard_streams.h"

namespace ridge::cli {
namespace {

namespace fs = std::filesystem;

bool many(const Invocation& invocation) { return invocation.arguments.contains("all") || invocation.arguments.contains("top"); }

const Table* find_table(const Report& report, std::string_view name) {
  for (const Table& table : report.tables) {
    if (table.name == name) return &table;
  }
  return nullptr;
}

// [{"script", "kernel", "op", "count", "time_ns", "status", "reason", "note", "by_compiler"}]: every call of the trace, so that
// times add up.
std::string index_of(const Table& calls) {
  std::string out = "[";
  const bool compiles = std::ranges::any_of(calls.columns, [](const auto& column) { return column.name == "by_compiler"; });
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const auto text = [&](std::string_view column) { return calls.column(column).text(i).value_or(""); };
    JsonWriter row;
    row.object([&] {
      row.members("script", TextOrNull{text("script")}, "kernel", text("kernel"), "op", TextOrNull{text("op")}, "count",
                  calls.column("count").int64(i).value_or(0), "time_ns", calls.column("time_ns").int64(i).value_or(0), "status",
                  text("status"), "reason", TextOrNull{text("reason")}, "note", TextOrNull{text("note")});
      const bool by_compiler = compiles && calls.column("by_compiler").boolean(i).value_or(false);
      row.key("by_compiler").raw(by_compiler ? "true" : "false");
    });
    out += (i == 0 ? "\n" : ",\n") + row.take();
  }
  return out + "\n]\n";
}

// The names that scripts get: 0001_aten_mm.py.
bool is_script_name(std::string_view name) {
  constexpr std::size_t kDigits = 4;
  return name.size() > kDigits && name[kDigits] == '_' && name.ends_with(".py") &&
         std::ranges::all_of(name.substr(0, kDigits), [](char c) { return c >= '0' && c <= '9'; });
}

// Scripts of another trace would stand beside those of the index: a folder that has an index is written anew.
void remove_earlier(const fs::path& folder) {
  std::error_code error;
  if (!fs::exists(folder / "index.json", error)) return;
  std::vector<fs::path> earlier;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->is_regular_file(error) && is_script_name(it->path().filename().string())) earlier.push_back(it->path());
  }
  for (const fs::path& path : earlier) fs::remove(path, error);
}

Result<void> write_folder(const Report& report, const Table& scripts, const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return fail(ErrorCode::cannot_write, "the folder cannot be made: " + error.message(), folder);
  remove_earlier(folder);
  for (std::size_t i = 0; i < scripts.size(); ++i) {
    const std::string path = (fs::path(folder) / std::string(scripts.column("script").text(i).value_or(""))).string();
    if (auto written = write_output_file(path, scripts.column("text").text(i).value_or("")); !written) return written;
  }
  if (auto written = write_output_file((fs::path(folder) / "index.json").string(), index_of(report.tables.front())); !written)
    return written;
  const std::size_t calls = report.tables.front().size();
  return write_standard_output(fmt::format("{} scripts of {} calls in {}{}{}\n", scripts.size(), calls, printable(folder),
                                           report.headline.empty() ? "" : "; ", report.headline));
}

}  // namespace

bool writes_script_folder(const Invocation& invocation) {
  const std::string& output = invocation.settings.output;
  return invocation.command == "replay" && invocation.settings.format == nullptr && many(invocation) && !output.empty() &&
         output != "-";
}

bool writes_scripts(const Invocation& invocation) {
  if (invocation.command != "replay" || invocation.settings.format != nullptr) return false;
  if (many(invocation)) return writes_script_folder(invocation);
  return invocation.arguments.contains("kernel") || invocation.arguments.contains("op") ||
         invocation.arguments.contains("shape");
}

Result<void> write_replay_scripts(const Report& report, const Invocation& invocation) {
  const Table* scripts = find_table(report, "scripts");
  const std::string& output = invocation.settings.output;
  if (scripts != nullptr && writes_script_folder(invocation)) return write_folder(report, *scripts, output);
  if (scripts == nullptr || scripts->empty()) {
    const Table& calls = report.tables.front();
    const std::string reason(calls.empty() ? "" : calls.column("reason").text(0).value_or(""));
    return fail(ErrorCode::cannot_write, "no script can be made" + (reason.empty() ? "" : ": " + reason));
  }
  const std::string_view text = scripts->column("text").text(0).value_or("");
  return output.empty() || output == "-" ? write_standard_output(text) : write_output_file(output, text);
}

}  // namespace ridge::cli
