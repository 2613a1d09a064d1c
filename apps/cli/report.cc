// Checks the output first, then reads the traces and writes the page.
#include "report.h"

#include <array>

#include <ridge/output_file.h>

#include "analysis_defaults.h"
#include "bench_results.h"
#include "interrupt.h"
#include "job_before.h"
#include "open_traces.h"
#include "server/report_file.h"
#include "standard_streams.h"

namespace ridge::cli {
namespace {

constexpr std::array kOwnOfReport = {kBenchParameter, kBeforeParameter};

}  // namespace

std::span<const Parameter> report_parameters() {
  static const std::vector<Parameter> all = with_analysis_defaults(kOwnOfReport);
  return all;
}

Result<int> run_report(const Invocation& given) {
  const auto expanded = with_traces_of_folders(given);
  if (!expanded) return tl::unexpected(expanded.error());
  const Invocation& invocation = *expanded;
  const std::string& output = invocation.settings.output;
  if (const auto checked = check_traces(invocation); !checked) return tl::unexpected(checked.error());
  if (output.empty())
    return fail(ErrorCode::usage, "report needs an output file", {},
                "ridge report trace.json -o report.html; -o - writes to standard output");
  const bool to_file = output != "-";
  if (to_file) {
    if (const auto checked = check_output(output, invocation.words); !checked) return tl::unexpected(checked.error());
  }
  const auto page = server::report_page();
  if (!page) return tl::unexpected(page.error());
  const auto engine = open_traces(invocation, {.keep_places = true});
  if (!engine) return tl::unexpected(engine.error());
  const auto bench = read_bench(*engine, invocation.arguments, invocation.settings.quiet);
  if (!bench) return tl::unexpected(bench.error());
  server::ShownBeside beside{.bench = *bench};
  if (auto read = read_before(*engine, invocation.arguments, &beside); !read) return tl::unexpected(read.error());
  const Arguments defaults = analysis_defaults(invocation.arguments, kOwnOfReport);
  if (auto there = check_scope(*engine, defaults); !there) return tl::unexpected(there.error());
  // A report is sent to others: it says what the traces are called, not where they lie on this machine.
  const server::Site site(*engine, defaults, false, beside);
  const auto text = server::make_report(site, *page);
  if (!text) return tl::unexpected(text.error());
  if (interrupted()) return fail(ErrorCode::interrupted, "interrupted");
  return (to_file ? write_output_file(output, *text) : write_standard_output(*text)).map([] { return 0; });
}

}  // namespace ridge::cli
