// Which rows of a table an expression matches. Each distinct text is looked at once.
#include <unordered_map>

#include <re2/re2.h>

#include <ridge/render.h>

namespace ridge {
namespace {

constexpr std::size_t kLongestExpression = 1000;

}  // namespace

Result<std::vector<std::uint32_t>> matching_rows(const Table& table, std::string_view expression) {
  if (expression.size() > kLongestExpression) return fail(ErrorCode::usage, "the expression is longer than 1000 bytes");
  RE2::Options options;
  options.set_log_errors(false);
  options.set_case_sensitive(false);
  const RE2 wanted(re2::StringPiece(expression.data(), expression.size()), options);
  if (!wanted.ok())
    return fail(ErrorCode::usage, "not a valid regular expression: " + wanted.error(), "", "the syntax is RE2's");
  std::vector<std::uint32_t> rows;
  std::unordered_map<std::string_view, bool> known;
  const auto matches = [&](std::string_view text) {
    const auto [it, added] = known.try_emplace(text, false);
    if (added) it->second = RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), wanted);
    return it->second;
  };
  for (std::size_t row = 0; row < table.size(); ++row) {
    for (const Column& column : table.columns) {
      const auto text = column.text(row);
      if (!text || !matches(*text)) continue;
      rows.push_back(static_cast<std::uint32_t>(row));
      break;
    }
  }
  return rows;
}

}  // namespace ridge
