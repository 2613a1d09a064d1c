// spawn_on_core: a thread that starts on a processor of its own.
//
// Some schedulers leave a new thread on its maker's processor while another is idle, and move it when they next balance: a few
// milliseconds later, which is more than reading a small trace takes. This asks for another processor, once, at the start;
// afterwards the scheduler may move the thread as it likes. Where there are more processors than threads it has a choice of its
// own and is left alone.
#pragma once

#include <thread>
#include <utility>

namespace ridge {

// The `number`th (from 1) of the threads that join their maker, `threads` with it. Does nothing where it cannot.
void place_apart(std::jthread* thread, unsigned number, unsigned threads);

// Throws std::system_error when there is no thread to be had.
template <class Work>
std::jthread spawn_on_core(unsigned number, unsigned threads, Work&& work) {
  std::jthread thread(std::forward<Work>(work));
  place_apart(&thread, number, threads);
  return thread;
}

}  // namespace ridge
