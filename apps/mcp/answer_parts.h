// AnswerDraft: what an answer will say, chosen by answer.cc; and how it is written, as a text and as JSON.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ridge/table.h>

namespace ridge::mcp {

inline constexpr std::string_view kLacksTable = "lacks";  // of the summary: told as what cannot be told

struct AnswerPart {
  const Table* table = nullptr;
  bool leads = false;
  bool in_pairs = false;              // a row as "name value, ..."; else as cells under a line of names
  std::vector<std::size_t> columns;   // that are shown
  std::vector<std::string> left_out;  // names of those that are not
  std::vector<std::uint32_t> rows;    // all of them, in order
  std::size_t first = 0, count = 0;   // the rows that are shown
  std::vector<std::size_t> known;     // of the columns: those of which a row that is shown knows something
  std::vector<std::string> unknown;   // the names of the others
};

struct AnswerCall {
  std::string tool;
  std::vector<std::pair<std::string, std::string>> arguments;  // names and JSON
};

struct AnswerDraft {
  std::string tool;
  std::vector<std::pair<std::string, std::string>> arguments;
  std::vector<std::string> traces, headlines, commands;
  std::string verdict;  // our own words; empty: none
  std::vector<AnswerPart> parts;
  std::vector<std::string> cannot_tell, notes;
  std::vector<AnswerCall> next;
  std::size_t longest_text = 0;
  std::size_t most_sentences = 0;  // of each list of them
};

// The members of the result: content, and structuredContent where `structured`.
std::string laid_out(const AnswerDraft& draft, bool structured);

}  // namespace ridge::mcp
