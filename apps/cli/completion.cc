// One script per shell, filled from the same lists; a shell is a row of kShells.
#include "completion.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include <ridge/render.h>

#include "catalog.h"
#include "commands.h"
#include "flags.h"
#include "standard_streams.h"

namespace ridge::cli {
namespace {

// For a text between single quotes of any of the three shells.
std::string shell_quoted(std::string_view text) {
  std::string out = "'";
  for (char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

// What may follow a flag that takes one of a few words.
struct Choice {
  std::string_view command;  // empty: every one
  std::string_view flag;     // as it is typed
  std::string words;
};
std::vector<Choice> choices() {
  std::vector<std::string_view> formats_known;
  for (const Format& format : formats()) formats_known.push_back(format.name);
  const std::string all_formats = fmt::format("{}", fmt::join(formats_known, " "));
  return {{"", "-f", all_formats},
          {"", "--format", all_formats},
          {"kernels", "--by", "launch op shape annotation module graph stream"},
          {"ops", "--by", "shape module location annotation phase"}};
}

// Commands whose word is one of a few.
std::vector<Choice> word_choices() {
  return {{"help", "", fmt::format("{}", fmt::join(command_names(), " "))}, {"completion", "", "bash zsh fish"}};
}

// "kernels --by" for a case of bash or zsh that looks at the command and the word before.
std::string case_of(const Choice& choice) {
  return fmt::format("'{} {}'", choice.command.empty() ? "'*'" : choice.command, choice.flag);
}

std::string bash_script() {
  std::string values;
  for (const Choice& choice : choices()) values += fmt::format("    {}) words=\"{}\" ;;\n", case_of(choice), choice.words);
  for (const Choice& choice : word_choices())
    values += fmt::format("    '{} {}') words=\"{}\" ;;\n", choice.command, choice.command, choice.words);
  std::string cases;
  for (const AnalysisInfo* command : described()) {
    if (command->parameters.empty()) continue;
    std::string own;
    for (const Parameter& parameter : command->parameters) own += flag_of(parameter) + " ";
    cases += fmt::format("    {}) flags=\"$flags {}\" ;;\n", command->name, own);
  }
  return fmt::format(R"(# ridge for bash: source <(ridge completion bash)
_ridge() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} flags="{}"
  case ${{COMP_WORDS[1]}} in
{}    *) ;;
  esac
  local words=
  case "${{COMP_WORDS[1]}} ${{COMP_WORDS[COMP_CWORD-1]}}" in
{}    *) ;;
  esac
  if [[ -n $words ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
  elif [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$flags" -- "$word")
  elif [[ $COMP_CWORD == 1 ]]; then
    mapfile -t COMPREPLY < <(compgen -W "{}" -- "$word"; compgen -f -- "$word")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
  fi
}}
complete -o filenames -F _ridge ridge
)",
                     fmt::join(flag_names(nullptr), " "), cases, values, fmt::join(command_names(), " "));
}

std::string zsh_script() {
  std::string descriptions;
  const auto describe = [&](std::string_view name, std::string_view description) {
    descriptions += fmt::format("    {}\n", shell_quoted(fmt::format("{}:{}", name, description)));
  };
  for (const AnalysisInfo& analysis : analyses()) describe(analysis.name, analysis.description);
  for (const Command& command : commands()) describe(command.name, command.description);
  std::string cases;
  for (const AnalysisInfo* command : described())
    cases += fmt::format("    {}) compadd -- {} ;;\n", command->name, fmt::join(flag_names(command), " "));
  std::string values;
  for (const Choice& choice : choices())
    values += fmt::format("    {}) compadd -- {}; return ;;\n", case_of(choice), choice.words);
  for (const Choice& choice : word_choices())
    values += fmt::format("    '{} {}') compadd -- {}; return ;;\n", choice.command, choice.command, choice.words);
  return fmt::format(R"(#compdef ridge
# ridge for zsh: source <(ridge completion zsh)
_ridge() {{
  local -a names=(
{}  )
  case "$words[2] $words[CURRENT-1]" in
{}  esac
  if [[ $words[CURRENT] == -* ]]; then
    case $words[2] in
{}    *) compadd -- {} ;;
    esac
    return
  fi
  (( CURRENT == 2 )) && _describe command names
  _files
}}
compdef _ridge ridge
)",
                     descriptions, values, cases, fmt::join(flag_names(nullptr), " "));
}

// "-s f -l format" for "-f,--format".
std::string fish_flag(std::string_view names) {
  const std::size_t comma = names.find(',');
  if (comma == std::string_view::npos) return fmt::format("-l {}", names.substr(2));
  return fmt::format("-s {} -l {}", names.substr(1, comma - 1), names.substr(comma + 3));
}

std::string fish_script() {
  std::string text = "# ridge for fish: ridge completion fish | source\n";
  const auto add_command = [&](std::string_view name, std::string_view description) {
    text += fmt::format("complete -c ridge -n __fish_use_subcommand -a {} -d {}\n", name, shell_quoted(description));
  };
  for (const AnalysisInfo& analysis : analyses()) add_command(analysis.name, analysis.description);
  for (const Command& command : commands()) add_command(command.name, command.description);
  for (const Flag& flag : flags()) {
    text += fmt::format("complete -c ridge {}{} -d {}\n", fish_flag(flag.names), flag.value.empty() ? "" : " -r",
                        shell_quoted(flag.description));
  }
  for (const AnalysisInfo* command : described()) {
    for (const Parameter& parameter : command->parameters) {
      text += fmt::format("complete -c ridge -n '__fish_seen_subcommand_from {}' {}{} -d {}\n", command->name,
                          fish_flag(flag_of(parameter)), parameter.type == Type::boolean ? "" : " -r",
                          shell_quoted(parameter.description));
    }
  }
  for (const Choice& choice : choices()) {
    if (choice.flag == "-f") continue;  // the same as --format
    const std::string when = choice.command.empty() ? "" : fmt::format(" -n '__fish_seen_subcommand_from {}'", choice.command);
    text += fmt::format("complete -c ridge{} -x -l {} -a '{}'\n", when, choice.flag.substr(2), choice.words);
  }
  for (const Choice& choice : word_choices())
    text += fmt::format("complete -c ridge -f -n '__fish_seen_subcommand_from {}' -a '{}'\n", choice.command, choice.words);
  return text;
}

struct Shell {
  std::string_view name;
  std::string (*script)();
};
constexpr std::array kShells = {Shell{"bash", bash_script}, Shell{"zsh", zsh_script}, Shell{"fish", fish_script}};

}  // namespace

Result<int> run_completion(const Invocation& invocation) {
  constexpr const char* kHint = "ridge completion bash, zsh or fish";
  if (invocation.words.size() != 1) return fail(ErrorCode::usage, "completion needs the name of one shell", {}, kHint);
  const auto shell = std::ranges::find(kShells, invocation.words.front(), &Shell::name);
  if (shell == kShells.end()) {
    return fail(ErrorCode::usage, fmt::format("no completion for '{}'", invocation.words.front()), {}, kHint);
  }
  return write_standard_output(shell->script()).map([] { return 0; });
}

}  // namespace ridge::cli
