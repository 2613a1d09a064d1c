// What the terminal allows: colours, progress, how wide a line may be. Only the CLI looks at the environment.
#pragma once

#include <ridge/render.h>

#include "settings.h"

namespace ridge::cli {

// How to render to where this invocation's answer goes: a file and a pipe get no escapes and lines of any length.
RenderOptions render_options(const Settings& settings);

// Whether standard error is a terminal on which a line can be redrawn.
bool shows_progress(const Settings& settings);

int columns_of(int file);  // 0: not a terminal

}  // namespace ridge::cli
