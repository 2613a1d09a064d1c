// ridge: the command line. Everything else is in the files beside this one.
#include <cstdio>
#include <cstdlib>

#include "program.h"

int main(int argc, char** argv) {
  const int code = ridge::cli::run_program({argv + 1, argv + argc});
#if defined(RIDGE_ADDRESS_SANITIZER)
  return code;
#else
  std::fflush(nullptr);
  std::_Exit(code);  // the system takes back a trace's memory far faster than destructors do
#endif
}
