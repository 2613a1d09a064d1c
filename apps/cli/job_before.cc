// Asks once, before the page is served or written; of the other job nothing else is kept.
#include "job_before.h"

#include <filesystem>

#include <ridge/stop.h>

#include "interrupt.h"

namespace ridge::cli {

Result<void> read_before(const Engine& job, const Arguments& arguments, server::ShownBeside* beside) {
  const auto given = arguments.find("before");
  if (given == arguments.end()) return {};
  const StopWhen stop(interrupted_flag());
  auto report = job.run("ranks", {{"before", given->second}});
  if (!report) return tl::unexpected(report.error());
  beside->job_diff = std::make_shared<const Report>(std::move(*report));
  // "runs/old/" is called old.
  const std::filesystem::path path = std::filesystem::path(given->second).lexically_normal();
  beside->before = (path.has_filename() ? path : path.parent_path()).filename().string();
  return {};
}

}  // namespace ridge::cli
