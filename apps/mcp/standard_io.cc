// Two descriptors: what comes in is cut into lines, what goes out is written whole.
#include "standard_io.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>

#include "line_reader.h"

namespace ridge::mcp {
namespace {

// Nobody reads what a client that is gone asked for; a reading under way may take long.
void write_out(std::string_view line) {
  while (!line.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, line.data(), line.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) std::_Exit(0);
    line.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

void serve_stdio(const Access& access, const SessionOptions& options) {
  Session session(access, options, write_out);
  LineReader lines(kLongestLine);
  const auto line = [&](std::string_view text) { session.receive(text); };
  const auto too_long = [&] { session.refuse_long_line(); };
  std::array<char, 65536> bytes;
  for (;;) {
    const ssize_t got = ::read(STDIN_FILENO, bytes.data(), bytes.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    lines.add({bytes.data(), static_cast<std::size_t>(got)}, line, too_long);
  }
  lines.end(line, too_long);
  session.finish();
}

}  // namespace ridge::mcp
