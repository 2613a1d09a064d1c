#include "run_analysis.h"

#include <unistd.h>

#include <fmt/format.h>

#include <ridge/engine.h>
#include <ridge/render.h>

#include "error_text.h"
#include "interrupt.h"
#include "output_file.h"
#include "progress_bar.h"
#include "standard_streams.h"
#include "terminal.h"

namespace ridge::cli {
namespace {

constexpr std::int64_t kRowsForPeople = 20;

bool to_file(const Settings& settings) { return !settings.output.empty() && settings.output != "-"; }

// Three quarters of what the machine has: a trace that needs more would make it swap, which looks like a hang.
std::uint64_t memory_limit() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page_bytes = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page_bytes <= 0) return 0;
  return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_bytes) / 4 * 3;
}

Result<void> check(const Invocation& invocation) {
  if (invocation.words.empty()) {
    return fail(ErrorCode::usage, fmt::format("{} needs a trace", invocation.command), {},
                fmt::format("ridge {} trace.json", invocation.command));
  }
  return to_file(invocation.settings) ? check_output(invocation.settings.output, invocation.words) : Result<void>();
}

Result<Engine> open(const Invocation& invocation) {
  ProgressBar bar(shows_progress(invocation.settings));
  const auto on_progress = [&bar](const Progress& progress) {
    bar.update(progress);
    return !interrupted();
  };
  return Engine::open(invocation.words, {.threads = invocation.settings.threads,
                                         .max_bytes = invocation.settings.max_bytes,
                                         .max_memory = memory_limit(),
                                         .progress = on_progress});
}

Result<Report> answer(const Engine& engine, const Invocation& invocation, const Format& format) {
  const std::int64_t limit = invocation.settings.limit.value_or(format.cut_by_default ? kRowsForPeople : 0);
  return engine.run(invocation.command, invocation.arguments).and_then([&](Report report) -> Result<Report> {
    if (interrupted()) return fail(ErrorCode::interrupted, "interrupted");
    return apply_view(std::move(report), {.sort = invocation.settings.sort, .limit = limit});
  });
}

Result<void> write(const std::string& text, const Settings& settings) {
  return to_file(settings) ? write_output_file(settings.output, text) : write_standard_output(text);
}

// `check` answers with the diagnostics themselves; to warn of them as well would say everything twice.
bool warns(const Invocation& invocation) { return !invocation.settings.quiet && invocation.command != "check"; }

}  // namespace

Result<int> run_analysis(const Invocation& invocation) {
  const auto checked = check(invocation);
  if (!checked) return tl::unexpected(checked.error());
  const auto format = invocation.settings.format != nullptr ? invocation.settings.format : &formats().front();

  const auto engine = open(invocation);
  if (!engine) return tl::unexpected(engine.error());
  const auto report = answer(*engine, invocation, *format);
  if (!report) return tl::unexpected(report.error());
  const auto written = write(format->render(*report, render_options(invocation.settings)), invocation.settings);
  if (!written) return tl::unexpected(written.error());

  if (warns(invocation)) write_standard_error(warning_text(report->diagnostics));
  return report->gate_failed ? kGateFailed : 0;
}

}  // namespace ridge::cli
