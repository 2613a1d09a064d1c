// What the user is told when something goes wrong, and with which code the program ends.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <ridge/report.h>
#include <ridge/result.h>

namespace ridge::cli {

inline constexpr int kGateFailed = 3;
inline constexpr int kUsage = 2;
inline constexpr std::string_view kGateFailedCode = "gate_failed";  // of the diagnostics that say why

int exit_code(ErrorCode code);

// "error: what", "  at: file, byte offset", "  hint: what to do".
std::string error_text(const Error& error);

// One line per kind, the first few; then how many more there are.
std::string warning_text(std::vector<Diagnostic> diagnostics);

}  // namespace ridge::cli
