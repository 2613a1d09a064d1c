// The Python files that record, as part of this program, and the folder on disk from which Python reads them.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <ridge/result.h>

namespace ridge::cli {

struct HookFile {
  std::string_view path;  // below the folder
  std::string_view text;
};

// Made by cmake/EmbedHook.cmake from python/ridge/recording.
std::span<const HookFile> hook_files();

// A folder that holds them, to stand in PYTHONPATH. One per version and user, kept: processes of the command may start at any
// time.
Result<std::string> lay_out_hook();

}  // namespace ridge::cli
