// poll() a tenth of a second at a time, asking in between whether to go on.
#include "base/waiting.h"

#include <poll.h>
#include <sys/stat.h>

#include <cerrno>

namespace ridge {

bool may_wait(int file) {
  struct stat about = {};
  return ::fstat(file, &about) == 0 && (S_ISFIFO(about.st_mode) || S_ISSOCK(about.st_mode) || S_ISCHR(about.st_mode));
}

bool wait_for(int file, short events, const GoesOn& goes_on) {
  constexpr int kAskEveryMs = 100;
  for (;;) {
    pollfd wait{.fd = file, .events = events, .revents = 0};
    const int ready = ::poll(&wait, 1, kAskEveryMs);
    if (ready > 0 || (ready < 0 && errno != EINTR)) return true;
    if (goes_on ? !goes_on() : ready < 0) return false;
  }
}

}  // namespace ridge
