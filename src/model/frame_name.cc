// Parsing; a resumed frame is named by the line at which it resumes.
#include "model/frame_name.h"

#include <charconv>

namespace ridge {
namespace {

std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<FrameName> parse_frame_name(std::string_view name) {
  const std::size_t close = name.find("): ");
  if (close == name.npos) return std::nullopt;
  const std::size_t open = name.rfind('(', close);
  if (open == name.npos || open == 0) return std::nullopt;
  const auto line = number(name.substr(open + 1, close - open - 1));
  if (!line) return std::nullopt;
  return FrameName{name.substr(0, open), *line, name.substr(close + 3)};
}

std::optional<ResumeName> parse_resume_name(std::string_view function) {
  constexpr std::string_view kNew = "torch_dynamo_resume_in_", kOld = "resume_in_";
  if (function.starts_with(kNew)) {
    function.remove_prefix(kNew.size());
  } else if (function.starts_with(kOld)) {
    function.remove_prefix(kOld.size());
  } else {
    return std::nullopt;
  }
  const std::size_t at = function.rfind("_at_");
  const auto line = at == function.npos ? std::nullopt : number(function.substr(at + 4));
  return line ? ResumeName{function.substr(0, at), line} : ResumeName{function, std::nullopt};
}

std::string location_of(const FrameName& frame) {
  std::int64_t line = frame.line;
  std::string_view function = frame.function;
  if (const auto resume = parse_resume_name(function)) {
    line = resume->line.value_or(line);
    function = resume->function;
  }
  return std::string(frame.file) + ":" + std::to_string(line) + " (" + std::string(function) + ")";
}

}  // namespace ridge
