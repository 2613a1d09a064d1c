// The commands that are not analyses, as a table. Analyses come from the engine's catalog.
#pragma once

#include <span>
#include <string_view>

#include <ridge/result.h>

#include "arguments.h"

namespace ridge::cli {

struct Command {
  std::string_view name;
  std::string_view operand;  // what stands after it, for help
  std::string_view description;
  Result<int> (*run)(const Invocation&);                 // the exit code
  std::span<const Parameter> (*parameters)() = nullptr;  // flags of its own; null: none
  bool answers = false;                                  // it prints tables: --format, --limit and the like are for it too
};

std::span<const Command> commands();

// Runs whatever was asked: a row of the table or an analysis.
Result<int> run(const Invocation& invocation);

}  // namespace ridge::cli
