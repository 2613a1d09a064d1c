// Lays out errors and warnings as the lines of standard error. What went wrong is said where it is found, not here.
#include "error_text.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include <ridge/render.h>

#include "catalog.h"
#include "interrupt.h"

namespace ridge::cli {
namespace {

constexpr std::size_t kMostWarnings = 5;

// Lines after the first stand under it; each is printable, because it may quote a trace or a file's name.
std::string labelled(std::string_view label, std::string_view text) {
  std::string out;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = printable(text.substr(begin, end - begin));
    out += begin == 0 ? fmt::format("{}{}\n", label, line) : fmt::format("{:{}}{}\n", "", label.size(), line);
    begin = end + 1;
  }
  return out;
}

}  // namespace

int exit_code(ErrorCode code) {
  if (code == ErrorCode::interrupted) return interrupted_code();
  return code == ErrorCode::usage || code == ErrorCode::too_many_traces ? kUsage : 1;
}

std::string error_text(const Error& error) {
  if (error.code == ErrorCode::interrupted) return "interrupted\n";
  std::string text = labelled("error: ", error.message);
  if (!error.where.empty()) text += labelled("  at: ", error.where);
  if (!error.hint.empty()) text += labelled("  hint: ", error.hint);
  return text;
}

std::string warning_text(std::vector<Diagnostic> diagnostics) {
  std::erase_if(diagnostics, [](const Diagnostic& d) { return d.severity == "info"; });  // nothing to be warned of
  std::string text;
  const std::size_t shown = std::min(diagnostics.size(), kMostWarnings);
  for (std::size_t i = 0; i < shown; ++i) {
    const Diagnostic& diagnostic = diagnostics[i];
    const std::string times = diagnostic.count > 1 ? fmt::format(" ({} times)", diagnostic.count) : std::string();
    const std::string_view label = diagnostic.code == kGateFailedCode ? "failed" : "warning";
    text += fmt::format("{}: {}{}\n", label, printable(diagnostic.message), times);
  }
  if (shown < diagnostics.size()) {
    const std::string_view where = find_analysis("check") != nullptr ? "ridge check lists them" : "--json lists them";
    text += fmt::format("warning: {} more kinds of warnings; {}\n", diagnostics.size() - shown, where);
  }
  return text;
}

}  // namespace ridge::cli
