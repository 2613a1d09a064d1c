// Rewrites: a trace in, a trace out, as a table like the catalog of analyses. The input is read twice and never held whole; the
// output appears at its place only when it is complete, packed as its name says (.gz, .zst, else plain); an input is never
// touched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ridge/analysis.h>
#include <ridge/engine.h>
#include <ridge/report.h>
#include <ridge/result.h>

namespace ridge {

struct RewriteInfo {
  AnalysisInfo info;          // name, one line, parameters
  std::string_view operands;  // "IN OUT", for help
  std::size_t least_inputs = 1;
  std::size_t most_inputs = 1;
};

// What was done, for those who want to tell: ("device_events", 1234), ...
struct RewriteSummary {
  std::vector<std::pair<std::string, std::uint64_t>> counts;
  std::vector<Diagnostic> diagnostics;  // of the inputs and of the rewrite itself
};

std::span<const RewriteInfo> rewrites();

// `output` is a path, or "-" for standard output. An input cannot be standard input: it is read twice.
Result<RewriteSummary> rewrite(std::string_view name, const std::vector<std::string>& inputs, const std::string& output,
                               const Arguments& arguments, const OpenOptions& options);

}  // namespace ridge
