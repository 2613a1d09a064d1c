// Settings: what the flags that every command understands have been set to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <ridge/render.h>

namespace ridge::cli {

struct Settings {
  const Format* format = nullptr;     // null: the table for people
  std::string output;                 // empty or "-": standard output
  std::optional<std::int64_t> limit;  // absent: what the format suggests
  std::string sort;
  unsigned threads = 0;
  std::uint64_t max_bytes = 0;
  bool wide = false;                  // every column of a table, however long the lines
  std::vector<std::string> captures;  // one per trace, in order; "-": none
  bool quiet = false;
  bool color = true;  // false: --no-color
  bool help = false;
  bool version = false;
};

}  // namespace ridge::cli
