// Python text as ridge writes it: the one place where text of a trace or of a file becomes part of a script. Whatever is in
// the text, the result is one literal of ASCII characters.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace ridge {

// A string literal with its quotes. Bad UTF-8 becomes U+FFFD; what is not printable ASCII is escaped.
void append_python_string(std::string& out, std::string_view text);

// The same over several lines: a raw literal in triple quotes where the text allows one, so that people can read it; else a
// literal for each line, in parentheses.
void append_python_block(std::string& out, std::string_view text);

void append_python_integers(std::string& out, std::span<const std::int64_t> values);  // [1, 2]

// "None" where it is not known.
std::string python_string_or_none(std::string_view text);
std::string python_integer_or_none(std::optional<std::int64_t> value);

}  // namespace ridge
