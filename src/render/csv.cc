// CSV (RFC 4180, lines end in LF): the first table alone, so that a reader gets one header and one kind of row.
// Values are exact and in base units; an unknown one is empty, an empty text is "".
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "render/formats.h"
#include "render/sink.h"
#include "render/utf8.h"

namespace ridge::render {
namespace {

void append_text(std::string& out, std::string_view text) {
  const bool plain = !text.empty() && text.find_first_of(",\"\r\n") == text.npos && text.front() != ' ' && text.back() != ' ';
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
  void operator()(std::string_view value) const { append_text(out, value); }
};

}  // namespace

Result<void> write_csv(const ReportView& report, const RenderOptions&, const Writer& write) {
  Sink sink(write);
  if (report.tables.empty()) return sink.finish();
  const TableView& table = report.tables.front();
  std::string& out = sink.text;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (i > 0) out += ',';
    append_text(out, table.column(i).name);
  }
  out += '\n';
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      if (i > 0) out += ',';
      std::visit(AppendCsvCell{out}, table.cell(row, i));
    }
    out += '\n';
    sink.settle();
  }
  return sink.finish();
}

}  // namespace ridge::render
