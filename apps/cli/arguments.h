// The words of the command line -> Invocation: which command, with which settings, on which traces. Nothing is run here.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <ridge/engine.h>
#include <ridge/result.h>

#include "settings.h"

namespace ridge::cli {

struct Invocation {
  std::string command;  // an analysis of the catalog, or one of commands()
  Settings settings;
  Arguments arguments;             // of the analysis
  std::vector<std::string> words;  // what stands after the command: traces; for `help` a command, for `completion` a shell
};

// `args` are without the program's name. Every error is ErrorCode::usage.
Result<Invocation> parse_arguments(std::span<const std::string> args);

}  // namespace ridge::cli
