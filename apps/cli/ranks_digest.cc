// From the command line to write_digests().
#include "ranks_digest.h"

#include <fmt/format.h>

#include <ridge/digest.h>

#include "error_text.h"
#include "open_traces.h"
#include "progress_bar.h"
#include "standard_streams.h"
#include "terminal.h"

namespace ridge::cli {

Result<int> write_digests_of(const Invocation& invocation) {
  const std::string& output = invocation.arguments.at("digest");
  if (output == "-")
    return fail(ErrorCode::usage, "--digest writes a file or a folder", {}, "ridge ranks --digest job.digest TRACE...");
  ProgressBar bar(shows_progress(invocation.settings));
  const auto written = write_digests(
      invocation.words, output, completed(invocation, {.digest_findings = invocation.arguments.contains("findings")}, &bar));
  if (!written) return tl::unexpected(written.error());
  bar.erase();
  if (invocation.settings.quiet) return 0;
  write_standard_error(warning_text(written->diagnostics));
  write_standard_error(fmt::format("{}: digests of {} rank{}, {:.2f} MB\n", output, written->ranks,
                                   written->ranks == 1 ? "" : "s", static_cast<double>(written->bytes) / 1e6));
  return 0;
}

}  // namespace ridge::cli
