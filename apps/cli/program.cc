// From the words of a command line to an exit code, with every error told.
#include "program.h"

#include <malloc.h>

#include <new>

#include "arguments.h"
#include "commands.h"
#include "error_text.h"
#include "help.h"
#include "interrupt.h"
#include "standard_streams.h"

namespace ridge::cli {
namespace {

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

}  // namespace

int run_program(const std::vector<std::string>& args) {
  install_signal_handlers();
  mallopt(M_MMAP_THRESHOLD, 256 << 20);  // large tables come and go: their pages are reused, not given back and cleared again
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
  try {
    return run_words(args);
  } catch (const std::bad_alloc&) {
    write_standard_error("error: out of memory\n  hint: use a machine with more memory, or a shorter trace\n");
    return 1;
  }
}

}  // namespace ridge::cli
