// Usage is checked before a large trace is read; the answer is written first, then the warnings.
#include "run_analysis.h"

#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include <ridge/digest.h>
#include <ridge/engine.h>
#include <ridge/folder.h>
#include <ridge/output_file.h>
#include <ridge/stop.h>

#include "catalog.h"
#include "error_text.h"
#include "interrupt.h"
#include "open_traces.h"
#include "ranks_digest.h"
#include "replay_files.h"
#include "standard_streams.h"
#include "write_answer.h"

namespace ridge::cli {
namespace {

// `ridge sql QUERY TRACE`: what is said last names a file, what is said first does not.
bool is_turned_round(const Invocation& invocation, const AnalysisInfo& analysis) {
  const auto given = invocation.arguments.find(analysis.operand);
  if (!operand_is_last(analysis) || given == invocation.arguments.end() || invocation.words.size() != 1) return false;
  const auto exists = [](const std::string& path) {
    std::error_code ignored;
    return path == "-" || std::filesystem::exists(path, ignored);
  };
  return exists(given->second) && !exists(invocation.words.front());
}

Result<void> check(const Invocation& invocation) {
  const AnalysisInfo& analysis = *find_analysis(invocation.command);
  if (!analysis.needs_trace && !invocation.words.empty()) {
    return fail(ErrorCode::usage, fmt::format("{} takes no trace", analysis.name), {},
                fmt::format("see ridge help {}; ridge info TRACE lists the devices of a trace", analysis.name));
  }
  if (analysis.needs_trace && !analysis.trace_optional && invocation.words.empty()) {
    return fail(ErrorCode::usage, fmt::format("{} needs {}a trace", analysis.name, operand_of(analysis, "a ", " and ")), {},
                operand_is_last(analysis) ? fmt::format("ridge {} trace.json{}", analysis.name, operand_of(analysis, " ", ""))
                                          : fmt::format("ridge {} {}trace.json", analysis.name, operand_of(analysis, "", " ")));
  }
  if (is_turned_round(invocation, analysis)) {
    return fail(ErrorCode::usage, fmt::format("the trace comes first, then the {}", analysis.operand), {},
                fmt::format("ridge {} {} \"{}\"", analysis.name, invocation.arguments.find(analysis.operand)->second,
                            invocation.words.front()));
  }
  const bool without = analysis.trace_optional && invocation.words.empty();
  // One file may hold the digests of many ranks.
  if (analysis.needs_trace && !without && !analysis.whole_job && invocation.words.size() < analysis.fewest_traces) {
    return fail(ErrorCode::usage, fmt::format("{} needs {} traces", invocation.command, analysis.fewest_traces), {},
                fmt::format("ridge {} before.json after.json", invocation.command));
  }
  if (analysis.needs_trace && analysis.fewest_traces == 1 && invocation.words.size() > 1) {
    return fail(ErrorCode::usage, fmt::format("{} takes one trace, {} were given", analysis.name, invocation.words.size()), {},
                "ridge diff compares traces, ridge combine merges them, ridge serve and ridge report show them side by side");
  }
  if (writes_script_folder(invocation)) return {};  // a folder, which may be there
  return to_file(invocation.settings) ? check_output(invocation.settings.output, invocation.words) : Result<void>();
}

Result<Engine> open(const Invocation& invocation) {
  const AnalysisInfo& analysis = *find_analysis(invocation.command);
  if (!analysis.needs_trace || (analysis.trace_optional && invocation.words.empty())) return Engine::without_trace();
  return open_traces(invocation, {.keep_places = analysis.tells_places,
                                  .digests_only = analysis.whole_job,
                                  .digest_findings = invocation.arguments.contains("findings")});
}

// A text that is an answer by itself.
Result<void> write_script(const Report& report, const Settings& settings) {
  const std::string text(report.tables.front().column("text").text(0).value_or(""));
  const auto plain = [&](const Writer& writer) { return writer(text); };
  return to_file(settings) ? write_output_file(settings.output, plain) : plain(write_standard_output);
}

// `check` answers with the diagnostics themselves; to warn of them as well would say everything twice. Why a gate failed is no
// warning: it is said to those who want none.
std::string words_for(const Invocation& invocation, std::vector<Diagnostic> diagnostics) {
  if (invocation.command == "check" || invocation.settings.quiet)
    std::erase_if(diagnostics, [](const Diagnostic& d) { return d.code != kGateFailedCode; });
  return warning_text(std::move(diagnostics));
}

// diff of two folders with several traces, or digests, each: what changed between two recordings of a job.
Result<std::optional<Invocation>> as_diff_of_jobs(const Invocation& given) {
  if (given.command != "diff" || given.words.size() < 2) return std::nullopt;
  for (const std::string& word : given.words) {
    const auto inside = with_folders_expanded({word});
    const bool digests = word.ends_with(kDigestEnding);
    if (!digests && (!inside || inside->size() < 2)) return std::nullopt;
  }
  if (given.words.size() > 2 || !given.arguments.empty()) {
    return fail(ErrorCode::usage,
                given.words.size() > 2 ? "diff compares two jobs" : "flags of diff are for traces, and these are two jobs", {},
                "ridge diff JOB_A JOB_B; of one rank: ridge diff JOB_A/rank0.json JOB_B/rank0.json");
  }
  Invocation ranks = given;
  ranks.command = "ranks";
  ranks.arguments["before"] = given.words[0];
  ranks.words = {given.words[1]};
  return std::optional(std::move(ranks));
}

}  // namespace

Result<int> run_analysis(const Invocation& given) {
  const auto jobs = as_diff_of_jobs(given);
  if (!jobs) return tl::unexpected(jobs.error());
  if (*jobs) return run_analysis(**jobs);
  // An analysis of one trace says which a folder holds.
  const bool several = find_analysis(given.command)->fewest_traces > 1;
  const auto expanded = several ? with_traces_of_folders(given) : given;
  if (!expanded) return tl::unexpected(expanded.error());
  const Invocation& invocation = *expanded;
  const auto checked = check(invocation);
  if (!checked) return tl::unexpected(checked.error());
  // Before a large trace is read.
  const auto valid = validate_arguments(invocation.command, invocation.arguments);
  if (!valid) return tl::unexpected(valid.error());

  if (invocation.arguments.contains("digest")) return write_digests_of(invocation);
  const auto engine = open(invocation);
  if (!engine) return tl::unexpected(engine.error());
  const StopWhen stop(interrupted_flag());
  const auto report = engine->run(invocation.command, invocation.arguments);
  if (!report) return tl::unexpected(report.error());
  if (interrupted()) return fail(ErrorCode::interrupted, "interrupted");
  const bool script = invocation.arguments.contains("calibrate") && invocation.settings.format == nullptr;
  const auto written = writes_scripts(invocation) ? write_replay_scripts(*report, invocation)
                       : script                   ? write_script(*report, invocation.settings)
                                                  : write_answer(*report, invocation.settings);
  if (!written) return tl::unexpected(written.error());

  write_standard_error(words_for(invocation, report->diagnostics));
  return report->gate_failed ? kGateFailed : 0;
}

}  // namespace ridge::cli
