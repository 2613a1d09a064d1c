// Reads the options of a Python command line, and those of a script's first line, as Python and the kernel do.
#include "record_python.h"

#include <array>
#include <fstream>
#include <sstream>
#include <vector>

#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

namespace ridge::cli {
namespace {

struct Ignoring {
  char option;
  std::string_view what;
};

constexpr std::array kIgnoring = {
    Ignoring{'I', "ignores PYTHONPATH"},
    Ignoring{'E', "ignores PYTHONPATH"},
    Ignoring{'S', "does not read sitecustomize"},
};

std::string_view base_name(std::string_view path) { return path.substr(path.find_last_of('/') + 1); }

bool is_python(std::string_view program) {
  const std::string_view name = base_name(program);
  return name.starts_with("python") || name.starts_with("pypy");
}

// The first option among those after the program's name that closes the door; Python reads options up to the script, -c or -m.
const Ignoring* ignoring_option(std::span<const std::string> options) {
  for (std::size_t i = 0; i < options.size(); ++i) {
    const std::string& word = options[i];
    if (word.size() < 2 || word[0] != '-') return nullptr;
    if (word == "--check-hash-based-pycs") ++i;
    if (word[1] == '-') continue;
    for (std::size_t at = 1; at < word.size(); ++at) {
      if (word[at] == 'c' || word[at] == 'm') return nullptr;
      if (word[at] == 'W' || word[at] == 'X') {
        if (at + 1 == word.size()) ++i;  // its value is the next word
        break;
      }
      for (const Ignoring& one : kIgnoring) {
        if (one.option == word[at]) return &one;
      }
    }
  }
  return nullptr;
}

// Programs that become the command that follows their own options.
struct Wrapper {
  std::string_view name;
  std::string_view with_value;       // options whose value is the next word, by their letters
  std::string_view long_with_value;  // and by their names, where no = follows
  int operands = 0;                  // words of its own before the command
};
constexpr std::array kWrappers = {
    Wrapper{"env", "uC", " --unset --chdir "},
    Wrapper{"nice", "n", " --adjustment "},
    Wrapper{"nohup", "", ""},
    Wrapper{"setsid", "", ""},
    Wrapper{"stdbuf", "ioe", " --input --output --error "},
    Wrapper{"timeout", "sk", " --signal --kill-after ", 1},
    Wrapper{"time", "fo", " --format --output "},
    Wrapper{"ionice", "cn", " --class --classdata "},
    Wrapper{"taskset", "", "", 1},
    Wrapper{"chrt", "TPD", " --sched-runtime --sched-period --sched-deadline ", 1},
    Wrapper{"numactl", "NmiCpwl", " --cpunodebind --membind --interleave --physcpubind --preferred "},
};

constexpr std::string_view kNoEnvironment = "starts its command without the environment";

// The words behind the wrapper; `why`: what is wrong with the environment that they get.
std::span<const std::string> behind(const Wrapper& wrapper, std::span<const std::string> words, std::string_view* why) {
  const bool is_env = wrapper.name == "env";
  int operands = wrapper.operands;
  for (words = words.subspan(1); !words.empty(); words = words.subspan(1)) {
    const std::string& word = words.front();
    if (word == "--") continue;
    if (is_env && (word == "-" || word == "-i" || word == "--ignore-environment")) {
      *why = kNoEnvironment;
    } else if (is_env && (word == "-S" || word == "--split-string")) {
      continue;  // what follows is the command, in one word or several
    } else if (word.size() > 1 && word[0] == '-') {
      const bool is_long = word[1] == '-';
      const bool takes_next = is_long ? wrapper.long_with_value.find(" " + word + " ") != std::string_view::npos
                                      : wrapper.with_value.find(word.back()) != std::string_view::npos && word.size() == 2;
      if (takes_next && words.size() > 1) words = words.subspan(1);
      if (is_env && takes_next && words.front() == "PYTHONPATH") *why = kNoEnvironment;
    } else if (!(is_env && word.find('=') != std::string::npos) && operands-- <= 0) {
      break;
    }
  }
  return words;
}

// Where the shell would find it; empty: nowhere.
std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
    struct stat found = {};
    if (::access(candidate.c_str(), X_OK) == 0 && ::stat(candidate.c_str(), &found) == 0 && S_ISREG(found.st_mode))
      return candidate;
  }
  return {};
}

// The words of a script's first line, without env and its -S; empty: not a script.
std::vector<std::string> interpreter_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string line(256, '\0');
  file.read(line.data(), static_cast<std::streamsize>(line.size()));
  line.resize(static_cast<std::size_t>(file.gcount()));
  if (!line.starts_with("#!")) return {};
  std::istringstream text(line.substr(2, line.find('\n') - 2));
  std::vector<std::string> words;
  for (std::string word; text >> word;) words.push_back(word);
  if (!words.empty() && base_name(words.front()) == "env") {
    words.erase(words.begin());
    while (!words.empty() && words.front().starts_with('-')) words.erase(words.begin());
  }
  return words;
}

}  // namespace

std::optional<Error> python_ignores_environment(std::span<const std::string> command) {
  std::string wrapped_by;
  std::string_view why;
  for (const Wrapper* wrapper = kWrappers.data(); wrapper != nullptr && !command.empty();) {
    wrapper = nullptr;
    for (const Wrapper& each : kWrappers) {
      if (base_name(command.front()) == each.name) wrapper = &each;
    }
    if (wrapper == nullptr) break;
    command = behind(*wrapper, command, &why);
    wrapped_by = wrapper->name;
    if (!why.empty() && !command.empty()) {
      return Error{ErrorCode::usage, fmt::format("nothing would be recorded: {} {}", wrapped_by, why), "",
                   "leave PYTHONPATH and RIDGE_RECORD_* as they are, or record from inside the program with ridge.profile()"};
    }
  }
  if (command.empty()) return std::nullopt;  // it will say so itself
  std::vector<std::string> words(command.begin(), command.end());
  std::string where;
  if (!is_python(words.front())) {
    where = find_program(words.front());
    words = interpreter_of(where);
    if (words.empty() || !is_python(words.front())) return std::nullopt;
  }
  const Ignoring* found = ignoring_option(std::span(words).subspan(1));
  if (found == nullptr) return std::nullopt;
  return Error{ErrorCode::usage,
               fmt::format("nothing would be recorded: {} -{} {}", base_name(words.front()), found->option, found->what), where,
               fmt::format("run it without -{}, or record from inside the program with ridge.profile()", found->option)};
}

}  // namespace ridge::cli
