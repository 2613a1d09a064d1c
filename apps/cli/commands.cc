#include "commands.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "completion.h"
#include "help.h"
#include "run_analysis.h"
#include "standard_streams.h"

namespace ridge::cli {
namespace {

Result<int> run_version(const Invocation&) {
  return write_standard_output(fmt::format("ridge {}\n", version())).map([] { return 0; });
}

constexpr std::array kCommands = {
    Command{"help", "[COMMAND]", "this text, or what one command does", run_help},
    Command{"version", "", "the version of ridge", run_version},
    Command{"completion", "bash|zsh|fish", "a script that completes commands and flags in your shell", run_completion},
};

}  // namespace

std::span<const Command> commands() { return kCommands; }

Result<int> run(const Invocation& invocation) {
  const auto command = std::ranges::find(kCommands, invocation.command, &Command::name);
  return command != kCommands.end() ? command->run(invocation) : run_analysis(invocation);
}

}  // namespace ridge::cli
