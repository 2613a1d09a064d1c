// The first words of a query, as far as they tell whose it is.
#include "sql/dialect.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <vector>

namespace ridge::sql {
namespace {

// Behind spaces, comments and, if wanted, semicolons.
std::string_view skip_blank(std::string_view sql) {
  for (;;) {
    const std::size_t word = sql.find_first_not_of(" \t\r\n\f;");
    if (word == std::string_view::npos) return {};
    sql.remove_prefix(word);
    const std::string_view closes = sql.starts_with("--") ? "\n" : sql.starts_with("/*") ? "*/" : "";
    if (closes.empty()) return sql;
    const std::size_t end = sql.find(closes, 2);
    if (end == std::string_view::npos) return {};
    sql.remove_prefix(end + closes.size());
  }
}

// The first words in upper case.
std::vector<std::string> first_words(std::string_view sql, std::size_t count) {
  std::vector<std::string> words;
  while (words.size() < count) {
    sql = skip_blank(sql);
    const auto ends = [](unsigned char c) { return std::isalnum(c) == 0 && c != '_' && c != '.'; };
    const auto end = std::ranges::find_if(sql, ends);
    if (end == sql.begin()) break;
    std::string& word = words.emplace_back(sql.begin(), end);
    std::ranges::transform(word, word.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    sql.remove_prefix(word.size());
  }
  return words;
}

constexpr std::string_view kUseWith =
    "name a part of the query with WITH: WITH big AS (select * from slice where dur > 1000000) select ...";
constexpr std::string_view kNoModules =
    "leave the line out: modules of Perfetto's library are not known here, its tables (slice, thread, args, ...) are there "
    "without one, and ridge sql TRACE --tables lists the analyses, such as kernels() and gpu_idle()";

}  // namespace

bool is_more_than_blank(std::string_view sql) { return !skip_blank(sql).empty(); }

std::optional<Error> refuse_dialect(std::string_view query) {
  const std::vector<std::string> words = first_words(query, 6);
  if (words.empty()) return std::nullopt;
  const auto error = [](std::string message, std::string_view hint) {
    return Error{ErrorCode::usage, std::move(message), "", std::string(hint)};
  };
  const auto is = [&](std::size_t i, std::string_view word) { return i < words.size() && words[i] == word; };
  if (is(0, "INCLUDE")) return error("INCLUDE PERFETTO MODULE is Perfetto's own", kNoModules);
  const bool creates = is(0, "CREATE") || is(0, "DROP");
  if (creates && std::ranges::find(words, "PERFETTO") != words.end()) {
    return error(words[0] + " PERFETTO is Perfetto's own, and SQL is for reading here", kUseWith);
  }
  if (is(0, "CREATE") && std::ranges::any_of(words, [](const std::string& w) { return w.starts_with("SPAN_"); }))
    return error("SPAN_JOIN is Perfetto's own", "join on the times: a.ts < b.ts + b.dur AND b.ts < a.ts + a.dur");
  if (creates) return error("SQL is for reading: no " + words[0], kUseWith);
  return std::nullopt;
}

}  // namespace ridge::sql
