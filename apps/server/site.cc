// Answers from the table of routes, from the catalog of analyses, and with the files of the page.
#include "site.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include <ridge/render.h>
#include <ridge/row_match.h>

#include "parameter_names.h"
#include "routes.h"
#include "timeline_json.h"
#include "web_page.h"

namespace ridge::server {
namespace {

constexpr std::size_t kCacheEntries = 256;
constexpr std::size_t kCacheBytes = std::size_t{32} << 20;  // as they are kept: packed

struct StatusRow {
  ErrorCode code;
  unsigned status;
  std::string_view name;
};
constexpr std::array kStatuses = {
    StatusRow{ErrorCode::usage, 400, "bad_request"},
    StatusRow{ErrorCode::too_many_traces, 400, "bad_request"},
    StatusRow{ErrorCode::too_large, 400, "bad_request"},
    StatusRow{ErrorCode::interrupted, kClientGone, "interrupted"},
};

std::string cache_key(const Target& target, std::size_t longest_text) {
  return longest_text == 0 ? target.canonical() : fmt::format("{} {}", longest_text, target.canonical());
}

Answer settled(Result<Answer> result) { return result ? std::move(*result) : refusal(result.error()); }

Answer not_found(std::string_view hint) { return answer(404, error_json("not_found", "no such path", hint)); }

Answer page_file(std::string_view path) {
  if (path == "/" || path == "/index.html") {
    if (web_files().empty()) return answer(503, std::string(kNoPage), "text/plain; charset=utf-8");
    path = "/index.html";
  } else if (!path.starts_with("/assets/")) {
    return not_found("the page is at /, the data under /api/v1/");
  }
  const auto found = std::ranges::find(web_files(), path, &WebFile::path);
  if (found == web_files().end()) return not_found("");
  return {200, found->content_type, std::make_shared<const PackedText>(found->bytes), false};
}

template <class Number>
bool reads_as(const std::string& text) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc{} && stop == end;
}

// A flag's value in the form that the engine takes; nothing for a switch that is off.
Result<std::optional<std::string>> value_for(const Parameter& parameter, const std::string& text) {
  bool good = true;
  if (parameter.type == Type::boolean) {
    if (text == "false" || text == "0") return std::optional<std::string>();
    if (text.empty() || text == "true" || text == "1") return std::optional<std::string>("true");
    good = false;
  }
  if (parameter.type == Type::integer) good = reads_as<std::int64_t>(text);
  if (parameter.type == Type::number) good = reads_as<double>(text);
  if (good) return std::optional(text);
  return fail(ErrorCode::usage, fmt::format("invalid value for '{}'", parameter.name), "", std::string(parameter.description));
}

}  // namespace

Answer refusal(const Error& error) {
  const auto row = std::ranges::find(kStatuses, error.code, &StatusRow::code);
  const bool known = row != kStatuses.end();
  return answer(known ? row->status : 500, error_json(known ? row->name : "failed", with_parameter_names(error.message),
                                                      with_parameter_names(error.hint)));
}

Site::Site(Shelf shelf, Arguments defaults, bool tells_paths, ShownBeside beside)
    : shelf_(std::move(shelf)),
      defaults_(std::move(defaults)),
      tells_paths_(tells_paths),
      beside_(std::move(beside)),
      cache_(kCacheEntries, kCacheBytes) {}

Answer Site::get(const Target& target, std::size_t longest_text) const {
  if (!target.path.starts_with(kApi)) return cache_.get(target.path, [&] { return page_file(target.path); });
  const std::string_view name = std::string_view(target.path).substr(kApi.size());
  const auto route = std::ranges::find(routes(), name, &Route::name);
  if (route == routes().end()) return analysis(name, target, longest_text);
  const auto ask = [&] { return settled(route->get({*this, longest_text}, target)); };
  return route->cached ? cache_.get(cache_key(target, longest_text), ask) : ask();
}

bool Site::takes_long(const Target& target) const {
  if (!target.path.starts_with(kApi)) return false;
  const std::string_view name = std::string_view(target.path).substr(kApi.size());
  const bool is_route = std::ranges::find(routes(), name, &Route::name) != routes().end();
  return !is_route && !cache_.has(cache_key(target, 0));
}

Answer Site::analysis(std::string_view name, const Target& target, std::size_t longest_text) const {
  const auto all = analyses();
  const auto info = std::ranges::find(all, name, &AnalysisInfo::name);
  if (info == all.end()) return not_found("/api/v1/traces lists the analyses");
  const auto ask = [&] { return settled(run_analysis(*info, target, longest_text)); };
  if (target.query.contains("match")) return ask();  // a new one with every letter that is typed
  return cache_.get(cache_key(target, longest_text), ask);
}

Result<Answer> Site::run_analysis(const AnalysisInfo& info, const Target& target, std::size_t longest_text) const {
  const auto parameter_of = [&](std::string_view name) { return std::ranges::find(info.parameters, name, &Parameter::name); };
  Arguments arguments;
  for (const auto& [name, value] : defaults_) {
    if (parameter_of(name) != info.parameters.end()) arguments[name] = value;
  }
  Target rest{target.path, {}};  // what is no parameter of the analysis
  for (const auto& [given, value] : target.query) {
    std::string name = given;
    std::ranges::replace(name, '-', '_');
    const auto parameter = parameter_of(name);
    const bool of_answer = name == "table" && target.query.contains("match");  // whose rows to look at, not a file
    if (parameter == info.parameters.end() || of_answer) {
      rest.query[given] = value;
      if (target.repeated.contains(given)) rest.repeated.insert(given);
      continue;
    }
    if (target.repeated.contains(given) && !parameter->repeats)
      return fail(ErrorCode::usage, fmt::format("'{}' is given twice", name));
    if (parameter->names_file)
      return fail(ErrorCode::usage, fmt::format("'{}' names a file: pass it to ridge serve instead", name));
    if (value.empty() && defaults_.contains(name)) {  // as if the server had not been given it
      arguments.erase(name);
      continue;
    }
    auto text = value_for(*parameter, value);
    if (!text) return tl::unexpected(text.error());
    if (*text) {
      arguments[name] = **text;
    } else {
      arguments.erase(name);
    }
  }
  Parameters others(rest);
  const auto trace = trace_of(*this, others);
  const bool one_trace = rest.query.contains("t");
  const View view{.sort = others.text("sort", ""), .limit = others.integer("limit", 0, 0, INT32_MAX)};
  // Which rows of a table an expression lets through: for the page, which has the rows.
  const bool filters = rest.query.contains("match");
  const std::string match = filters ? others.text("match", "") : "";
  const std::string table = filters ? others.text("table", std::string(info.name)) : "";
  if (const auto finished = others.finish(); !finished) return tl::unexpected(finished.error());
  const auto report = shelf_.kept_report(info.name, arguments, one_trace ? std::optional(*trace) : std::nullopt);
  if (!report) return tl::unexpected(report.error());
  const auto rows_answer = [](const std::vector<std::uint32_t>& rows) { return answer(200, rows_json(rows)); };
  if (filters) return matching_rows(**report, table, match, view).map(rows_answer);
  TextPacker packer;
  const auto written =
      write_report(**report, **find_format("json"), view, {.longest_text = longest_text, .paths = tells_paths()},
                   [&](std::string_view piece) -> Result<void> { return packer.add(piece), Result<void>(); });
  if (!written) return tl::unexpected(written.error());
  return Answer{.body = std::make_shared<const PackedText>(packer.finish())};
}

void Site::prepare() const {
  static constexpr std::array kFirstOfTrace = {"summary", "tracks?t=0", "overview?px=1000&t=0", "marks?t=0"};
  static constexpr std::array kFirstOfJob = {"ranks"};
  std::vector<std::string_view> names = {"traces"};
  if (shelf_.holds_all()) names.insert(names.end(), kFirstOfTrace.begin(), kFirstOfTrace.end());
  if (!shelf_.holds_all()) names.insert(names.end(), kFirstOfJob.begin(), kFirstOfJob.end());
  for (const std::string_view name : names) {
    const auto target = parse_target(fmt::format("{}{}", kApi, name));
    if (target) get(*target);
  }
}

}  // namespace ridge::server
