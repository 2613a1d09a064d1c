// CSV (RFC 4180, lines end in LF): the first table alone, so that a reader gets one header and one kind of row.
// Values are exact and in base units; an unknown one is empty, an empty text is "".
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "render/formats.h"
#include "render/utf8.h"

namespace ridge::render {
namespace {

void append_text(std::string& out, const std::string& text) {
  const bool plain =
      !text.empty() && text.find_first_of(",\"\r\n") == std::string::npos && text.front() != ' ' && text.back() != ' ';
  if (plain) {
    out += valid_utf8(text);
    return;
  }
  out += '"';
  for (char c : valid_utf8(text)) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

struct AppendCsvCell {
  std::string& out;

  void operator()(std::monostate) const {}
  void operator()(bool value) const { out += value ? "true" : "false"; }
  void operator()(std::int64_t value) const { fmt::format_to(std::back_inserter(out), "{}", value); }
  void operator()(double value) const {
    if (std::isfinite(value)) fmt::format_to(std::back_inserter(out), "{}", value);
  }
  void operator()(const std::string& value) const { append_text(out, value); }
};

}  // namespace

std::string render_csv(const Report& report, const RenderOptions&) {
  std::string out;
  if (report.tables.empty()) return out;
  const Table& table = report.tables.front();
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (i > 0) out += ',';
    append_text(out, table.columns[i].name);
  }
  out += '\n';
  for (const Row& row : table.rows) {
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      if (i > 0) out += ',';
      if (i < row.size()) std::visit(AppendCsvCell{out}, row[i]);
    }
    out += '\n';
  }
  return out;
}

}  // namespace ridge::render
