// One function for each kind of tool.
#include "toolbox.h"

#include <algorithm>

#include <fmt/format.h>

#include <ridge/folder.h>
#include <ridge/stop.h>

#include "answer.h"
#include "command_line.h"
#include "words.h"

namespace ridge::mcp {
namespace {

constexpr std::size_t kMostNamesShown = 12;

tl::unexpected<Error> which_trace(const Access& access, const Tool& tool) {
  std::string names;
  const std::vector<ListedTrace> all = access.list().traces;
  for (std::size_t i = 0; i < std::min(all.size(), kMostNamesShown); ++i)
    names += (names.empty() ? "" : ", ") + quoted_data(all[i].name, 200);
  if (all.size() > kMostNamesShown) names += ", ...";
  const std::string wanted = tool.traces == TraceArgument::several
                                 ? fmt::format("{} needs 'traces': {} names at least", tool.name, tool.analysis->fewest_traces)
                                 : fmt::format("{} needs 'trace'", tool.name);
  return fail(ErrorCode::usage, wanted, "", all.empty() ? "there is no trace to read" : "there are " + names);
}

// A table of the traces that may be opened.
Report list_report(const TraceList& list) {
  Report report;
  Table table{.name = "traces", .columns = {{"trace", Type::text}, {"bytes", Type::integer, Unit::bytes}}};
  for (const ListedTrace& each : list.traces) table.add_row({each.name, static_cast<std::int64_t>(each.bytes)});
  report.tables.push_back(std::move(table));
  report.headline = list.traces.empty() ? "no trace may be read: start the server with ridge mcp [--root DIR] [TRACE...]"
                                        : "give one of these as trace, for what to fix first in it";
  if (list.cut) report.diagnostics.push_back({"too_many_files", 1, "the root has more files than are looked at"});
  return report;
}

// Bytes that a URL's hash may hold as they are.
std::string in_hash(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

// A text that a client gives as the beginning of a link for people.
bool is_page_url(std::string_view url) {
  const bool web = url.starts_with("http://") || url.starts_with("https://");
  const auto odd = [](char c) { return c <= ' ' || c >= 0x7F || c == '"' || c == '<' || c == '>' || c == '#' || c == '\\'; };
  return web && std::ranges::none_of(url, odd);
}

}  // namespace

Arguments Toolbox::arguments_for(const AnalysisInfo& info, const Arguments& own) const {
  Arguments all;
  for (const Parameter& parameter : info.parameters) {
    if (const auto given = defaults_.find(parameter.name); given != defaults_.end()) all[given->first] = given->second;
  }
  for (const auto& [name, value] : own) all[name] = value;
  return all;
}

Result<std::vector<OpenTrace>> Toolbox::traces_of(const Tool& tool, const ToolArguments& given) const {
  std::vector<std::string> names = given.traces;
  if (names.empty() && tool.traces == TraceArgument::one && !access_.only_trace().empty()) names = {access_.only_trace()};
  const std::size_t fewest = tool.analysis != nullptr ? tool.analysis->fewest_traces : 1;
  if (names.size() < fewest) return which_trace(access_, tool);
  if (names.size() > 1 && tool.traces == TraceArgument::one)
    return fail(ErrorCode::usage, fmt::format("{} takes one trace", tool.name), "", "ask about each on its own");
  std::vector<OpenTrace> traces;
  for (const std::string& name : names) {
    auto trace = access_.open(name);
    if (!trace) return tl::unexpected(trace.error());
    traces.push_back(std::move(*trace));
  }
  return traces;
}

Result<Toolbox::Opened> Toolbox::opened(const Tool& tool, const ToolArguments& given, Call& call) {
  auto traces = traces_of(tool, given);
  if (!traces) return tl::unexpected(traces.error());
  std::vector<OpenTrace> captures;
  Opened out;
  std::string words;
  for (const OpenTrace& each : *traces) {
    words += " " + shell_word(each.path);
    auto capture = given.capture.empty()
                       ? access_.capture_of(each)
                       : access_.open(given.capture).map([](OpenTrace asked) { return std::optional(std::move(asked)); });
    if (!capture) return tl::unexpected(capture.error());
    out.command_traces += "--capture " + (*capture ? shell_word((*capture)->path) : "-") + " ";
    captures.push_back(*capture ? std::move(**capture) : OpenTrace());
  }
  const bool none = std::ranges::none_of(captures, [](const OpenTrace& each) { return each.file.is_open(); });
  if (none) captures.clear(), out.command_traces.clear();
  out.command_traces += words.substr(1);
  auto engine = engines_.get(*traces, captures, call);
  if (!engine) return tl::unexpected(engine.error());
  out.engine = std::move(*engine);
  return out;
}

Result<std::string> Toolbox::analyse(const Tool& tool, const ToolArguments& given, bool structured, Call& call) {
  const Arguments arguments = arguments_for(*tool.analysis, given.own);
  if (auto good = validate_arguments(tool.name, arguments); !good) return tl::unexpected(good.error());
  Opened with;
  if (tool.traces == TraceArgument::none) {
    with.engine = std::make_shared<const Engine>(Engine::without_trace());
  } else {
    auto done = opened(tool, given, call);
    if (!done) return tl::unexpected(done.error());
    with = std::move(*done);
  }
  const auto report = with.engine->kept_report(tool.name, arguments);
  if (!report) return tl::unexpected(report.error());
  const std::string command = command_line(tool.name, arguments, given.wanted.sort, with.command_traces);
  return answer_members({{report->get(), command}}, given.wanted, {std::string(tool.name), given.repeated, structured});
}

Result<std::string> Toolbox::open_or_list(const Tool& tool, const ToolArguments& given, bool structured, Call& call) {
  const AnswerFrame frame{std::string(tool.name), given.repeated, structured};
  if (given.traces.empty() && access_.only_trace().empty()) {
    const Report report = list_report(access_.list());
    return answer_members({{&report, ""}}, given.wanted, frame);
  }
  const auto with = opened(tool, given, call);
  if (!with) return tl::unexpected(with.error());
  std::vector<std::shared_ptr<const Report>> kept;
  std::vector<AnswerSource> sources;
  for (const std::string_view name : {"findings", "summary"}) {
    const auto all = analyses();
    const Arguments arguments = arguments_for(*std::ranges::find(all, name, &AnalysisInfo::name), given.own);
    const auto report = with->engine->kept_report(name, arguments);
    if (!report) return tl::unexpected(report.error());
    kept.push_back(*report);
    sources.push_back({kept.back().get(), command_line(name, arguments, "", with->command_traces)});
  }
  sources[0].without = {"iteration"};
  sources[1].without = {"findings"};
  return answer_members(sources, given.wanted, frame);
}

Result<std::string> Toolbox::timeline_url(const ToolArguments& given) const {
  const auto traces = traces_of(*find_tool("timeline_url"), given);
  if (!traces) return tl::unexpected(traces.error());
  const auto from = given.integer("from_ns"), to = given.integer("to_ns"), event = given.integer("event");
  if (event && (*event < 0 || *event > UINT32_MAX))
    return fail(ErrorCode::usage, "'event' must be the number of an event", "", "the column event of findings and others");
  if (from.has_value() != to.has_value() || (from && *from >= *to))
    return fail(ErrorCode::usage, "'from_ns' and 'to_ns' are given together, the smaller first");
  std::string hash = "#/timeline?t=0";
  if (from) hash += fmt::format("&r={}-{}", *from, *to);
  if (event) hash += fmt::format("&s={}", *event);
  if (const std::string id = given.text("finding"); !id.empty()) hash += "&f=" + in_hash(id);
  std::string base = given.text("server");
  if (!base.empty() && !is_page_url(base))
    return fail(ErrorCode::usage, "'server' must be the URL that ridge serve printed", "", "http://127.0.0.1:PORT/");
  const std::string serve = "ridge serve " + shell_word(traces->front().path);
  const std::string text =
      base.empty() ? fmt::format("the user runs: {}\nand opens the URL that it prints with this behind it: {}", serve, hash)
                   : fmt::format("{}{}\nwhile this runs: {}", base, hash, serve);
  return text_members(text, false);
}

Result<std::string> Toolbox::run(const Tool& tool, const ToolArguments& given, bool structured, Call& call) {
  if (tool.analysis != nullptr) return analyse(tool, given, structured, call);
  return tool.name == "open" ? open_or_list(tool, given, structured, call) : timeline_url(given);
}

std::string Toolbox::call(const Tool& tool, const JsonValue* arguments, bool structured, Call& call) {
  const StopWhen stop(call.cancelled);
  auto members = read_tool_arguments(tool, arguments).and_then([&](const ToolArguments& given) {
    return run(tool, given, structured, call);
  });
  if (members) return std::move(*members);
  Error error = std::move(members.error());
  error.message = in_words_of(tool, error.message);
  error.hint = in_words_of(tool, error.hint);
  return error_members(error);
}

}  // namespace ridge::mcp
