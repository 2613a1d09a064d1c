// From the words of a command line to an open Engine.
#include "open_traces.h"

#include <fmt/format.h>

#include <ridge/folder.h>

#include "catalog.h"
#include "interrupt.h"
#include "memory_limit.h"
#include "progress_bar.h"
#include "terminal.h"

namespace ridge::cli {

Result<void> check_traces(const Invocation& invocation) {
  if (!invocation.words.empty()) return {};
  return fail(ErrorCode::usage, fmt::format("{} needs a trace", invocation.command), {},
              fmt::format("ridge {} trace.json", invocation.command));
}

Result<Invocation> with_traces_of_folders(const Invocation& invocation) {
  const AnalysisInfo* const analysis = find_analysis(invocation.command);
  const bool of_job = analysis != nullptr && analysis->whole_job && !invocation.arguments.contains("digest");
  return (of_job ? with_job_folders_expanded(invocation.words) : with_folders_expanded(invocation.words))
      .map([&](std::vector<std::string> traces) {
        Invocation expanded = invocation;
        expanded.words = std::move(traces);
        return expanded;
      });
}

OpenOptions completed(const Invocation& invocation, OpenOptions options, ProgressBar* bar) {
  options.threads = invocation.settings.threads;
  options.max_bytes = invocation.settings.max_bytes;
  options.captures = invocation.settings.captures;
  options.max_memory = machine_memory_limit();
  options.progress = [bar](const Progress& progress) {
    bar->update(progress);
    return !interrupted();
  };
  return options;
}

Result<Engine> open_traces(const Invocation& invocation, OpenOptions options) {
  ProgressBar bar(shows_progress(invocation.settings));
  return Engine::open(invocation.words, completed(invocation, std::move(options), &bar));
}

}  // namespace ridge::cli
