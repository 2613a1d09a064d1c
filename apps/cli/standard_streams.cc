// write() until all is written; a closed pipe is no error.
#include "standard_streams.h"

#include <cerrno>
#include <cstring>

#include <poll.h>
#include <unistd.h>

#include <fmt/format.h>

#include "interrupt.h"

namespace ridge::cli {

namespace {

// 0 or errno. A signal may come while a pipe that nobody reads is waited for, also after it has taken some of the text.
int write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EAGAIN) {  // somebody else has made the pipe one that does not wait
      pollfd wait{.fd = file, .events = POLLOUT, .revents = 0};
      (void)::poll(&wait, 1, -1);
    } else if (written < 0 && errno != EINTR) {
      return errno;
    }
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
    if (!text.empty() && interrupted()) return EINTR;
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
