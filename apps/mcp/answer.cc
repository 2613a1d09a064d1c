// How much fits: the answer is laid out with fewer rows and shorter texts until it does.
#include "answer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>

#include <fmt/format.h>

#include <ridge/json.h>
#include <ridge/render.h>
#include <ridge/shown_rows.h>

#include "answer_parts.h"

namespace ridge::mcp {
namespace {

constexpr std::int64_t kRowsUnlessAsked = 20;
constexpr std::size_t kFrameBytes = 512;  // id, version and the like around the members
constexpr std::size_t kLongestErrorText = 1500;
constexpr double kWorthDoing = 5;  // percent of a step
constexpr double kLookedFor = 1;   // below this share of the time a cause is no finding

// Rows of a table that leads, and of the others; -1: not even the one row of names and values.
struct Caps {
  std::int64_t lead, rest;
};
constexpr std::array kCaps = {Caps{20, 20}, Caps{20, 10}, Caps{20, 6}, Caps{10, 6}, Caps{10, 3},
                              Caps{6, 3},   Caps{5, 2},   Caps{5, 1},  Caps{5, 0},  Caps{3, 1},
                              Caps{3, 0},   Caps{3, -1},  Caps{2, -1}, Caps{1, -1}, Caps{0, -1}};
constexpr std::array<std::size_t, 3> kTextLengths = {400, 200, 100};

// Diagnostics that say what the trace does not tell, and what would.
constexpr std::array<std::string_view, 10> kCannotTell = {
    "no_shapes",           "no_stacks",        "no_memory_events", "no_costs",       "costs_partly_known",
    "replays_without_ops", "no_device_events", "no_step",          "unknown_device", "recorder_may_explain"};

bool has_sentences(const Table& table) {
  return table.hints.key_value || std::ranges::any_of(table.columns, &Column::sentence);
}

// The columns to show, and the names of those left out.
void choose_columns(const Table& table, bool wide, AnswerPart* part) {
  const std::vector<std::string>& important = table.hints.important;
  const bool all = wide || important.empty() || has_sentences(table);
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const Column& column = table.columns[i];
    const bool shown = all || column.role == Role::event || std::ranges::find(important, column.name) != important.end();
    shown ? part->columns.push_back(i) : part->left_out.push_back(column.name);
  }
}

Result<std::vector<AnswerPart>> parts_of(const std::vector<AnswerSource>& sources, const Wanted& wanted) {
  std::vector<AnswerPart> parts;
  std::vector<std::string_view> names;
  for (const AnswerSource& source : sources) {
    auto rows = shown_rows(*source.report, {.sort = wanted.sort, .limit = 0});
    if (!rows) return tl::unexpected(rows.error());
    for (std::size_t i = 0; i < source.report->tables.size(); ++i) {
      const Table& table = source.report->tables[i];
      if (std::ranges::find(source.without, table.name) != source.without.end()) continue;
      names.push_back(table.name);
      if (wanted.table.empty() ? table.name == kLacksTable : table.name != wanted.table) continue;
      AnswerPart& part = parts.emplace_back();
      part.table = &table;
      part.in_pairs = has_sentences(table);
      part.leads = table.hints.leads || !wanted.table.empty() || (i == 0 && !table.hints.key_value);
      part.rows = std::move((*rows)[i]);
      part.first = std::min(wanted.offset, part.rows.size());
      choose_columns(table, wanted.wide, &part);
    }
  }
  if (parts.empty() && !wanted.table.empty()) {
    std::string list;
    for (const std::string_view name : names) list += (list.empty() ? "" : ", ") + std::string(name);
    return fail(ErrorCode::usage, fmt::format("there is no table \"{}\"", printable(wanted.table)), "", "its tables: " + list);
  }
  const auto place = [](const AnswerPart& part) { return part.table->hints.leads ? 0 : part.leads ? 1 : 2; };
  std::ranges::stable_sort(parts, {}, place);
  return parts;
}

// Those of `findings`: the summary has but the first of them, and not what is said beside them.
const Table* findings_of(const std::vector<AnswerSource>& sources) {
  for (const AnswerSource& source : sources) {
    if (source.report->command != "findings") continue;
    for (const Table& table : source.report->tables) {
      if (table.name == "findings" && table.find("saves_pct") != nullptr) return &table;
    }
  }
  return nullptr;
}

bool has_diagnostic(const std::vector<AnswerSource>& sources, std::string_view code) {
  return std::ranges::any_of(sources, [&](const AnswerSource& source) {
    return std::ranges::find(source.report->diagnostics, code, &Diagnostic::code) != source.report->diagnostics.end();
  });
}

// Of the step without the profiler, the part in which the device is idle; nothing where no report tells.
std::optional<double> idle_pct_of_step(const std::vector<AnswerSource>& sources) {
  for (const AnswerSource& source : sources) {
    for (const Table& table : source.report->tables) {
      const Column* busy = table.find("gpu_busy_pct_of_step");
      if (busy != nullptr && !table.empty() && busy->number(0)) return 100 - *busy->number(0);
    }
  }
  return std::nullopt;
}

// "nothing to gain over 4 %", where the findings say so. Where the profiler may hide a cause, all of the device's idle time in
// a step without it is the bound.
std::string verdict(const std::vector<AnswerSource>& sources) {
  const Table* findings = findings_of(sources);
  if (findings == nullptr || has_diagnostic(sources, "no_device_events")) return {};
  double most = kLookedFor;
  for (std::size_t row = 0; row < findings->size(); ++row) {
    const auto saves = findings->column("saves_pct").number(row);
    if (!saves && findings->column("at_most_ns").int64(row)) return {};  // what it saves cannot be told
    most = std::max(most, saves.value_or(0));
  }
  if (most >= kWorthDoing) return {};
  constexpr std::string_view kText = "nothing to gain over {:.0f} % of a step by any cause that is looked for";
  if (has_diagnostic(sources, "recorder_may_explain")) {
    const auto idle = idle_pct_of_step(sources);
    if (!idle) return {};
    if (*idle > most) {
      return fmt::format(kText, std::ceil(*idle)) + fmt::format(
                                                        ": no finding saves over {:.0f} %, but the device idles for up to "
                                                        "{:.0f} % and recording may hide why; a step timed "
                                                        "without the profiler (step_time) tells",
                                                        std::ceil(most), std::ceil(*idle));
    }
  }
  return fmt::format(kText, std::ceil(most));
}

// What to ask next of the finding that saves most.
void add_next_steps(const std::vector<AnswerSource>& sources, const AnswerFrame& frame, AnswerDraft* draft) {
  const Table* findings = findings_of(sources);
  if (findings == nullptr || findings->empty()) return;
  const auto with = [&](std::string_view tool, std::string_view name, const std::string& json) {
    AnswerCall call{std::string(tool), {}};
    for (const auto& given : frame.arguments) {
      if (given.first == "trace" || given.first == "capture") call.arguments.push_back(given);
    }
    call.arguments.emplace_back(name, json);
    draft->next.push_back(std::move(call));
  };
  const auto id = findings->column("id").text(0);
  const auto change = findings->column("change").text(0);
  if (id) with("findings", "claim", quoted_data(*id));
  if (change) with("whatif", "do", "[" + quoted_data(*change) + "]");
}

void add_what_is_lacking(const std::vector<AnswerSource>& sources, AnswerDraft* draft) {
  const auto add = [](std::vector<std::string>* to, std::string text) {
    if (std::ranges::find(*to, text) == to->end()) to->push_back(std::move(text));
  };
  for (const AnswerSource& source : sources) {
    for (const Diagnostic& each : source.report->diagnostics) {
      if (each.code == "no_findings" || each.message == source.report->headline) continue;
      const bool cannot = std::ranges::find(kCannotTell, each.code) != kCannotTell.end();
      add(cannot ? &draft->cannot_tell : &draft->notes, each.message);
    }
    for (const Table& table : source.report->tables) {
      if (table.name != kLacksTable) continue;
      for (std::size_t row = 0; row < table.size(); ++row)
        add(&draft->cannot_tell, fmt::format("what needs {}: record with {}", table.column("lacks").text(row).value_or(""),
                                             table.column("add_with").text(row).value_or("")));
    }
  }
}

// Columns of which no row that is shown knows anything are named once.
void find_unknown(AnswerPart* part) {
  part->known.clear();
  part->unknown.clear();
  const auto shown = std::span(part->rows).subspan(part->first, part->count);
  for (const std::size_t column : part->columns) {
    const bool any = std::ranges::any_of(shown, [&](std::uint32_t row) { return !is_null(part->table->cell(row, column)); });
    any ? part->known.push_back(column) : part->unknown.push_back(part->table->columns[column].name);
  }
}

void cut(AnswerDraft* draft, const Caps& caps, std::int64_t limit) {
  for (AnswerPart& part : draft->parts) {
    const bool one_row = part.table->hints.key_value && caps.rest >= 0;
    std::int64_t most = part.leads ? caps.lead : std::max<std::int64_t>(caps.rest, one_row ? 1 : 0);
    if (limit > 0) most = (most * limit + kRowsUnlessAsked - 1) / kRowsUnlessAsked;
    part.count = std::min<std::size_t>(static_cast<std::size_t>(most), part.rows.size() - part.first);
    find_unknown(&part);
  }
}

}  // namespace

Result<std::string> answer_members(const std::vector<AnswerSource>& sources, const Wanted& wanted, const AnswerFrame& frame) {
  AnswerDraft draft;
  auto parts = parts_of(sources, wanted);
  if (!parts) return tl::unexpected(parts.error());
  draft.parts = std::move(*parts);
  draft.tool = frame.tool;
  draft.arguments = frame.arguments;
  draft.verdict = verdict(sources);
  for (const AnswerSource& source : sources) {
    if (!source.report->headline.empty()) draft.headlines.push_back(source.report->headline);
    if (source.report->gate_failed) draft.notes.emplace_back("a gate failed: on the command line exit code 3");
    if (!source.command.empty()) draft.commands.push_back(source.command);
    for (const TraceRef& trace : source.report->traces) {
      if (std::ranges::find(draft.traces, trace.name) == draft.traces.end()) draft.traces.push_back(trace.name);
    }
  }
  add_next_steps(sources, frame, &draft);
  add_what_is_lacking(sources, &draft);

  const std::size_t room = std::clamp(wanted.answer_bytes, kFewestAnswerBytes, kMostAnswerBytes) - kFrameBytes;
  for (const std::size_t longest : kTextLengths) {
    draft.longest_text = longest;
    draft.most_sentences = longest == kTextLengths.back() ? 3 : 8;
    for (const Caps& caps : kCaps) {
      cut(&draft, caps, wanted.limit);
      const bool little = caps.lead < 3 && longest > kTextLengths.back();
      if (little) break;  // shorter texts before fewer than three rows
      std::string members = laid_out(draft, frame.structured);
      if (members.size() <= room) return members;
    }
  }
  draft.parts.clear();
  draft.notes.clear();
  std::string members = laid_out(draft, false);
  if (members.size() <= room) return members;
  return text_members("the answer does not fit: ask for more with answer_bytes", false);
}

std::string text_members(std::string_view text, bool is_error) {
  std::string out = R"("content":[{"type":"text","text":)";
  append_json_string(out, text);
  return out + (is_error ? R"(}],"isError":true)" : "}]");
}

std::string error_members(const Error& error) {
  std::string text = "error: " + quoted_data(error.message, kLongestErrorText);
  if (!error.where.empty()) text += "\nat: " + quoted_data(error.where, kLongestErrorText);
  if (!error.hint.empty()) text += "\nhint: " + quoted_data(error.hint, kLongestErrorText);
  return text_members(text, true);
}

}  // namespace ridge::mcp
