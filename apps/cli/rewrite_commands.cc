// Splits a command line into inputs and output and hands both to the engine's rewrites.
#include "rewrite_commands.h"

#include <algorithm>

#include <fmt/format.h>

#include <ridge/rewrite.h>

#include "error_text.h"
#include "interrupt.h"
#include "memory_limit.h"
#include "progress_bar.h"
#include "standard_streams.h"
#include "terminal.h"

namespace ridge::cli {
namespace {

std::span<const Parameter> parameters_of(std::string_view name) {
  const auto all = rewrites();
  const auto found = std::ranges::find(all, name, [](const RewriteInfo& rewrite) { return rewrite.info.name; });
  return found == all.end() ? std::span<const Parameter>() : found->info.parameters;
}

struct Files {
  std::vector<std::string> inputs;
  std::string output;
};

Result<Files> files_of(const Invocation& invocation) {
  Files files{invocation.words, invocation.settings.output};
  if (files.output.empty() && !files.inputs.empty()) {
    files.output = files.inputs.back();
    files.inputs.pop_back();
  }
  if (!files.inputs.empty()) return files;
  return fail(ErrorCode::usage, fmt::format("{} needs an input and an output", invocation.command), {},
              fmt::format("see ridge help {}", invocation.command));
}

}  // namespace

Result<int> run_rewrite(const Invocation& invocation) {
  const auto files = files_of(invocation);
  if (!files) return tl::unexpected(files.error());
  ProgressBar bar(shows_progress(invocation.settings));
  const OpenOptions options{.threads = invocation.settings.threads,
                            .max_bytes = invocation.settings.max_bytes,
                            .max_memory = machine_memory_limit(),
                            .captures = invocation.settings.captures,
                            .progress = [&bar](const Progress& progress) {
                              bar.update(progress);
                              return !interrupted();
                            }};
  const auto summary = rewrite(invocation.command, files->inputs, files->output, invocation.arguments, options);
  bar.erase();
  if (!summary) return tl::unexpected(summary.error());
  if (!invocation.settings.quiet) write_standard_error(warning_text(summary->diagnostics));
  return 0;
}

std::span<const Parameter> augment_parameters() { return parameters_of("augment"); }
std::span<const Parameter> cut_parameters() { return parameters_of("cut"); }
std::span<const Parameter> export_parameters() { return parameters_of("export"); }

}  // namespace ridge::cli
