// Signals are handed on as they were found.
#include "become.h"

#include <system_error>

#include <unistd.h>

#include <fmt/format.h>

#include "interrupt.h"

namespace ridge::cli {

Result<int> become(const std::vector<std::string>& words, int* why) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  restore_signal_handlers();
  ::execvp(arguments.front(), arguments.data());
  const int error = errno;
  install_signal_handlers();
  if (why != nullptr) *why = error;
  return fail(ErrorCode::cannot_open, fmt::format("cannot run {}: {}", words.front(), std::generic_category().message(error)));
}

}  // namespace ridge::cli
