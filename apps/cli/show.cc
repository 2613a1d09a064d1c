// Reads the file whole, then prints as an analysis does: the answer first, then its warnings.
#include "show.h"

#include <ridge/output_file.h>

#include "error_text.h"
#include "saved_report.h"
#include "standard_streams.h"
#include "write_answer.h"

namespace ridge::cli {
Result<int> run_show(const Invocation& invocation) {
  if (invocation.words.size() != 1)
    return fail(ErrorCode::usage, "show takes one saved answer", {},
                "ridge kernels trace.json --json -o k.json; ridge show k.json");
  const Settings& settings = invocation.settings;
  if (to_file(settings)) {
    if (const auto checked = check_output(settings.output, invocation.words); !checked) return tl::unexpected(checked.error());
  }
  auto report = load_saved_report(invocation.words.front());
  if (!report) return tl::unexpected(report.error());
  if (const auto written = write_answer(*report, settings); !written) return tl::unexpected(written.error());
  if (!settings.quiet) write_standard_error(warning_text(std::move(report->diagnostics)));
  return 0;
}

}  // namespace ridge::cli
