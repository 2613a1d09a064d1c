// JSON to arguments.
#include "tool_arguments.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include <ridge/argument_list.h>
#include <ridge/json.h>
#include <ridge/render.h>

namespace ridge::mcp {
namespace {

constexpr std::size_t kLongestArgument = 4096, kLongestQuery = 65536, kMostListed = 64;

tl::unexpected<Error> wrong_argument(std::string message, std::string hint = {}) {
  return fail(ErrorCode::usage, std::move(message), {}, std::move(hint));
}

template <class Number>
bool reads_whole(const std::string& text, Number* number) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, *number);
  return error == std::errc{} && stop == end;
}

// A figure as the engine reads it; nothing where the value is none.
std::optional<std::string> figure_text(const JsonValue& value, Type type) {
  if (const auto* whole = value.integer()) return std::to_string(*whole);
  if (const auto* number = std::get_if<double>(&value.of)) {
    if (type == Type::integer && *number == std::trunc(*number) && std::abs(*number) < 9e15)
      return fmt::format("{:.0f}", *number);
    return type == Type::number ? std::optional(fmt::format("{}", *number)) : std::nullopt;
  }
  const std::string* text = value.text();
  if (text == nullptr) return std::nullopt;
  std::int64_t whole = 0;
  double number = 0;
  const bool good = type == Type::integer ? reads_whole(*text, &whole) : reads_whole(*text, &number) && std::isfinite(number);
  return good ? std::optional(*text) : std::nullopt;
}

// One value as the engine takes it; "" for a switch that is off.
Result<std::string> value_text(const Parameter& parameter, const JsonValue& value) {
  const auto wrong = [&](std::string_view wanted) {
    return wrong_argument(fmt::format("'{}' must be {}", parameter.name, wanted), std::string(parameter.description));
  };
  if (parameter.type == Type::boolean) {
    if (value.boolean() == nullptr) return wrong("true or false");
    return std::string(*value.boolean() ? "true" : "");
  }
  if (parameter.type != Type::text) {
    const auto text = figure_text(value, parameter.type);
    if (!text) return wrong(parameter.type == Type::integer ? "a whole number" : "a number");
    return *text;
  }
  if (const auto* number = value.integer()) return std::to_string(*number);  // "step": 3
  const std::string* text = value.text();
  if (text == nullptr) return wrong(parameter.repeats ? "a list of texts" : "a text");
  const std::size_t longest = parameter.name == "query" ? kLongestQuery : kLongestArgument;
  if (text->empty() || text->size() > longest || text->find(kListSeparator) != std::string::npos ||
      text->find('\0') != std::string::npos)
    return wrong(fmt::format("a text of 1 to {} bytes without control characters", longest));
  return *text;
}

Result<void> set_parameter(const Parameter& parameter, const JsonValue& value, Arguments* to) {
  const std::string name(parameter.name);
  if (parameter.repeats && value.list() != nullptr) {
    if (value.list()->size() > kMostListed)
      return wrong_argument(fmt::format("'{}' has more than {} values", name, kMostListed));
    for (const JsonValue& each : *value.list()) {
      const auto text = value_text(parameter, each);
      if (!text) return tl::unexpected(text.error());
      add_to_list(*to, name, *text);
    }
    return {};
  }
  const auto text = value_text(parameter, value);
  if (!text) return tl::unexpected(text.error());
  if (!text->empty()) (*to)[name] = *text;
  return {};
}

Result<void> set_traces(const JsonValue& value, ToolArguments* to) {
  if (const std::string* text = value.text()) {
    to->traces.push_back(*text);
    return {};
  }
  const JsonValue::List* list = value.list();
  const auto is_text = [](const JsonValue& each) { return each.text() != nullptr; };
  if (list == nullptr || list->size() > kMostListed || !std::ranges::all_of(*list, is_text))
    return wrong_argument("'trace' is the name of a trace, 'traces' a list of names");
  for (const JsonValue& each : *list) to->traces.push_back(*each.text());
  return {};
}

std::string json_of(const JsonValue& value) {
  std::string out;
  if (const auto* text = value.text()) return quoted_data(*text);
  if (const auto* whole = value.integer()) return std::to_string(*whole);
  if (const auto* number = std::get_if<double>(&value.of)) return append_json_number(out, *number), out;
  if (const auto* flag = value.boolean()) return *flag ? "true" : "false";
  if (const auto* list = value.list()) {
    for (const JsonValue& each : *list) out += (out.empty() ? "" : ",") + json_of(each);
    return "[" + out + "]";
  }
  return "null";
}

tl::unexpected<Error> unknown_argument(const Tool& tool, const std::string& name) {
  std::vector<std::string_view> known;
  for (const Parameter& each : tool.parameters) known.push_back(each.name);
  for (const Parameter& each : row_parameters()) known.push_back(each.name);
  known.push_back(tool.traces == TraceArgument::several ? "traces" : "trace");
  return wrong_argument(fmt::format("{} takes no '{}'", tool.name, printable(name.substr(0, 100))), did_you_mean(name, known));
}

// A number of the rows' parameters; an error where it is out of range.
Result<std::int64_t> row_number(const Arguments& rows, std::string_view name, std::int64_t otherwise, std::int64_t least,
                                std::int64_t most) {
  const auto given = rows.find(name);
  if (given == rows.end()) return otherwise;
  std::int64_t number = 0;
  if (!reads_whole(given->second, &number) || number < least || number > most)
    return wrong_argument(fmt::format("'{}' must be a whole number from {} to {}", name, least, most));
  return number;
}

Result<Wanted> wanted_of(const Arguments& rows) {
  const auto text = [&](std::string_view name) {
    const auto given = rows.find(name);
    return given == rows.end() ? std::string() : given->second;
  };
  const auto offset = row_number(rows, "offset", 0, 0, UINT32_MAX);
  const auto limit = row_number(rows, "limit", 0, 0, 100'000);
  const auto bytes = row_number(rows, "answer_bytes", kDefaultAnswerBytes, kFewestAnswerBytes, kMostAnswerBytes);
  for (const auto* each : {&offset, &limit, &bytes}) {
    if (!*each) return tl::unexpected(each->error());
  }
  return Wanted{.answer_bytes = static_cast<std::size_t>(*bytes),
                .table = text("table"),
                .sort = text("sort"),
                .offset = static_cast<std::size_t>(*offset),
                .limit = *limit,
                .wide = rows.contains("wide")};
}

}  // namespace

std::optional<std::int64_t> ToolArguments::integer(std::string_view name) const {
  const auto given = own.find(name);
  std::int64_t number = 0;
  if (given == own.end() || !reads_whole(given->second, &number)) return std::nullopt;
  return number;
}

std::string ToolArguments::text(std::string_view name) const {
  const auto given = own.find(name);
  return given == own.end() ? std::string() : given->second;
}

Result<ToolArguments> read_tool_arguments(const Tool& tool, const JsonValue* given) {
  ToolArguments out;
  Arguments rows;
  std::set<std::string_view> seen;
  static const JsonValue::Members kNothing;
  for (const auto& [name, value] : given != nullptr && given->object() != nullptr ? *given->object() : kNothing) {
    if (!seen.insert(name).second) return wrong_argument(fmt::format("'{}' is given twice", printable(name)));
    if (value.is_null()) continue;  // how some clients leave out what is optional
    const std::string& wanted = name;
    const auto named = [&](const Parameter& each) { return each.name == wanted; };
    Result<void> set;
    const auto row = std::ranges::find_if(row_parameters(), named);
    const auto own = std::ranges::find_if(tool.parameters, named);
    if ((name == "trace" || name == "traces") && tool.traces != TraceArgument::none) {
      set = set_traces(value, &out);
    } else if (own != tool.parameters.end()) {
      set = set_parameter(*own, value, &out.own);
    } else if (tool.tells_rows && row != row_parameters().end()) {
      set = set_parameter(*row, value, &rows);
    } else {
      return unknown_argument(tool, name);
    }
    if (!set) return tl::unexpected(set.error());
    if (name != "table" && name != "offset") out.repeated.emplace_back(name, json_of(value));
  }
  for (const std::string_view name : tool.required) {
    if (!out.own.contains(name)) return wrong_argument(fmt::format("{} needs '{}'", tool.name, name));
  }
  if (auto capture = out.own.extract("capture")) out.capture = capture.mapped();
  auto wanted = wanted_of(rows);
  if (!wanted) return tl::unexpected(wanted.error());
  out.wanted = std::move(*wanted);
  return out;
}

}  // namespace ridge::mcp
