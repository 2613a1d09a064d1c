// Report to text: one row per output format. A new format is one file in src/render and one row here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <ridge/report.h>
#include <ridge/result.h>
#include <ridge/writer.h>

namespace ridge {

namespace render {
struct ReportView;  // a report with what of it is shown; src/render/report_view.h
}

struct RenderOptions {
  bool color = false;  // terminal escapes allowed
  int width = 0;       // columns of the terminal; 0: not a terminal, nothing is truncated
  bool wide = true;    // every column of a table; else those that matter most, where not all are readable side by side
  std::size_t longest_text = 0;  // bytes of a text as JSON writes it, see <ridge/json.h>; 0: every text is whole
  bool paths = true;             // false: JSON has the traces' names in place of their paths
};

struct Format {
  std::string_view name;         // what -f takes
  std::string_view description;  // one line for help
  bool cut_by_default;           // for people: 20 rows a table unless told otherwise
  Result<void> (*write)(const render::ReportView& report, const RenderOptions& options, const Writer& write);
  bool draws = false;  // only Report::plots: there is nothing to render where there are none
};

std::span<const Format> formats();

// The format of that name; an error with the nearest names otherwise.
Result<const Format*> find_format(std::string_view name);

// What a user asks of the rows, the same for every analysis.
struct View {
  std::string sort;        // column: numbers down, text up, unknown last; "-name": the other way; "time" means "time_ns"
  std::int64_t limit = 0;  // rows kept per table; 0 = all. People are told how many were cut off
  bool fold = false;       // fold the rows that a table says are not worth reading, join those that are equal; for people
};

// Writes a report as it is made: the text of JSON and CSV is never held whole. The first table that has the column is sorted,
// every table is cut. A column that no table has is an error that names the nearest ones, and then nothing is written.
Result<void> write_report(const Report& report, const Format& format, const View& view, const RenderOptions& options,
                          const Writer& write);

// The same as one text.
Result<std::string> report_text(const Report& report, const Format& format, const View& view = {},
                                const RenderOptions& options = {});

// The pieces that clients need for their own lines (warnings, errors, progress), the same as in tables.

// Text from a trace made safe for a terminal: control and bidirectional characters are escaped, bad UTF-8 is replaced by
// U+FFFD.
std::string printable(std::string_view text);

bool is_valid_utf8(std::string_view text);

// `code` is at most U+10FFFF.
void append_utf8(std::string& out, char32_t code);

// "12.3 MB" for 12'300'000 bytes.
std::string with_unit(double value, Unit unit);

// "did you mean info or ops?"; empty when no candidate is near.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace ridge
