// The flags that every command understands, as a table: parsing, help and completion derive from it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <ridge/result.h>

#include "settings.h"

namespace ridge::cli {

struct Flag {
  std::string_view names;  // "-f,--format"
  std::string_view value;  // what help calls its value; empty: a switch
  std::string_view description;
  Result<void> (*set)(Settings&, const std::string& text);
  bool of_answers = false;  // shapes the tables of an analysis: nothing for commands that write files or serve pages
};

std::span<const Flag> flags();

// "4096", "64k", "1.5G" (powers of 1000), "2GiB" (powers of 1024), with or without a final B.
Result<std::uint64_t> parse_byte_count(const std::string& text);

}  // namespace ridge::cli
