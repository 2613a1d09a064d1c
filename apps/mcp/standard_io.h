// The session over standard input and output: a message a line. Returns when the input ends and all is answered.
#pragma once

#include "access.h"
#include "session.h"

namespace ridge::mcp {

void serve_stdio(const Access& access, const SessionOptions& options);

}  // namespace ridge::mcp
