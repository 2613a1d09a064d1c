// Parses the flags, does what each asks, tells what went wrong.
#include "program.h"

#include <new>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <ridge/engine.h>
#include <ridge/rewrite.h>

#include "cli/interrupt.h"
#include "cli/standard_streams.h"
#include "flags.h"
#include "kernel_tables.h"

namespace ridge::profile_analysis {
namespace {

constexpr int kFailed = 1;
constexpr int kUsage = 2;

int tell(const Error& error) {
  if (error.code == ErrorCode::interrupted) {
    cli::write_standard_error("interrupted\n");
    return cli::interrupted_code();
  }
  std::string text = fmt::format("error: {}\n", error.message);
  if (!error.where.empty()) text += fmt::format("  at: {}\n", error.where);
  if (!error.hint.empty()) text += fmt::format("{}{}\n", error.code == ErrorCode::usage ? "" : "  hint: ", error.hint);
  cli::write_standard_error(text);
  return error.code == ErrorCode::usage ? kUsage : kFailed;
}

int print(const std::string& text) {
  const auto written = cli::write_standard_output(text);
  return written ? 0 : tell(written.error());
}

OpenOptions until_interrupted() {
  return {.progress = [](const Progress&) { return !cli::interrupted(); }};
}

int diff(const Flags& flags) {
  const std::string& dtype = flags.diff[4];
  const auto a = tables_of(flags.diff[0], dtype, until_interrupted());
  if (!a) return tell(a.error());
  const auto b = tables_of(flags.diff[2], dtype, until_interrupted());
  if (!b) return tell(b.error());
  return print(diff_text(*a, flags.diff[1], *b, flags.diff[3], flags.name_limit));
}

int analysis(const Flags& flags) {
  const auto tables = tables_of(flags.analysis[0], flags.analysis[1], until_interrupted());
  return tables ? print(analysis_text(*tables, flags.name_limit)) : tell(tables.error());
}

int augment(const Flags& flags) {
  const std::vector<std::string> inputs = {flags.augment_trace[0]};
  const std::string& output = flags.augment_trace[1];
  auto done = rewrite("augment", inputs, output, {{"dtype", flags.augment_trace[2]}}, until_interrupted());
  const bool no_dtype =
      !done && done.error().code == ErrorCode::usage && done.error().message.find("dtype") != std::string::npos;
  if (no_dtype) done = rewrite("augment", inputs, output, {}, until_interrupted());
  return done ? 0 : tell(done.error());
}

int combine(const Flags& flags) {
  const std::vector<std::string> inputs(flags.combine.begin(), flags.combine.end() - 1);
  const std::string& output = flags.combine.back();
  if (inputs.size() < 2) return print("Error: At least 2 input files are required for combining\n");
  const auto done = rewrite("combine", inputs, output, {}, until_interrupted());
  if (!done) return tell(done.error());
  return print(fmt::format("Successfully combined {} into {}\n", fmt::join(inputs, ", "), output));
}

struct Task {
  std::vector<std::string> Flags::* asked;
  int (*run)(const Flags&);
};
constexpr Task kTasks[] = {
    {&Flags::diff, diff}, {&Flags::analysis, analysis}, {&Flags::augment_trace, augment}, {&Flags::combine, combine}};

int run(const std::vector<std::string>& args) {
  const auto flags = parse_flags(args);
  if (!flags) return tell(flags.error());
  if (flags->help) return print(usage());
  for (const Task& task : kTasks) {
    if (((*flags).*task.asked).empty()) continue;
    if (const int code = task.run(*flags)) return code;
  }
  return 0;
}

}  // namespace

int run_program(const std::vector<std::string>& args) {
  cli::install_signal_handlers();
  try {
    return run(args);
  } catch (const std::bad_alloc&) {
    cli::write_standard_error("error: out of memory\n");
    return kFailed;
  }
}

}  // namespace ridge::profile_analysis
