// Call: one call of a tool under way. Any thread may cancel it; the thread that works on it asks and tells how far it is.
#pragma once

#include <atomic>
#include <functional>
#include <string>

#include <ridge/engine.h>

namespace ridge::mcp {

struct Call {
  std::string id;  // of its request, as JSON text
  std::atomic<bool> cancelled = false;
  bool begun = false;                                  // by a worker; the session's lock guards it
  std::function<void(const Progress&)> progress = {};  // empty: nobody asked for it
};

}  // namespace ridge::mcp
