// Checks what can be checked before a long run, then replaces this process: exit code, signals, terminal and process id are the
// command's own. What records is Python and lives in python/ridge/recording.
#include "record.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <optional>
#include <system_error>

#include <unistd.h>

#include <fmt/format.h>

#include "become.h"
#include "embedded_python.h"
#include "error_text.h"
#include "record_python.h"
#include "standard_streams.h"

namespace ridge::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTraceSuffix = ".json.gz";

// What shells exit with where there is no such command, and where there is one that cannot be run.
constexpr int kNotFound = 127, kNotRun = 126;

constexpr std::array kParameters = {
    Parameter{"after", Type::text,
              "steps before the first recorded one, or time since torch was imported: 10, 30s, 2m (default 5)"},
    Parameter{"steps", Type::integer, "steps to record (default 5; with --seconds: no limit)"},
    Parameter{"seconds", Type::number, "record for this long, to the end of the step"},
    Parameter{"stacks", Type::boolean, "record Python stacks too: slows the program down"},
    Parameter{"memory", Type::boolean, "record allocations too"},
    Parameter{"no_shapes", Type::boolean, "record no shapes: less slow, but no FLOPs, bytes or roofs"},
};

std::optional<std::string> argument(const Invocation& invocation, std::string_view name) {
  const auto found = invocation.arguments.find(name);
  return found == invocation.arguments.end() ? std::nullopt : std::optional(found->second);
}

std::optional<double> positive(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(number) || number < 0) return std::nullopt;
  return number;
}

tl::unexpected<Error> wrong_value(std::string_view text, std::string_view flag, std::string_view wanted) {
  return fail(ErrorCode::usage, fmt::format("invalid value '{}' for {}", text, flag), {}, std::string(wanted));
}

// "10", "30s", "2m" -> "10", "30s", "120s".
Result<std::string> after_of(const std::string& text) {
  const char unit = text.empty() ? '\0' : text.back();
  const auto number = positive(unit == 's' || unit == 'm' ? std::string_view(text).substr(0, text.size() - 1) : text);
  const bool whole = number && *number == std::floor(*number) && *number < 1e9;
  if (!number || (unit != 's' && unit != 'm' && !whole))
    return wrong_value(text, "--after", "give a number of steps (10) or a time (30s, 2m)");
  if (unit == 's' || unit == 'm') return fmt::format("{}s", *number * (unit == 'm' ? 60 : 1));
  return fmt::format("{}", static_cast<std::int64_t>(*number));
}

struct Variable {
  const char* name;
  std::string value;
};

// What python/ridge/recording/settings.py reads.
Result<std::vector<Variable>> wishes(const Invocation& invocation) {
  std::vector<Variable> all;
  if (const auto after = argument(invocation, "after")) {
    auto read = after_of(*after);
    if (!read) return tl::unexpected(read.error());
    all.push_back({"RIDGE_RECORD_AFTER", std::move(*read)});
  }
  if (const auto steps = argument(invocation, "steps")) {
    const auto number = positive(*steps);
    if (!number || *number < 1) return wrong_value(*steps, "--steps", "give a number from 1 on");
    all.push_back({"RIDGE_RECORD_STEPS", *steps});
  }
  if (const auto seconds = argument(invocation, "seconds")) {
    const auto number = positive(*seconds);
    if (!number || *number == 0) return wrong_value(*seconds, "--seconds", "give a number of seconds, such as 2 or 0.5");
    all.push_back({"RIDGE_RECORD_SECONDS", *seconds});
  }
  std::string with = argument(invocation, "no_shapes") ? "none" : "shapes";
  if (argument(invocation, "stacks")) with += ",stacks";
  if (argument(invocation, "memory")) with += ",memory";
  if (invocation.settings.quiet) with += ",quiet";
  all.push_back({"RIDGE_RECORD_WITH", with});
  return all;
}

std::string default_place() {
  const std::time_t now = std::time(nullptr);
  std::tm local = {};
  ::localtime_r(&now, &local);
  const std::string name = fmt::format("ridge-{:04}{:02}{:02}-{:02}{:02}{:02}", local.tm_year + 1900, local.tm_mon + 1,
                                       local.tm_mday, local.tm_hour, local.tm_min, local.tm_sec);
  std::error_code ignored;
  std::string free_name = name;
  for (int number = 2; fs::exists(free_name, ignored); ++number) free_name = fmt::format("{}-{}", name, number);
  return free_name;
}

// Where traces go. It is tried now, since a run of hours should not end with "read-only"; the folder itself is made with the
// first trace, so that none is left where nothing was recorded.
Result<std::string> writable_place(const std::string& wanted) {
  const fs::path place = fs::absolute(wanted.empty() ? default_place() : wanted).lexically_normal();
  const fs::path folder = wanted.ends_with(kTraceSuffix) ? place.parent_path() : place;
  fs::path there = folder;
  std::error_code ignored;
  while (!fs::exists(fs::symlink_status(there, ignored)) && there.has_relative_path()) there = there.parent_path();
  std::string trial = (there / ".ridge-XXXXXX").string();
  const int file = ::mkstemp(trial.data());
  if (file < 0) {
    return fail(ErrorCode::cannot_write, fmt::format("traces cannot be written: {}", std::generic_category().message(errno)),
                folder.string(), "name another folder with -o");
  }
  ::close(file);
  ::unlink(trial.c_str());
  return place.string();
}

void put_first_in_python_path(const std::string& folder) {
  const char* before = std::getenv("PYTHONPATH");
  const std::string path = before != nullptr && *before != '\0' ? folder + ":" + before : folder;
  ::setenv("PYTHONPATH", path.c_str(), 1);
}

}  // namespace

std::span<const Parameter> record_parameters() { return kParameters; }

Result<int> run_record(const Invocation& invocation) {
  if (invocation.words.empty())
    return fail(ErrorCode::usage, "record needs a command", {}, "type it after --: ridge record -- python train.py");
  const auto variables = wishes(invocation);
  if (!variables) return tl::unexpected(variables.error());
  if (const auto deaf = python_ignores_environment(invocation.words)) return tl::unexpected(*deaf);
  const auto hook = lay_out(record_files(), "record");
  if (!hook) return tl::unexpected(hook.error());
  const auto place = writable_place(invocation.settings.output);
  if (!place) return tl::unexpected(place.error());

  for (const char* name : {"RIDGE_RECORD_AFTER", "RIDGE_RECORD_STEPS", "RIDGE_RECORD_SECONDS"}) ::unsetenv(name);
  for (const Variable& variable : *variables) ::setenv(variable.name, variable.value.c_str(), 1);
  ::setenv("RIDGE_RECORD_TO", place->c_str(), 1);
  const std::string begun = fmt::format("{}:{}", ::getpid(), std::time(nullptr));
  ::setenv("RIDGE_RECORD_BEGUN", begun.c_str(), 1);
  put_first_in_python_path(*hook);
  int why = 0;
  const auto failed = become(invocation.words, &why);
  write_standard_error(error_text(failed.error()));
  return why == ENOENT ? kNotFound : kNotRun;
}

}  // namespace ridge::cli
