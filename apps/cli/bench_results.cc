// Reads the file that the flag names, once, before the page is served or written, and holds it against the traces.
#include "bench_results.h"

#include <algorithm>
#include <functional>
#include <set>
#include <string>

#include <fmt/format.h>

#include "error_text.h"
#include "saved_report.h"
#include "standard_streams.h"

namespace ridge::cli {
namespace {

constexpr const char* kHowTo = "ridge bench TRACE --json -o results.json";

// The texts of a column of that table; none where there is no such table or column.
std::set<std::string, std::less<>> texts_of(const Report& report, std::string_view table, std::string_view column) {
  std::set<std::string, std::less<>> texts;
  for (const Table& each : report.tables) {
    const Column* values = each.name == table ? each.find(column) : nullptr;
    for (std::size_t row = 0; values != nullptr && row < each.size(); ++row) {
      if (const auto text = values->text(row)) texts.emplace(*text);
    }
  }
  return texts;
}

Result<std::set<std::string, std::less<>>> texts_of_traces(const Engine& engine, std::string_view analysis,
                                                           std::string_view table, std::string_view column) {
  std::set<std::string, std::less<>> all;
  for (std::size_t trace = 0; trace < engine.trace_count(); ++trace) {
    const auto report = engine.kept_report(analysis, {}, trace);
    if (!report) return tl::unexpected(report.error());
    all.merge(texts_of(**report, table, column));
  }
  return all;
}

std::string joined(const std::set<std::string, std::less<>>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

Result<std::vector<Diagnostic>> held_against(const Engine& engine, const Report& bench) {
  std::vector<Diagnostic> said;
  if (engine.trace_count() == 0) return said;  // a job: its traces are read when asked for
  const auto kernels = texts_of_traces(engine, "kernels", "kernels", "kernel");
  if (!kernels) return tl::unexpected(kernels.error());
  const auto devices = texts_of_traces(engine, "info", "devices", "name");
  if (!devices) return tl::unexpected(devices.error());
  const auto measured = texts_of(bench, "bench", "kernel");
  const auto missing = static_cast<std::int64_t>(
      std::count_if(measured.begin(), measured.end(), [&](const std::string& name) { return !kernels->contains(name); }));
  if (missing > 0) {
    const bool none = missing == static_cast<std::int64_t>(measured.size());
    said.push_back(
        {"bench_of_other_trace", missing,
         none
             ? fmt::format("--bench: none of its {} kernels is in the trace: it was measured for another one", missing)
             : fmt::format("--bench: {} of its {} kernels are not in the trace, and are not shown", missing, measured.size())});
  }
  for (const std::string& device : texts_of(bench, "machine", "device")) {
    if (devices->empty() || devices->contains(device)) continue;
    said.push_back({"bench_on_other_device", 1,
                    fmt::format("--bench was measured on {}, the trace is of {}: its times are not those of this device",
                                device, joined(*devices))});
  }
  return said;
}

}  // namespace

Result<std::shared_ptr<const Report>> read_bench(const Engine& engine, const Arguments& arguments, bool quiet) {
  const auto given = arguments.find("bench");
  if (given == arguments.end()) return nullptr;
  auto report = load_saved_report(given->second);
  if (!report) return tl::unexpected(report.error());
  if (report->tables.empty() || report->tables.front().find("kernel") == nullptr)
    return fail(ErrorCode::usage, "--bench lists no kernels", given->second, kHowTo);
  if (const std::string& first = report->tables.front().name; first != "bench")
    return fail(ErrorCode::usage, fmt::format("--bench is given an answer of '{}', not of bench", first), given->second,
                kHowTo);
  auto said = held_against(engine, *report);
  if (!said) return tl::unexpected(said.error());
  if (!quiet) write_standard_error(warning_text(*said));
  report->diagnostics = std::move(*said);  // what else it said was for who measured
  return std::make_shared<const Report>(std::move(*report));
}

}  // namespace ridge::cli
