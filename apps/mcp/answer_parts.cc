// A draft as text for a reader and as JSON for a program. Both tell the same.
#include "answer_parts.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <span>

#include <fmt/format.h>

#include <ridge/json.h>
#include <ridge/render.h>

#include "answer.h"

namespace ridge::mcp {
namespace {

// Six digits tell all that a reader needs; exact values are what the command prints with --json.
double rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  double out = value;
  const std::string text = fmt::format("{:.6g}", value);
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

std::string figure(double value, Unit unit) {
  return unit == Unit::none || unit == Unit::count ? fmt::format("{:.6g}", value) : with_unit(value, unit);
}

struct CellText {
  Unit unit;
  const AnswerDraft& draft;

  std::string operator()(std::monostate) const { return "unknown"; }
  std::string operator()(bool value) const { return value ? "yes" : "no"; }
  std::string operator()(std::int64_t value) const {
    return unit == Unit::none || unit == Unit::count ? std::to_string(value) : figure(static_cast<double>(value), unit);
  }
  std::string operator()(double value) const { return figure(value, unit); }
  std::string operator()(std::string_view text) const { return draft.quoted(text); }
};

struct CellJson {
  JsonWriter& json;
  const AnswerDraft& draft;

  void operator()(std::monostate) const { json.null(); }
  void operator()(bool value) const { json.raw(value ? "true" : "false"); }
  void operator()(std::int64_t value) const { json.number(value); }
  void operator()(double value) const { json.number(rounded(value)); }
  void operator()(std::string_view text) const { json.raw(draft.quoted(text)); }
};

// "time" for "time_ns": the cells bear units.
std::string_view heading(const Column& column) {
  std::string_view name = column.name;
  if (column.unit == Unit::ns && name.ends_with("_ns")) name.remove_suffix(3);
  return name;
}

std::string pairs(const AnswerPart& part, std::uint32_t row, const AnswerDraft& draft) {
  std::string line;
  for (const std::size_t i : part.known) {
    const Column& column = part.table->columns[i];
    line += (line.empty() ? "" : "; ") + std::string(heading(column)) + " " +
            std::visit(CellText{column.unit, draft}, part.table->cell(row, i));
  }
  return line;
}

std::string rows_of(const AnswerPart& part, const AnswerDraft& draft) {
  std::string text;
  for (std::size_t i = part.first; i < part.first + part.count; ++i) {
    const std::uint32_t row = part.rows[i];
    if (part.in_pairs) {
      text += "- " + pairs(part, row, draft) + "\n";
      continue;
    }
    text += "-";
    for (const std::size_t column : part.known) {
      text += column == part.known.front() ? " " : " | ";
      text += std::visit(CellText{part.table->columns[column].unit, draft}, part.table->cell(row, column));
    }
    text += "\n";
  }
  return text;
}

std::string part_text(const AnswerPart& part, const AnswerDraft& draft) {
  const std::size_t all = part.rows.size();
  std::string text = part.table->name;
  if (part.count == all) {
    text += all == 1 ? "" : fmt::format(", {} rows", all);
  } else {
    text += part.count == 0 ? fmt::format(", none of its {} rows", all)
                            : fmt::format(", rows {} to {} of {}", part.first + 1, part.first + part.count, all);
  }
  if (part.count > 0 && !part.in_pairs) {
    text += ": ";
    for (const std::size_t column : part.known)
      text += (column == part.known.front() ? "" : " | ") + std::string(heading(part.table->columns[column]));
  }
  text += "\n" + rows_of(part, draft);
  if (part.count > 0 && part.table->total) {
    const Row& total = *part.table->total;
    std::string sums;
    for (const std::size_t i : part.known) {
      const Column& column = part.table->columns[i];
      if (i >= total.size() || is_null(total[i])) continue;
      sums += (sums.empty() ? "" : "; ") + std::string(heading(column)) + " " +
              std::visit(CellText{column.unit, draft}, view_of(total[i]));
    }
    if (!sums.empty()) text += "total: " + sums + "\n";
  }
  const auto list = [&](std::string_view label, const std::vector<std::string>& names) {
    if (part.count == 0 || names.empty()) return;
    text += label;
    for (const std::string& name : names) text += (name == names.front() ? "" : ", ") + name;
    text += "\n";
  };
  list("unknown: ", part.unknown);
  list("with wide: true also ", part.left_out);
  return text;
}

std::string call_json(const AnswerCall& call) {
  std::string out = "{";
  for (const auto& [name, value] : call.arguments) out += (out.size() == 1 ? "\"" : ",\"") + name + "\":" + value;
  return out + "}";
}

std::vector<AnswerCall> calls_for_more(const AnswerDraft& draft) {
  std::vector<AnswerCall> calls;
  for (const AnswerPart& part : draft.parts) {
    const std::size_t shown = part.first + part.count;
    if (shown >= part.rows.size()) continue;
    AnswerCall call{draft.tool, draft.arguments};
    call.arguments.emplace_back("table", "\"" + part.table->name + "\"");
    if (shown > 0) call.arguments.emplace_back("offset", std::to_string(shown));
    calls.push_back(std::move(call));
  }
  return calls;
}

std::string answer_text(const AnswerDraft& draft, const std::vector<AnswerCall>& more) {
  std::string text = draft.tool;
  for (const std::string& trace : draft.traces) text += (trace == draft.traces.front() ? " of " : ", ") + draft.quoted(trace);
  text += "\n";
  for (const std::string& headline : draft.headlines) text += "answer: " + draft.quoted(headline) + "\n";
  if (!draft.verdict.empty()) text += draft.verdict + "\n";
  for (const AnswerPart& part : draft.parts) text += "\n" + part_text(part, draft);
  const auto sentences = [&](std::string_view label, const std::vector<std::string>& list) {
    for (std::size_t i = 0; i < std::min(list.size(), draft.most_sentences); ++i)
      text += std::string(label) + draft.quoted(list[i]) + "\n";
    if (list.size() > draft.most_sentences) text += fmt::format("{}{} more\n", label, list.size() - draft.most_sentences);
  };
  text += "\n";
  sentences("cannot tell: ", draft.cannot_tell);
  sentences("note: ", draft.notes);
  for (const std::string& command : draft.commands) text += "reproduce: " + command + "\n";
  for (const AnswerCall& call : draft.next) text += "next: " + call.tool + " " + call_json(call) + "\n";
  for (const AnswerCall& call : more) text += "more: " + call.tool + " " + call_json(call) + "\n";
  return text + std::string(kDataNote);
}

void part_json(const AnswerPart& part, const AnswerDraft& draft, JsonWriter& json) {
  json.object([&] {
    json.key("name").text(part.table->name);
    json.key("columns").array(part.known, [&](std::size_t i) { json.text(part.table->columns[i].name); });
    if (part.count > 0 && !part.unknown.empty()) json.key("unknown").value(part.unknown);
    const std::vector<std::uint32_t> rows(part.rows.begin() + static_cast<std::ptrdiff_t>(part.first),
                                          part.rows.begin() + static_cast<std::ptrdiff_t>(part.first + part.count));
    json.key("rows").array(rows, [&](std::uint32_t row) {
      json.array(part.known, [&](std::size_t i) { std::visit(CellJson{json, draft}, part.table->cell(row, i)); });
    });
    json.key("offset").number(std::uint64_t{part.first});
    json.key("rows_in_all").number(std::uint64_t{part.rows.size()});
  });
}

std::string answer_json(const AnswerDraft& draft, const std::vector<AnswerCall>& more) {
  JsonWriter json;
  const auto texts = [&](std::string_view name, const std::vector<std::string>& list, std::size_t most) {
    json.key(name).array(std::span(list).first(std::min(list.size(), most)),
                         [&](const std::string& each) { json.raw(draft.quoted(each)); });
  };
  const auto calls = [&](std::string_view name, const std::vector<AnswerCall>& list) {
    json.key(name).array(list, [&](const AnswerCall& call) {
      json.object([&] {
        json.key("tool").text(call.tool);
        json.key("arguments").raw(call_json(call));
      });
    });
  };
  json.object([&] {
    texts("traces", draft.traces, SIZE_MAX);
    texts("answer", draft.headlines, SIZE_MAX);
    json.key("verdict").text_or_null(draft.verdict);
    json.key("tables").array(draft.parts, [&](const AnswerPart& part) { part_json(part, draft, json); });
    texts("cannot_tell", draft.cannot_tell, draft.most_sentences);
    texts("notes", draft.notes, draft.most_sentences);
    json.key("reproduce").value(draft.commands);
    calls("next", draft.next);
    calls("more", more);
    json.key("data").text(kDataNote);
  });
  return json.take();
}

}  // namespace

std::string quoted_data(std::string_view text, std::size_t longest) {
  std::string out;
  append_json_string(out, printable(text), longest);
  return out;
}

std::string LongTexts::quoted(std::string_view text, std::size_t longest) {
  constexpr std::size_t kLong = 512;
  if (text.size() < kLong) return quoted_data(text, longest);
  std::string& made = made_[{text.data(), text.size(), longest}];
  if (made.empty()) made = quoted_data(text, longest);
  return made;
}

std::string laid_out(const AnswerDraft& draft, bool structured) {
  const std::vector<AnswerCall> more = calls_for_more(draft);
  std::string out = text_members(answer_text(draft, more), false);
  if (structured) out += R"(,"structuredContent":)" + answer_json(draft, more);
  return out;
}

}  // namespace ridge::mcp
