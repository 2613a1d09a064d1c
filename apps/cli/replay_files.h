// The scripts of `ridge replay`: one to a file or to standard output, or many into a folder with an index.json.
#pragma once

#include <ridge/report.h>
#include <ridge/result.h>

#include "arguments.h"

namespace ridge::cli {

// Whether the answer is scripts rather than tables: `replay` with a call named, or with a folder to fill.
bool writes_scripts(const Invocation& invocation);
bool writes_script_folder(const Invocation& invocation);

Result<void> write_replay_scripts(const Report& report, const Invocation& invocation);

}  // namespace ridge::cli
