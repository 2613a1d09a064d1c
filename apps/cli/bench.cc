// Checks what can be checked before a long run, then becomes Python with the files of python/ridge/bench. Those ask this
// program for scripts and costs, and hand their answer to `ridge show`, with the flags that shape it.
#include "bench.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include <ridge/output_file.h>

#include "become.h"
#include "embedded_python.h"
#include "write_answer.h"

namespace ridge::cli {
namespace {

// Where a flag goes: to the bench itself, to `ridge replay`, or to every question about the trace.
enum class For : std::uint8_t { bench, replay, questions };

struct BenchFlag {
  Parameter parameter;
  For whom = For::bench;
};

constexpr std::array kFlags = {
    BenchFlag{{"top", Type::integer, "how many calls to run, the longest first (default 20)"}},
    BenchFlag{{"kernel", Type::text, "only kernels with this in their name"}},
    BenchFlag{{"op", Type::text, "only ops with this in their name"}},
    BenchFlag{
        {"configs", Type::boolean, "try every configuration of a Triton kernel, and of a product what max-autotune would"}},
    BenchFlag{{"save", Type::text, "write the times to this file, for --table of predict, kernels and whatif", true}},
    BenchFlag{{"save_device", Type::text,
               "measure the peaks of this machine's GPU and write them to this file, for --device-file", true}},
    BenchFlag{{"seconds", Type::number, "most seconds to repeat one call (default 5)"}},
    BenchFlag{{"within", Type::number, "repeat until the median is known within this many percent (default 1)"}},
    BenchFlag{{"deadline", Type::number, "seconds after which a call that does not answer is given up (default 120)"}},
    BenchFlag{{"for", Type::number, "seconds after which no further call is begun"}},
    BenchFlag{{"seed", Type::integer, "of the inputs' random values (default 0)"}},
    BenchFlag{{"on", Type::text, "cuda (default), or cpu or meta: run the scripts there and time nothing"}},
    BenchFlag{{"python", Type::text, "the Python that has PyTorch (default: RIDGE_PYTHON, else python3)", true}},
    BenchFlag{{"keep", Type::text, "folder for the scripts and what was compiled of them (default: removed at the end)", true}},
    BenchFlag{{"inductor_cache", Type::text, "folder with Inductor's generated sources (TORCHINDUCTOR_CACHE_DIR)", true},
              For::replay},
    BenchFlag{{"source", Type::text, "file with the source of a Triton kernel", true}, For::replay},
    BenchFlag{{"trust_source", Type::boolean, "run sources that hold more than a Triton kernel"}, For::replay},
    BenchFlag{{"device", Type::text, "device whose peaks to use; ridge devices lists them"}, For::questions},
    BenchFlag{{"device_file", Type::text, "JSON file with the peaks of your own device, or with measured peaks", true},
              For::questions},
    BenchFlag{{"clock_mhz", Type::number, "clock the device ran at; peak FLOP/s scale with it"}, For::questions},
    BenchFlag{{"expected_file", Type::text, "op times of your own device (ridge predict --calibrate)", true}, For::questions},
    BenchFlag{{"table", Type::text, "kernel times of an earlier --save: expected_ns is taken from them first", true},
              For::questions},
};

constexpr std::array kAllParameters = [] {
  std::array<Parameter, kFlags.size()> all{};
  for (std::size_t i = 0; i < kFlags.size(); ++i) all[i] = kFlags[i].parameter;
  return all;
}();

std::string flag_named(std::string_view name) {
  std::string flag = "--" + std::string(name);
  for (char& c : flag) c = c == '_' ? '-' : c;
  return flag;
}

// Flags that take a word of another command: "--show=--limit", "--show=3".
void add(std::vector<std::string>& words, std::string_view carrier, std::initializer_list<std::string> carried) {
  for (const std::string& word : carried) words.push_back(fmt::format("--{}={}", carrier, word));
}

void add_arguments(std::vector<std::string>& words, const Arguments& arguments) {
  for (const BenchFlag& flag : kFlags) {
    const auto found = arguments.find(flag.parameter.name);
    if (found == arguments.end()) continue;
    const std::string name = flag_named(flag.parameter.name);
    const bool is_switch = flag.parameter.type == Type::boolean;
    if (flag.whom == For::bench) {
      words.push_back(is_switch ? name : fmt::format("{}={}", name, found->second));
      continue;
    }
    const std::string_view carrier = flag.whom == For::replay ? "replay" : "flag";
    is_switch ? add(words, carrier, {name}) : add(words, carrier, {name, found->second});
    // Sources also tell bytes of Triton kernels.
    if (flag.parameter.name == "inductor_cache") add(words, "flag", {name, found->second});
  }
}

void add_settings(std::vector<std::string>& words, const Settings& settings) {
  if (settings.format != nullptr) add(words, "show", {"--format", std::string(settings.format->name)});
  if (!settings.output.empty()) add(words, "show", {"--output", std::filesystem::absolute(settings.output).string()});
  if (settings.limit) add(words, "show", {"--limit", std::to_string(*settings.limit)});
  if (!settings.sort.empty()) add(words, "show", {"--sort", settings.sort});
  if (settings.wide) add(words, "show", {"--wide"});
  if (!settings.color) add(words, "show", {"--no-color"});
  if (settings.quiet) {
    add(words, "show", {"--quiet"});
    words.emplace_back("--quiet");
  }
}

// The package runs inside of Python, which is then the program to call: `python -m ridge`.
std::string package_python() {
  const char* inside = std::getenv("RIDGE_PACKAGE_PYTHON");
  return inside == nullptr ? std::string() : inside;
}

std::vector<std::string> this_program() {
  if (const std::string python = package_python(); !python.empty()) return {python, "-m", "ridge"};
  std::error_code error;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", error);
  return {error ? std::string("ridge") : path.string()};
}

std::string python_of(const Invocation& invocation) {
  if (const auto given = invocation.arguments.find("python"); given != invocation.arguments.end()) return given->second;
  if (const std::string inside = package_python(); !inside.empty()) return inside;
  const char* wished = std::getenv("RIDGE_PYTHON");
  return wished != nullptr && *wished != '\0' ? wished : "python3";
}

// A program that is no Python would fail with words of its own, or with none.
Result<void> check_python(const std::string& python) {
  int pipe_ends[2];
  if (::pipe2(pipe_ends, O_CLOEXEC) != 0) return {};
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], 1);
  ::posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  std::array<std::string, 3> words = {python, "-c", "import sys; print('python', sys.version_info[0])"};
  std::array<char*, 4> arguments = {words[0].data(), words[1].data(), words[2].data(), nullptr};
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, words[0].c_str(), &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(pipe_ends[1]);
  std::string said(64, '\0');
  std::size_t got = 0;  // word by word, where PYTHONUNBUFFERED is set
  while (error == 0 && got < said.size()) {
    const ssize_t more = ::read(pipe_ends[0], said.data() + got, said.size() - got);
    if (more == 0 || (more < 0 && errno != EINTR)) break;
    got += static_cast<std::size_t>(std::max<ssize_t>(more, 0));
  }
  ::close(pipe_ends[0]);
  constexpr std::string_view kHint = "--python names the interpreter that has PyTorch";
  if (error != 0)
    return fail(ErrorCode::cannot_open, fmt::format("cannot run {}: {}", python, std::generic_category().message(error)), {},
                std::string(kHint));
  int status = 0;
  ::waitpid(child, &status, 0);
  said.resize(got);
  if (said.starts_with("python 3")) return {};
  return fail(ErrorCode::cannot_open, fmt::format("{} is no Python 3", python), {}, std::string(kHint));
}

Result<void> check_numbers(const Arguments& arguments) {
  for (const std::string_view name : {"top", "seconds", "within", "deadline", "for"}) {
    const auto found = arguments.find(name);
    if (found == arguments.end()) continue;
    double number = 0;
    std::from_chars(found->second.data(), found->second.data() + found->second.size(), number);
    if (!(number > 0))
      return fail(ErrorCode::usage, fmt::format("invalid value '{}' for {}", found->second, flag_named(name)), {},
                  "give a number above 0");
  }
  const auto on = arguments.find("on");
  if (on != arguments.end() && on->second != "cuda" && on->second != "cpu" && on->second != "meta")
    return fail(ErrorCode::usage, fmt::format("invalid value '{}' for --on", on->second), {}, "cuda, cpu or meta");
  return {};
}

Result<void> check_files(const Invocation& invocation) {
  if (to_file(invocation.settings)) {
    if (auto checked = check_output(invocation.settings.output, invocation.words); !checked) return checked;
  }
  for (const std::string_view name : {"save", "save_device"}) {
    const auto found = invocation.arguments.find(name);
    if (found == invocation.arguments.end()) continue;
    if (auto checked = check_output(found->second, invocation.words); !checked) return checked;
  }
  return {};
}

}  // namespace

std::span<const Parameter> bench_parameters() { return kAllParameters; }

Result<int> run_bench(const Invocation& invocation) {
  if (invocation.words.size() != 1)
    return fail(ErrorCode::usage, "bench takes one trace, one folder of scripts, one script or one compiled module", {},
                "ridge bench trace.json.gz; ridge bench output_code.py");
  if (const auto checked = check_numbers(invocation.arguments); !checked) return tl::unexpected(checked.error());
  std::error_code error;
  if (!std::filesystem::exists(invocation.words.front(), error))
    return fail(ErrorCode::cannot_open, "no such file", invocation.words.front());
  if (const auto checked = check_files(invocation); !checked) return tl::unexpected(checked.error());
  const auto folder = lay_out(bench_files(), "bench");
  if (!folder) return tl::unexpected(folder.error());

  const std::string python = python_of(invocation);
  if (const auto checked = check_python(python); !checked) return tl::unexpected(checked.error());
  std::vector<std::string> words = {python, *folder + "/_ridge_bench/start.py", "parent"};
  for (const std::string& word : this_program()) add(words, "ridge", {word});
  add_settings(words, invocation.settings);
  add_arguments(words, invocation.arguments);
  words.emplace_back("--");
  words.push_back(invocation.words.front());
  auto failed = become(words);
  if (!failed) failed.error().hint = "--python names the interpreter that has PyTorch";
  return failed;
}

}  // namespace ridge::cli
