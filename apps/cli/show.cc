// Reads the file whole, then prints as an analysis does: the answer first, then its warnings.
#include "show.h"

#include <fstream>
#include <iostream>
#include <iterator>

#include <ridge/output_file.h>

#include "error_text.h"
#include "saved_report.h"
#include "standard_streams.h"
#include "write_answer.h"

namespace ridge::cli {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 30;

Result<std::string> text_of_file(const std::string& path) {
  std::ifstream file;
  if (path != "-") file.open(path, std::ios::binary);
  std::istream& in = path == "-" ? std::cin : file;
  std::string text;
  std::string piece(std::size_t{1} << 20, '\0');
  while (in && text.size() <= kMostBytes) {
    in.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    text.append(piece, 0, static_cast<std::size_t>(in.gcount()));
  }
  if (text.size() > kMostBytes) return fail(ErrorCode::too_large, "a saved answer of more than 1 GiB", path);
  if (path != "-" && !file.is_open())
    return fail(ErrorCode::cannot_open, "the saved answer cannot be read", path, "give a file that ridge wrote with --json");
  return text;
}

}  // namespace

Result<int> run_show(const Invocation& invocation) {
  if (invocation.words.size() != 1)
    return fail(ErrorCode::usage, "show takes one saved answer", {},
                "ridge kernels trace.json --json -o k.json; ridge show k.json");
  const Settings& settings = invocation.settings;
  if (to_file(settings)) {
    if (const auto checked = check_output(settings.output, invocation.words); !checked) return tl::unexpected(checked.error());
  }
  const auto text = text_of_file(invocation.words.front());
  if (!text) return tl::unexpected(text.error());
  auto report = read_saved_report(*text);
  if (!report) {
    report.error().where = invocation.words.front();
    return tl::unexpected(report.error());
  }
  if (const auto written = write_answer(*report, settings); !written) return tl::unexpected(written.error());
  if (!settings.quiet) write_standard_error(warning_text(std::move(report->diagnostics)));
  return 0;
}

}  // namespace ridge::cli
