// The handlers and the one global that they set.
#include "interrupt.h"

#include <csignal>

#include <unistd.h>

namespace ridge::cli {
namespace {

constexpr int kBySignal = 128;  // as shells have it: 130 for Ctrl-C

// A signal handler can reach nothing but a global; these are the only ones that change. 0: none has come.
std::atomic<int> stop_signal = 0;
std::atomic<bool> has_come = false;
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

// What this program changes, as it was before.
struct Disposition {
  int number;
  struct sigaction action;
};
Disposition as_found[] = {{SIGINT, {}}, {SIGTERM, {}}, {SIGHUP, {}}, {SIGPIPE, {}}, {SIGXFSZ, {}}, {SIGALRM, {}}};

void end_by(int number) { ::_exit(kBySignal + number); }

// A signal that comes after the last look at the flag and before a read or write begins to wait would end neither: once a
// second it is called to mind again.
void remind(int) { ::alarm(1); }

void on_stop(int number) {
  if (stop_signal.exchange(number) != 0) end_by(number);
  has_come = true;
  remind(number);
}

// Without SA_RESTART a read that waits for a pipe returns, and the reader gets to ask whether to go on.
void handle(int number, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  ::sigaction(number, &action, nullptr);
}

bool is_ignored(int number) {
  struct sigaction now = {};
  return ::sigaction(number, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

// Not SIGQUIT: who asks for a core wants to see what was there, unfinished files too.
void handle_stops(void (*handler)(int)) {
  handle(SIGINT, handler);
  handle(SIGTERM, handler);
  if (!is_ignored(SIGHUP)) handle(SIGHUP, handler);  // who asked not to be ended by a closed terminal (nohup) is not
}

}  // namespace

void install_signal_handlers() {
  for (Disposition& one : as_found) ::sigaction(one.number, nullptr, &one.action);
  handle_stops(on_stop);
  handle(SIGALRM, remind);
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);  // a file over the user's limit: write() fails, and the unfinished file is removed
}

void restore_signal_handlers() {
  ::alarm(0);
  for (const Disposition& one : as_found) ::sigaction(one.number, &one.action, nullptr);
}

void end_at_signals() { handle_stops(end_by); }

bool interrupted() { return stop_signal != 0; }

const std::atomic<bool>& interrupted_flag() { return has_come; }

int interrupted_code() { return kBySignal + (interrupted() ? stop_signal.load() : SIGINT); }

}  // namespace ridge::cli
