// ridge: the command line. Parse, run, tell what went wrong; everything else is in the files beside this one.
#include <malloc.h>

#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "arguments.h"
#include "commands.h"
#include "error_text.h"
#include "help.h"
#include "interrupt.h"
#include "standard_streams.h"

namespace {

using namespace ridge;
using namespace ridge::cli;

int run_words(const std::vector<std::string>& args) {
  if (args.empty()) {
    write_standard_error(short_help());
    return kUsage;
  }
  const Result<int> code = parse_arguments(args).and_then(cli::run);
  if (code) return *code;
  write_standard_error(error_text(code.error()));
  return exit_code(code.error().code);
}

int run_safely(const std::vector<std::string>& args) {
  try {
    return run_words(args);
  } catch (const std::bad_alloc&) {
    write_standard_error("error: out of memory\n  hint: use a machine with more memory, or a shorter trace\n");
    return 1;
  }
}

}  // namespace

int main(int argc, char** argv) {
  install_signal_handlers();
  mallopt(M_MMAP_THRESHOLD, 256 << 20);  // large tables come and go: their pages are reused, not given back and cleared again
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
  const int code = run_safely({argv + 1, argv + argc});
#if defined(RIDGE_ADDRESS_SANITIZER)
  return code;
#else
  std::fflush(nullptr);
  std::_Exit(code);  // the system takes back a trace's memory far faster than destructors do
#endif
}
