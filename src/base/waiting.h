// Waiting for a pipe, a socket or a terminal, which may take for ever. A signal interrupts one thread, and seldom the one that
// waits: so whoever waits asks now and then whether to go on.
#pragma once

#include <functional>

namespace ridge {

using GoesOn = std::function<bool()>;  // false: asked to stop

// Whether reading from or writing to it may have to wait for somebody else.
bool may_wait(int file);

// Until it can be read from (POLLIN) or written to (POLLOUT), or a call will tell why not. False: asked to stop; where nobody
// can be asked (`goes_on` is empty) any signal that ends the wait does that.
bool wait_for(int file, short events, const GoesOn& goes_on);

}  // namespace ridge
