// The table of routes and the functions behind it; analyses are answered from the catalog.
#include "site.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include <ridge/folder.h>
#include <ridge/render.h>
#include <ridge/row_match.h>
#include <ridge/timeline.h>

#include "counters.h"
#include "parameter_names.h"
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

// Whom a door asks, and how long the texts of its answer may be.
struct Asked {
  const Site& site;
  std::size_t longest_text;

  const Shelf& shelf() const { return site.shelf(); }
  const Arguments& defaults() const { return site.defaults(); }
};

Result<std::size_t> trace_of(const Site& site, Parameters& parameters) {
  const std::int64_t traces = static_cast<std::int64_t>(site.shelf().trace_count());
  return static_cast<std::size_t>(parameters.integer("t", 0, 0, std::max<std::int64_t>(traces - 1, 0)));
}

// A door of the timeline: reads its parameters, then asks. `Ask` gives Result<std::string>.
template <class Ask>
Result<Answer> handle_timeline(const Asked& site, Parameters& parameters, std::size_t trace, Ask ask) {
  const auto finished = parameters.finish();
  if (!finished) return tl::unexpected(finished.error());
  const auto timeline = site.shelf().timeline(trace, site.defaults());
  if (!timeline) return tl::unexpected(timeline.error());
  const Result<std::string> body = ask(**timeline);
  if (!body) return tl::unexpected(body.error());
  return answer(200, *body);
}

constexpr std::int64_t kAnyId = UINT32_MAX;

// What is known of each trace; of those that would have to be read first, their names.
Result<std::vector<ListedTrace>> listed(const Asked& asked) {
  std::vector<ListedTrace> traces;
  for (const Shelf::Entry& entry : asked.shelf().entries()) {
    ListedTrace& trace = traces.emplace_back();
    trace.facts.path = entry.path;
    trace.state = entry.state;
  }
  for (std::size_t i = 0; i < asked.shelf().trace_count() && asked.shelf().holds_all(); ++i) {
    const auto timeline = asked.shelf().timeline(i, asked.defaults());
    if (!timeline) return tl::unexpected(timeline.error());
    traces.push_back({(*timeline)->facts(), "open"});
  }
  std::vector<std::string> paths;
  for (const ListedTrace& trace : traces) paths.push_back(trace.facts.path);
  const std::vector<std::string> names = short_names(paths);
  for (std::size_t i = 0; i < traces.size(); ++i) {
    traces[i].facts.name = names[i];
    if (!asked.site.tells_paths()) traces[i].facts.path = names[i];
  }
  return traces;
}

Result<Answer> get_traces(const Asked& asked, const Target& target) {
  Parameters parameters(target);
  const auto finished = parameters.finish();
  if (!finished) return tl::unexpected(finished.error());
  return listed(asked).map([&](const std::vector<ListedTrace>& traces) {
    return answer(200, traces_json(traces,
                                   {asked.shelf().holds_all(), asked.site.beside().bench != nullptr,
                                    asked.site.beside().job_diff ? asked.site.beside().before : std::string()},
                                   asked.defaults(), asked.longest_text));
  });
}

// All of one trace, which is read for it.
Result<Answer> get_trace(const Asked& asked, const Target& target) {
  Parameters p(target);
  const auto trace = trace_of(asked.site, p);
  return handle_timeline(asked, p, *trace, [&](const Timeline& timeline) -> Result<std::string> {
    return listed(asked).map([&](const std::vector<ListedTrace>& traces) {
      ListedTrace found{timeline.facts(), "open"};
      found.facts.name = traces[*trace].facts.name;
      found.facts.path = traces[*trace].facts.path;
      return trace_json(found, *trace, asked.longest_text);
    });
  });
}

Result<Answer> get_tracks(const Asked& asked, const Target& target) {
  Parameters p(target);
  const auto trace = trace_of(asked.site, p);
  return handle_timeline(asked, p, *trace, [&](const Timeline& timeline) -> Result<std::string> {
    return tracks_json(timeline.groups(), asked.longest_text);
  });
}

Result<Answer> get_slices(const Asked& asked, const Target& target) {
  Parameters p(target);
  const auto trace = trace_of(asked.site, p);
  SliceQuery query;
  query.track = static_cast<std::uint32_t>(p.integer("track", std::nullopt, 0, kAnyId));
  query.from_ns = p.integer("from", std::nullopt, INT64_MIN, INT64_MAX);
  query.to_ns = p.integer("to", std::nullopt, INT64_MIN, INT64_MAX);
  query.px = static_cast<std::uint32_t>(p.integer("px", std::nullopt, 1, kMostPixels));
  query.depths = static_cast<std::uint32_t>(p.integer("depths", kAnyId, 1, kAnyId));
  return handle_timeline(asked, p, *trace, [&](const Timeline& timeline) {
    return timeline.slices(query).map(
        [&](const SliceWindow& window) { return slices_json(window, timeline.categories(), asked.longest_text); });
  });
}

Result<Answer> get_slice(const Asked& asked, const Target& target) {
  Parameters p(target);
  const auto trace = trace_of(asked.site, p);
  const auto id = static_cast<std::uint32_t>(p.integer("id", std::nullopt, 0, kAnyId));
  return handle_timeline(asked, p, *trace, [&](const Timeline& timeline) {
    return timeline.slice(id).map([&](const SliceDetails& found) { return slice_json(found, asked.longest_text); });
  });
}

Result<Answer> get_neighbour(const Asked& asked, const Target& target) {
  Parameters p(target);
  const auto trace = trace_of(asked.site, p);
  const auto id = static_cast<std::uint32_t>(p.integer("id", std::nullopt, 0, kAnyId));
  const std::string direction = p.text("dir", "next");
  return handle_timeline(asked, p, *trace, [&](const Timeline& timeline) -> Result<std::string> {
    if (direction != "next" && direction != "prev") return fail(ErrorCode::usage, "'dir' must be next or prev");
    return timeline.neighbour(id, direction == "next").map(neighbour_json);
  });
}

Result<Answer> get_area(const Asked& asked, const Target& target) {
  Parameters p(target);
  const auto trace = trace_of(asked.site, p);
  const std::int64_t from = p.integer("from", std::nullopt, INT64_MIN, INT64_MAX);
  const std::int64_t to = p.integer("to", std::nullopt, INT64_MIN, INT64_MAX);
  const auto tracks = p.ids("tracks");
  return handle_timeline(asked, p, *trace,
                         [&](const Timeline& timeline) { return timeline.area(from, to, tracks).map(area_json); });
}

Result<Answer> get_flame(const Asked& asked, const Target& target) {
  Parameters p(target);
  const auto trace = trace_of(asked.site, p);
  const std::int64_t from = p.integer("from", std::nullopt, INT64_MIN, INT64_MAX);
  const std::int64_t to = p.integer("to", std::nullopt, INT64_MIN, INT64_MAX);
  const auto tracks = p.ids("tracks");
  return handle_timeline(asked, p, *trace,
                         [&](const Timeline& timeline) { return timeline.flame(from, to, tracks).map(flame_json); });
}

Result<Answer> get_search(const Asked& asked, const Target& target) {
  Parameters p(target);
  const auto trace = trace_of(asked.site, p);
  const std::string text = p.text("q", std::nullopt);
  const auto limit = static_cast<std::size_t>(p.integer("limit", 1000, 0, 10'000));
  const auto skip = static_cast<std::size_t>(p.integer("skip", 0, 0, kAnyId));
  return handle_timeline(asked, p, *trace,
                         [&](const Timeline& timeline) { return timeline.search(text, limit, skip).map(search_json); });
}

Result<Answer> get_marks(const Asked& asked, const Target& target) {
  Parameters p(target);
  const auto trace = trace_of(asked.site, p);
  return handle_timeline(asked, p, *trace, [&](const Timeline& timeline) -> Result<std::string> {
    return marks_json(timeline.marks(), asked.longest_text);
  });
}

Result<Answer> get_overview(const Asked& asked, const Target& target) {
  Parameters p(target);
  const auto trace = trace_of(asked.site, p);
  const auto px = static_cast<std::uint32_t>(p.integer("px", 1000, 1, kMostPixels));
  return handle_timeline(asked, p, *trace, [&](const Timeline& timeline) {
    return timeline.busy(px).map([&](const BusyCurve& curve) { return busy_json(curve, asked.longest_text); });
  });
}

Result<Answer> get_counters(const Asked& asked, const Target& target) {
  Parameters p(target);
  const auto trace = trace_of(asked.site, p);
  const auto px = static_cast<std::uint32_t>(p.integer("px", 4000, 1, kMostPixels));
  if (const auto finished = p.finish(); !finished) return tl::unexpected(finished.error());
  return counters_json(asked.site, *trace, px).map([](const std::string& body) { return answer(200, body); });
}

// What was measured of one kernel: of each table that lists kernels the rows of this one.
Report bench_of(const Report& all, std::string_view kernel) {
  Report out;
  out.command = all.command;
  for (const Table& table : all.tables) {
    const Column* names = table.find("kernel");
    if (names == nullptr) continue;
    Table& kept = out.tables.emplace_back();
    kept.name = table.name;
    kept.hints = table.hints;
    for (const Column& column : table.columns)
      kept.columns.push_back({column.name, column.type, column.unit, column.role, column.sentence});
    for (std::size_t row = 0; row < table.size(); ++row) {
      if (names->text(row) == kernel) kept.add_row(table.row(row));
    }
  }
  return out;
}

Result<Answer> get_bench(const Asked& asked, const Target& target) {
  Parameters p(target);
  const std::string kernel = p.text("kernel", std::nullopt);
  const auto limit = p.integer("limit", 0, 0, INT32_MAX);
  if (const auto finished = p.finish(); !finished) return tl::unexpected(finished.error());
  if (asked.site.beside().bench == nullptr)
    return fail(ErrorCode::usage, "nothing was measured", {}, "pass the JSON of ridge bench to ridge serve with --bench");
  const auto body = report_text(bench_of(*asked.site.beside().bench, kernel), **find_format("json"),
                                {.sort = {}, .limit = limit}, {.longest_text = asked.longest_text});
  if (!body) return tl::unexpected(body.error());
  return answer(200, *body);
}

// What changed between two recordings of the job.
Result<Answer> get_job_diff(const Asked& asked, const Target& target) {
  Parameters p(target);
  const View view{.sort = p.text("sort", ""), .limit = p.integer("limit", 0, 0, INT32_MAX)};
  if (const auto finished = p.finish(); !finished) return tl::unexpected(finished.error());
  if (asked.site.beside().job_diff == nullptr)
    return fail(ErrorCode::usage, "there is no other job", {}, "ridge serve FOLDER --before OLD_FOLDER");
  const auto body = report_text(*asked.site.beside().job_diff, **find_format("json"), view,
                                {.longest_text = asked.longest_text, .paths = asked.site.tells_paths()});
  if (!body) return tl::unexpected(body.error());
  return answer(200, *body);
}

struct Route {
  std::string_view name;  // behind kApi
  Result<Answer> (*get)(const Asked&, const Target&);
  bool cached;  // few different questions, and the answer takes a while
};
constexpr std::array kRoutes = {
    Route{"traces", get_traces, true},  Route{"trace", get_trace, false},      Route{"tracks", get_tracks, true},
    Route{"slices", get_slices, false}, Route{"slice", get_slice, false},      Route{"neighbour", get_neighbour, false},
    Route{"area", get_area, false},     Route{"flame", get_flame, false},      Route{"search", get_search, false},
    Route{"marks", get_marks, true},    Route{"overview", get_overview, true}, Route{"counters", get_counters, true},
    Route{"bench", get_bench, false},   Route{"job_diff", get_job_diff, true},
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
  const auto route = std::ranges::find(kRoutes, name, &Route::name);
  if (route == kRoutes.end()) return analysis(name, target, longest_text);
  const auto ask = [&] { return settled(route->get({*this, longest_text}, target)); };
  return route->cached ? cache_.get(cache_key(target, longest_text), ask) : ask();
}

bool Site::takes_long(const Target& target) const {
  if (!target.path.starts_with(kApi)) return false;
  const std::string_view name = std::string_view(target.path).substr(kApi.size());
  const bool is_route = std::ranges::find(kRoutes, name, &Route::name) != kRoutes.end();
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
