// The Python files that this program holds, and the folders on disk from which Python reads them: what records
// (python/ridge/recording) and what runs kernels alone (python/ridge/bench).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <ridge/result.h>

namespace ridge::cli {

struct EmbeddedFile {
  std::string_view path;  // below the folder
  std::string_view text;
};

// Made by cmake/EmbedPython.cmake.
std::span<const EmbeddedFile> record_files();
std::span<const EmbeddedFile> bench_files();

// A folder that holds these files, its name beginning with `name`. One per version and user, kept: processes that read it may
// start at any time. Where PYTHONPATH is to hold it, it has no colon.
Result<std::string> lay_out(std::span<const EmbeddedFile> files, std::string_view name);

}  // namespace ridge::cli
