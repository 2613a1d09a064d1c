// Pads by characters, not bytes.
#include "text_table.h"

#include <algorithm>

namespace ridge::profile_analysis {
namespace {

bool starts_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts_character));
}

std::string line(const TextRow& row, const std::vector<std::size_t>& widths) {
  std::string out;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (i > 0) out += "|";
    out += " " + row[i] + std::string(widths[i] - characters(row[i]), ' ') + " ";
  }
  return out;
}

}  // namespace

std::string text_table(const TextRow& header, const std::vector<TextRow>& rows) {
  std::vector<std::size_t> widths;
  for (const std::string& cell : header) widths.push_back(characters(cell));
  for (const TextRow& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], characters(row[i]));
  }
  std::string out = line(header, widths);
  out += "\n" + std::string(characters(out), '-');
  for (const TextRow& row : rows) out += "\n" + line(row, widths);
  return out;
}

std::string shortened(std::string_view name, long limit) {
  const auto size = static_cast<long>(characters(name));
  long wanted = limit < 0 ? std::max(0L, size + limit) : limit;
  std::size_t end = 0;
  for (; end < name.size(); ++end) {
    if (starts_character(name[end]) && wanted-- == 0) break;
  }
  return std::string(name.substr(0, end));
}

}  // namespace ridge::profile_analysis
