#include "interrupt.h"

#include <atomic>
#include <csignal>

#include <unistd.h>

#include "error_text.h"

namespace ridge::cli {
namespace {

// A signal handler can reach nothing but a global; this is the only one of the program.
std::atomic<bool> stop_asked = false;
static_assert(std::atomic<bool>::is_always_lock_free);

void on_interrupt(int) {
  if (stop_asked.exchange(true)) ::_exit(kInterrupted);
}

}  // namespace

// Without SA_RESTART a read that waits for a pipe returns, and the reader gets to ask whether to go on.
void install_signal_handlers() {
  struct sigaction action = {};
  action.sa_handler = on_interrupt;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);  // a file over the user's limit: write() fails, and the unfinished file is removed
}

bool interrupted() { return stop_asked; }

}  // namespace ridge::cli
