// Lays out the help texts: a left column of names, a right one of descriptions.
#include "help.h"

#include <algorithm>

#include <fmt/format.h>

#include "catalog.h"
#include "commands.h"
#include "flags.h"
#include "standard_streams.h"

namespace ridge::cli {
namespace {

constexpr std::string_view kPurpose = "where the GPU's time goes in a torch.profiler trace";
constexpr std::string_view kTraceNote =
    "TRACE is a torch.profiler trace: .json, .json.gz, .json.zst, - for standard input, or a folder with one trace.\n";
constexpr std::string_view kTracesNote =
    "TRACE is a torch.profiler trace: .json, .json.gz, .json.zst, - for standard input, or a folder of traces.\n";
constexpr std::string_view kInputNote =
    "IN is a torch.profiler trace: .json, .json.gz, .json.zst, or a folder with one trace; not a pipe, because it is read "
    "twice.\n";
constexpr std::string_view kRecordNote =
    "-o names a folder (default: ridge-DATE-TIME) or a file that ends in .json.gz. Every process that trains writes a trace of "
    "its\nown "
    "there: trace.json.gz, or rank0.json.gz, rank1.json.gz, ... of a job. Exit code and signals are COMMAND's.\n";
constexpr std::string_view kBenchNote =
    "TRACE is a torch.profiler trace with shapes. Instead of it: a folder of scripts that ridge replay has written, one such "
    "script, "
    "or a\nmodule that Inductor has generated (output_code.py), which is run as it is. Needs a Python with PyTorch, and a GPU "
    "to time "
    "on.\n";
constexpr std::string_view kExitNote =
    "Exit codes: 0 done, 1 cannot read or analyse, 2 wrong usage, 3 a gate failed (check --strict, diff --fail-above, "
    "...),\n130 Ctrl-C, 143 SIGTERM, 129 terminal closed.\n";

constexpr std::size_t kLeftColumn = 30;

std::string entry(std::string_view left, std::string_view right) {
  return fmt::format("  {:<{}}{}\n", left, kLeftColumn, right);
}

std::string flag_entries(bool answers = true) {
  std::string text;
  for (const Flag& flag : flags()) {
    if (flag.of_answers && !answers) continue;
    const bool has_short = flag.names.find(',') != std::string_view::npos;
    std::string left = (has_short ? "" : "    ") + std::string(flag.names);
    if (has_short) left.insert(left.find(',') + 1, " ");
    if (!flag.value.empty()) left += fmt::format(" {}", flag.value);
    text += entry(left, flag.description);
  }
  return text;
}

std::string parameter_entries(const AnalysisInfo& analysis) {
  std::string text;
  for (const Parameter& parameter : analysis.parameters) {
    const std::string_view value = parameter.type == Type::boolean ? "" : parameter.type == Type::text ? " TEXT" : " N";
    text += entry(fmt::format("    {}{}", flag_of(parameter), value), parameter.description);
  }
  return text;
}

std::string command_entries() {
  std::string text = "Questions about a trace:\n";
  for (const AnalysisInfo& analysis : analyses()) {
    if (!analysis.needs_trace) continue;
    const std::string_view trace = operand_is_last(analysis) ? " TRACE" : "";  // where its place is not behind all else
    text += entry(fmt::format("{}{}{}", analysis.name, trace, operand_of(analysis, " ", "")), analysis.description);
  }
  text += "\nOther commands:\n";
  for (const AnalysisInfo& analysis : analyses()) {
    if (!analysis.needs_trace) text += entry(analysis.name, analysis.description);
  }
  for (const Command& command : commands())
    text += entry(fmt::format("{} {}", command.name, command.operand), command.description);
  return text;
}

std::string examples() {
  const std::string_view first = default_command();
  return "Examples:\n" + entry("ridge trace.json.gz", fmt::format("the same as ridge {} trace.json.gz", first)) +
         entry(fmt::format("ridge {} --json t.json", first), "for scripts: exact numbers in base units") +
         entry(fmt::format("ridge {} -f md t.json", first), "for an issue or a pull request") +
         entry(fmt::format("zcat t.gz | ridge {} -", first), "from a pipe");
}

std::string full_help() {
  return fmt::format("ridge {}: {}\n\nusage: ridge [COMMAND] [FLAGS] TRACE...\n\n", version(), kPurpose) + command_entries() +
         "\nFlags, before or after the trace:\n" + flag_entries() + "\n" + examples() + "\n" + std::string(kTraceNote) +
         std::string(kExitNote);
}

std::string analysis_help(const AnalysisInfo& analysis) {
  const std::string traces = !analysis.needs_trace ? "" : analysis.fewest_traces > 1 ? " TRACE TRACE..." : " TRACE";
  const std::string operand = operand_of(analysis, " ", "");
  const std::string operands = operand_is_last(analysis) ? traces + operand : operand + traces;
  std::string text = fmt::format("ridge {}: {}\n\nusage: ridge {} [FLAGS]{}\n\n", analysis.name, analysis.description,
                                 analysis.name, operands);
  if (!analysis.parameters.empty()) text += fmt::format("Flags of {}:\n{}\n", analysis.name, parameter_entries(analysis));
  text += "Common flags:\n" + flag_entries();
  if (!analysis.needs_trace) return text;
  return text + "\n" + std::string(analysis.fewest_traces > 1 ? kTracesNote : kTraceNote);
}

std::string command_help(const Command& command) {
  const std::string_view space = command.operand.empty() ? "" : " ";
  std::string text = fmt::format("ridge {}: {}\n\nusage: ridge {}{}{}\n", command.name, command.description, command.name,
                                 space, command.operand);
  const AnalysisInfo* described = describe(command.name);
  if (described == nullptr) return text;
  const std::string_view note = command.name == "bench"                   ? kBenchNote
                                : command.operand.ends_with("OUT")        ? kInputNote
                                : command.operand.ends_with("COMMAND...") ? kRecordNote
                                                                          : kTracesNote;
  return text + fmt::format("\nFlags of {}:\n{}\nCommon flags:\n{}\n{}", command.name, parameter_entries(*described),
                            flag_entries(command.answers), note);
}

Result<std::string> help_on(const std::string& name) {
  if (const AnalysisInfo* analysis = find_analysis(name)) return analysis_help(*analysis);
  const auto command = std::ranges::find(commands(), name, &Command::name);
  if (command != commands().end()) return command_help(*command);
  return fail(ErrorCode::usage, fmt::format("unknown command '{}'", name), {}, did_you_mean(name, command_names()));
}

}  // namespace

Result<int> run_help(const Invocation& invocation) {
  const auto text = invocation.words.empty() ? Result<std::string>(full_help()) : help_on(invocation.words.front());
  return text.and_then([](const std::string& help) { return write_standard_output(help); }).map([] { return 0; });
}

std::string short_help() {
  return fmt::format("ridge {}: {}\n\nusage: ridge [COMMAND] [FLAGS] TRACE...\n       ridge help\n", version(), kPurpose);
}

}  // namespace ridge::cli
