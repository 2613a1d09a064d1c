#include "standard_streams.h"

#include <cerrno>
#include <cstring>

#include <unistd.h>

#include <fmt/format.h>

#include "interrupt.h"

namespace ridge::cli {

namespace {

// 0 or errno.
int write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && (errno != EINTR || interrupted())) return errno;
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace

Result<void> write_standard_output(std::string_view text) {
  const int error = write_all(STDOUT_FILENO, text);
  if (error == 0 || error == EPIPE) return {};
  if (error == EINTR) return fail(ErrorCode::interrupted, "interrupted");
  return fail(ErrorCode::cannot_write, fmt::format("cannot write to standard output: {}", std::strerror(error)));
}

void write_standard_error(std::string_view text) { (void)write_all(STDERR_FILENO, text); }

}  // namespace ridge::cli
