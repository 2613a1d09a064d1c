// From the words of a command line to what agents may read; then the protocol takes over standard input and output.
#include "mcp.h"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>

#include "analysis_defaults.h"
#include "interrupt.h"
#include "mcp/access.h"
#include "mcp/standard_io.h"
#include "memory_limit.h"
#include "standard_streams.h"

namespace ridge::cli {
namespace {

constexpr std::array kMcpOwn = {
    Parameter{"root", Type::text, "folder whose traces may be read too, with all folders below it"},
};

}  // namespace

// What holds for all questions, and the limits of queries, which are the user's to set.
std::span<const Parameter> mcp_parameters() {
  static const std::vector<Parameter> all = [] {
    std::vector<Parameter> list = with_analysis_defaults(kMcpOwn);
    const auto known = analyses();
    const auto asked = std::ranges::find(known, "sql", &AnalysisInfo::name);
    std::ranges::copy_if(asked->parameters, std::back_inserter(list),
                         [](const Parameter& each) { return each.name == "max_seconds" || each.name == "max_memory"; });
    return list;
  }();
  return all;
}

Result<int> run_mcp(const Invocation& invocation) {
  const auto given = invocation.arguments.find("root");
  const auto root = given != invocation.arguments.end() ? std::optional(given->second) : std::nullopt;
  if (!root && invocation.words.empty())
    return fail(ErrorCode::usage, "mcp needs a trace or a folder of traces", {},
                "ridge mcp --root DIR, or ridge mcp trace.json");
  const auto access = mcp::Access::make(root, invocation.words, invocation.settings.captures);
  if (!access) return tl::unexpected(access.error());
#ifdef __GLIBC__
  ::mallopt(M_ARENA_MAX, 2);  // tables come and go for as long as it runs, see serve.cc
#endif
  end_at_signals();  // there is nothing to save
  if (::isatty(STDIN_FILENO) != 0 && !invocation.settings.quiet)
    write_standard_error(
        "waiting for messages of the Model Context Protocol: an agent's client starts this (docs/agents.md)\n");
  mcp::SessionOptions options;
  options.defaults = analysis_defaults(invocation.arguments, kMcpOwn);
  options.open.threads = invocation.settings.threads;
  options.open.max_bytes = invocation.settings.max_bytes;
  options.open.max_memory = machine_memory_limit();
  options.open.named_files_only = true;
  options.open.keep_places = true;
  mcp::serve_stdio(*access, options);
  return 0;
}

}  // namespace ridge::cli
