// Which rows of which format, and where to: what analyses and saved answers have in common.
#include "write_answer.h"

#include <ridge/output_file.h>
#include <ridge/render.h>

#include "standard_streams.h"
#include "terminal.h"

namespace ridge::cli {
namespace {

constexpr std::int64_t kRowsForPeople = 20;

}  // namespace

bool to_file(const Settings& settings) { return !settings.output.empty() && settings.output != "-"; }

Result<void> write_answer(const Report& report, const Settings& settings) {
  const Format& format = settings.format != nullptr ? *settings.format : formats().front();
  const std::int64_t limit = settings.limit.value_or(format.cut_by_default ? kRowsForPeople : 0);
  const View view{.sort = settings.sort, .limit = limit, .fold = format.cut_by_default && limit != 0};
  const auto render = [&](const Writer& writer) {
    return write_report(report, format, view, render_options(settings), writer);
  };
  return to_file(settings) ? write_output_file(settings.output, render) : render(write_standard_output);
}

}  // namespace ridge::cli
