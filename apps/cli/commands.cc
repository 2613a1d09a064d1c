// The table of commands, and the dispatch: a row of this table, else an analysis of the catalog.
#include "commands.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "bench.h"
#include "commit.h"
#include "completion.h"
#include "help.h"
#include "mcp.h"
#include "record.h"
#include "report.h"
#include "rewrite_commands.h"
#include "run_analysis.h"
#include "serve.h"
#include "show.h"
#include "standard_streams.h"

namespace ridge::cli {
namespace {

Result<int> run_version(const Invocation&) {
  const std::string built_from = commit().empty() ? "" : fmt::format(" ({})", commit());
  return write_standard_output(fmt::format("ridge {}{}\n", version(), built_from)).map([] { return 0; });
}

// Flags that shape an answer, given to a command that writes a file or serves pages.
Result<void> check_answer_flags(const Command& command, const Settings& settings) {
  if (command.answers || command.run == run_help || command.run == run_version)
    return {};  // --help and --version win over whatever else was asked
  const std::string_view flag = settings.format != nullptr   ? "--format"
                                : settings.limit.has_value() ? "--limit"
                                : !settings.sort.empty()     ? "--sort"
                                : settings.wide              ? "--wide"
                                                             : "";
  if (flag.empty()) return {};
  return fail(ErrorCode::usage, fmt::format("{} prints no tables: {} does not apply", command.name, flag), {},
              fmt::format("see ridge help {}", command.name));
}

constexpr std::array kCommands = {
    Command{"augment", "[FLAGS] IN OUT", "copy a trace and add FLOPs, bytes and roofs to its kernels and ops", run_rewrite,
            augment_parameters},
    Command{"combine", "IN... OUT", "merge several traces into one: the ranks of a job side by side", run_rewrite},
    Command{"cut", "[FLAGS] IN OUT", "extract part of a trace: --step, --from, --to", run_rewrite, cut_parameters},
    Command{"export", "[FLAGS] IN OUT", "write the tables of a trace as Arrow files, into a folder or one into a file",
            run_rewrite, export_parameters},
    Command{"record", "[FLAGS] -- COMMAND...", "run a program and record its training steps, without changing it", run_record,
            record_parameters},
    Command{"bench", "[FLAGS] TRACE", "run the kernels of a trace alone on this machine's GPU and time them", run_bench,
            bench_parameters, true},
    Command{"show", "ANSWER", "print an answer that was saved with --json: as a table, CSV, Markdown", run_show, nullptr, true},
    Command{"serve", "[FLAGS] TRACE...", "view traces in the browser: a local page with a timeline", run_serve,
            serve_parameters},
    Command{"report", "TRACE... -o FILE", "write one self-contained HTML file, to keep or to send", run_report,
            report_parameters},
    Command{"mcp", "[FLAGS] [TRACE...]", "answer agents: Model Context Protocol on standard input and output", run_mcp,
            mcp_parameters},
    Command{"help", "[COMMAND]", "show this text, or the help of one command", run_help},
    Command{"version", "", "print the version", run_version},
    Command{"completion", "bash|zsh|fish", "print a completion script for your shell", run_completion},
};

}  // namespace

std::span<const Command> commands() { return kCommands; }

Result<int> run(const Invocation& invocation) {
  const auto command = std::ranges::find(kCommands, invocation.command, &Command::name);
  if (command != kCommands.end()) {
    if (const auto checked = check_answer_flags(*command, invocation.settings); !checked)
      return tl::unexpected(checked.error());
  }
  return command != kCommands.end() ? command->run(invocation) : run_analysis(invocation);
}

}  // namespace ridge::cli
