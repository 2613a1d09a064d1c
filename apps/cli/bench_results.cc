// Reads the file that the flag names, once, before the page is served or written.
#include "bench_results.h"

#include <fmt/format.h>

#include "saved_report.h"

namespace ridge::cli {

Result<std::shared_ptr<const Report>> read_bench(const Arguments& arguments) {
  const auto given = arguments.find("bench");
  if (given == arguments.end()) return nullptr;
  auto report = load_saved_report(given->second);
  if (!report) return tl::unexpected(report.error());
  constexpr const char* kHowTo = "ridge bench TRACE --json -o results.json";
  if (report->tables.empty() || report->tables.front().find("kernel") == nullptr)
    return fail(ErrorCode::usage, "--bench lists no kernels", given->second, kHowTo);
  if (const std::string& first = report->tables.front().name; first != "bench")
    return fail(ErrorCode::usage, fmt::format("--bench is given an answer of '{}', not of bench", first), given->second,
                kHowTo);
  return std::make_shared<const Report>(std::move(*report));
}

}  // namespace ridge::cli
