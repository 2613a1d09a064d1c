// Which rows of a table an expression matches. Each distinct text is looked at once.
#include <algorithm>
#include <unordered_map>

#include <re2/re2.h>

#include <ridge/row_match.h>

#include "base/try.h"
#include "render/report_view.h"

namespace ridge {
namespace {

constexpr std::size_t kLongestExpression = 1000;

// Whether a text matches, remembered.
class TextMatcher {
 public:
  explicit TextMatcher(const RE2& wanted) : wanted_(wanted) {}

  bool operator()(std::string_view text) {
    const auto [it, added] = known_.try_emplace(text, false);
    if (added) it->second = RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), wanted_);
    return it->second;
  }

 private:
  const RE2& wanted_;
  std::unordered_map<std::string_view, bool> known_;
};

}  // namespace

Result<std::vector<std::uint32_t>> matching_rows(const Report& report, std::string_view table, std::string_view expression,
                                                 const View& view) {
  if (expression.size() > kLongestExpression) return fail(ErrorCode::usage, "the expression is longer than 1000 bytes");
  RE2::Options options;
  options.set_log_errors(false);
  options.set_case_sensitive(false);
  const RE2 wanted(re2::StringPiece(expression.data(), expression.size()), options);
  if (!wanted.ok())
    return fail(ErrorCode::usage, "not a valid regular expression: " + wanted.error(), "", "the syntax is RE2's");
  TRY(const render::ReportView shown, render::view_report(report, view, false));
  const auto found =
      std::ranges::find_if(shown.tables, [&](const render::TableView& each) { return each.table->name == table; });
  if (found == shown.tables.end()) return fail(ErrorCode::usage, "there is no such table in this report");
  TextMatcher matches(wanted);
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row = 0; row < found->rows.size(); ++row) {
    for (std::size_t column = 0; column < found->columns.size(); ++column) {
      const CellView cell = found->cell(row, column);
      const auto* text = std::get_if<std::string_view>(&cell);
      if (text == nullptr || !matches(*text)) continue;
      rows.push_back(row);
      break;
    }
  }
  return rows;
}

}  // namespace ridge
