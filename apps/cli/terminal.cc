// isatty, TERM, NO_COLOR and the window's width, each asked in one place.
#include "terminal.h"

#include <cstdlib>
#include <string_view>

#include <sys/ioctl.h>
#include <unistd.h>

namespace ridge::cli {
namespace {

bool understands_escapes() {
  const char* term = std::getenv("TERM");
  return term != nullptr && *term != '\0' && std::string_view(term) != "dumb";
}

// https://no-color.org: any value but the empty one.
bool color_refused() {
  const char* refused = std::getenv("NO_COLOR");
  return refused != nullptr && *refused != '\0';
}

bool to_standard_output(const Settings& settings) { return settings.output.empty() || settings.output == "-"; }

}  // namespace

int columns_of(int file) {
  struct winsize size = {};
  if (::isatty(file) == 0 || ::ioctl(file, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

RenderOptions render_options(const Settings& settings) {
  if (!to_standard_output(settings) || ::isatty(STDOUT_FILENO) == 0) return {.wide = settings.wide};
  return {.color = settings.color && !color_refused() && understands_escapes(),
          .width = settings.wide ? 0 : columns_of(STDOUT_FILENO),
          .wide = settings.wide};
}

bool shows_progress(const Settings& settings) {
  return !settings.quiet && ::isatty(STDERR_FILENO) != 0 && understands_escapes();
}

}  // namespace ridge::cli
