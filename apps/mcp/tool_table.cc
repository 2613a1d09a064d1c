// The rows, and JSON schemas made from them.
#include "tool_table.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include <ridge/engine.h>
#include <ridge/json.h>

#include "answer.h"
#include "words.h"

namespace ridge::mcp {
namespace {

constexpr std::string_view kOpen = "open";
constexpr std::array kRowParameters = {
    Parameter{"table", Type::text, "only this table of the answer"},
    Parameter{"offset", Type::integer, "rows to skip: the way to more"},
    Parameter{"limit", Type::integer, "rows a table"},
    Parameter{"sort", Type::text, "column: numbers down, text up; -column the other way"},
    Parameter{"wide", Type::boolean, "all columns"},
    Parameter{"answer_bytes", Type::integer, "most bytes of the answer, 6144 to 65536 (default 8192)"},
};
constexpr Parameter kCapture = {"capture", Type::text, "trace with the capture of the graphs that the trace replays"};

constexpr std::array kTimelineParameters = {
    Parameter{"event", Type::integer, "event to select: the column event of findings and others"},
    Parameter{"from_ns", Type::integer, "begin of the range to show, in ns from the window's start"},
    Parameter{"to_ns", Type::integer, "its end"},
    Parameter{"finding", Type::text, "id of a finding whose time to mark"},
    Parameter{"server", Type::text, "URL that a running `ridge serve` printed"},
};

// What the user alone may name, when the server is started: files, and limits.
bool is_for_clients(const Parameter& parameter) {
  constexpr std::array<std::string_view, 2> kLimits = {"max_seconds", "max_memory"};
  return !parameter.names_file && std::ranges::find(kLimits, parameter.name) == kLimits.end();
}

Tool tool_of(const AnalysisInfo& info) {
  Tool tool{
      .name = info.name, .description = std::string(info.description), .analysis = &info, .parameters = {}, .required = {}};
  tool.traces = !info.needs_trace ? TraceArgument::none : info.fewest_traces > 1 ? TraceArgument::several : TraceArgument::one;
  std::ranges::copy_if(info.parameters, std::back_inserter(tool.parameters), is_for_clients);
  if (tool.traces == TraceArgument::one) tool.parameters.push_back(kCapture);
  // A query may be left out, for the list of what can be asked.
  if (!info.operand.empty() && info.operand != "query") tool.required.push_back(info.operand);
  return tool;
}

// What both analyses of an opened trace take.
std::vector<Parameter> open_parameters() {
  const auto all = analyses();
  const auto findings = std::ranges::find(all, "findings", &AnalysisInfo::name);
  const auto summary = std::ranges::find(all, "summary", &AnalysisInfo::name);
  std::vector<Parameter> both;
  std::ranges::copy_if(findings->parameters, std::back_inserter(both), [&](const Parameter& each) {
    return is_for_clients(each) &&
           std::ranges::find(summary->parameters, each.name, &Parameter::name) != summary->parameters.end();
  });
  both.push_back(kCapture);
  return both;
}

// The list of tools stands in a model's context: what all tools share is described once, at the first, but for what is used
// most.
bool is_described(const Tool& tool, const Parameter& parameter) {
  constexpr std::array<std::string_view, 3> kAlways = {"step", "filter", "sort"};
  const bool of_rows = std::ranges::find(kRowParameters, parameter.name, &Parameter::name) != kRowParameters.end();
  const bool shared = of_rows || parameter.name == kCapture.name || parameter.changes != Changes::answer;
  return !shared || tool.name == kOpen || std::ranges::find(kAlways, parameter.name) != kAlways.end();
}

std::vector<Tool> make_tools() {
  std::vector<Tool> all;
  all.push_back({.name = kOpen,
                 .description =
                     "begin here: lists the traces; with a trace, what to fix first in it, with evidence and savings, "
                     "and where its time went",
                 .parameters = open_parameters(),
                 .required = {}});
  for (const AnalysisInfo& info : analyses()) all.push_back(tool_of(info));
  all.push_back({.name = "timeline_url",
                 .description = "a link to the timeline for the user to look at; starts nothing",
                 .parameters = {kTimelineParameters.begin(), kTimelineParameters.end()},
                 .required = {},
                 .tells_rows = false});
  return all;
}

std::string_view type_name(Type type) {
  switch (type) {
    case Type::integer: return "integer";
    case Type::number: return "number";
    case Type::boolean: return "boolean";
    default: return "string";
  }
}

void write_property(const Tool& tool, const Parameter& parameter, JsonWriter& json) {
  json.key(parameter.name).object([&] {
    json.key("type").text(parameter.repeats ? "array" : type_name(parameter.type));
    if (parameter.repeats) json.key("items").object([&] { json.key("type").text(type_name(parameter.type)); });
    const auto values =
        tool.analysis != nullptr ? parameter_values(tool.name, parameter.name) : std::span<const std::string_view>();
    if (!values.empty()) json.key("enum").array(values, [&](std::string_view each) { json.text(each); });
    if (is_described(tool, parameter)) json.key("description").text(in_words_of(tool, parameter.description));
  });
}

void write_schema(const Tool& tool, JsonWriter& json) {
  json.object([&] {
    json.key("type").text("object");
    json.key("properties").object([&] {
      if (tool.traces == TraceArgument::one)
        json.key("trace").object([&] { json.members("type", "string", "description", "name of the trace, as open lists it"); });
      if (tool.traces == TraceArgument::several) {
        json.key("traces").object([&] {
          json.members("type", "array");
          json.key("items").object([&] { json.members("type", "string"); });
          json.members("minItems", std::uint64_t{tool.analysis->fewest_traces}, "description",
                       "names of the traces, as open lists them, in order");
        });
      }
      for (const Parameter& parameter : tool.parameters) write_property(tool, parameter, json);
      if (tool.tells_rows) {
        for (const Parameter& parameter : kRowParameters) write_property(tool, parameter, json);
      }
    });
    std::vector<std::string_view> required = tool.required;
    if (tool.traces == TraceArgument::several) required.emplace_back("traces");
    if (!required.empty()) json.key("required").value(required);
    json.key("additionalProperties").raw("false");
  });
}

}  // namespace

std::span<const Tool> tools() {
  static const std::vector<Tool> all = make_tools();
  return all;
}

const Tool* find_tool(std::string_view name) {
  const auto all = tools();
  const auto found = std::ranges::find(all, name, &Tool::name);
  return found == all.end() ? nullptr : &*found;
}

std::span<const Parameter> row_parameters() { return kRowParameters; }

std::string tool_list_json() {
  JsonWriter json;
  json.array(tools(), [&](const Tool& tool) {
    json.object([&] {
      json.key("name").text(tool.name);
      json.key("description").text(tool.description);
      json.key("inputSchema");
      write_schema(tool, json);
      json.key("annotations").object([&] {
        json.key("readOnlyHint").raw("true");
        json.key("openWorldHint").raw("false");
      });
    });
  });
  return json.take();
}

}  // namespace ridge::mcp
