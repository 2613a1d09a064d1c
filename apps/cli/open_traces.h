// Opens the traces of a command line: progress on the terminal, Ctrl-C, a limit of memory.
#pragma once

#include <ridge/engine.h>

#include "arguments.h"

namespace ridge::cli {

// Refuses a command line without a trace.
Result<void> check_traces(const Invocation& invocation);

// For commands that take several traces: a folder among the words stands for those in it.
Result<Invocation> with_traces_of_folders(const Invocation& invocation);

class ProgressBar;

// `options` with what the command line says; `bar` must outlive them.
OpenOptions completed(const Invocation& invocation, OpenOptions options, ProgressBar* bar);

Result<Engine> open_traces(const Invocation& invocation, OpenOptions options = {});

}  // namespace ridge::cli
