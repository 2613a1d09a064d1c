// An answer that was saved as JSON, read again: what another program made in ridge's own form, or what ridge itself wrote with
// --json.
#pragma once

#include <string>
#include <string_view>

#include <ridge/report.h>
#include <ridge/result.h>

namespace ridge::cli {

// Every cell is checked against its column's type. What is not in the document (pictures, most hints) is not in the
// report.
Result<Report> read_saved_report(std::string_view json);

// The same from a file, or from standard input ("-").
Result<Report> load_saved_report(const std::string& path);

}  // namespace ridge::cli
