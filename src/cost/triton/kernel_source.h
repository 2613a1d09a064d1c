// The text of a generated kernel's file against what a trace says about it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ridge {

// "c" + the first 51 characters of base32(sha256(text without surrounding white space)), as Inductor names its files.
std::string kernel_source_hash(std::string_view text);

enum class SourceMatch : std::uint8_t {
  matches,
  differs,  // the file was found, but another text was compiled
  missing,  // the trace names a file that cannot be found
  unknown,  // the trace names no hash
};
std::string_view name_of(SourceMatch match);

// `text`: of the file, nothing when it was not found; `kernel_hash`: as the trace has it, or empty.
SourceMatch match_source(const std::optional<std::string>& text, std::string_view kernel_hash);

}  // namespace ridge
