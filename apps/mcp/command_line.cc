// Quoting for a shell, and flags from arguments.
#include "command_line.h"

#include <algorithm>

#include <fmt/format.h>

#include <ridge/argument_list.h>
#include <ridge/render.h>

namespace ridge::mcp {
namespace {

bool is_plain(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         std::string_view("_-./=:,+@%").find(c) != std::string_view::npos;
}

}  // namespace

std::string shell_word(std::string_view text) {
  if (!text.empty() && std::ranges::all_of(text, is_plain)) return std::string(text);
  const bool shown_as_it_is = printable(text) == text;
  std::string out = shown_as_it_is ? "'" : "$'";  // bash, zsh and others: bytes by their numbers
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (shown_as_it_is) {
      out += c == '\'' ? R"('\'')" : std::string(1, c);
    } else {
      out += is_plain(c) || c == ' ' ? std::string(1, c) : fmt::format("\\x{:02x}", byte);
    }
  }
  return out + "'";
}

std::string command_line(std::string_view command, const Arguments& arguments, std::string_view sort, std::string_view traces) {
  std::string line = "ridge " + std::string(command);
  for (const auto& [name, value] : arguments) {
    std::string flag = " --" + name;
    std::ranges::replace(flag, '_', '-');
    if (value == "true") {
      line += flag;
      continue;
    }
    for (const std::string_view each : listed(arguments, name)) line += flag + " " + shell_word(each);
  }
  if (!sort.empty()) line += sort.starts_with('-') ? " --sort=" + shell_word(sort) : " --sort " + shell_word(sort);
  if (!traces.empty()) line += " " + std::string(traces);
  return line;
}

}  // namespace ridge::mcp
