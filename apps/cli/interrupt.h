// Signals: Ctrl-C asks the work to stop, a second one ends the program at once; a closed pipe or a full quota is an error of write().
#pragma once

namespace ridge::cli {

void install_signal_handlers();

bool interrupted();

}  // namespace ridge::cli
