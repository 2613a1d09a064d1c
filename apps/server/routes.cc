// Each door reads its parameters, asks the shelf and writes JSON.
#include "routes.h"

#include <algorithm>
#include <array>

#include <ridge/folder.h>
#include <ridge/render.h>
#include <ridge/timeline.h>

#include "counters.h"
#include "timeline_json.h"

namespace ridge::server {
namespace {

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

// What a part of the time holds, on some tracks or on all. `Look` gives Result<std::string>.
template <class Look>
Result<Answer> look_at_area(const Asked& asked, const Target& target, Look look) {
  Parameters p(target);
  const auto trace = trace_of(asked.site, p);
  const std::int64_t from = p.integer("from", std::nullopt, INT64_MIN, INT64_MAX);
  const std::int64_t to = p.integer("to", std::nullopt, INT64_MIN, INT64_MAX);
  const auto tracks = p.ids("tracks");
  return handle_timeline(asked, p, *trace, [&](const Timeline& timeline) { return look(timeline, from, to, tracks); });
}

Result<Answer> get_area(const Asked& asked, const Target& target) {
  return look_at_area(asked, target, [](const Timeline& timeline, std::int64_t from, std::int64_t to, const auto& tracks) {
    return timeline.area(from, to, tracks).map(area_json);
  });
}

Result<Answer> get_flame(const Asked& asked, const Target& target) {
  return look_at_area(asked, target, [](const Timeline& timeline, std::int64_t from, std::int64_t to, const auto& tracks) {
    return timeline.flame(from, to, tracks).map(flame_json);
  });
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
  out.diagnostics = all.diagnostics;
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

constexpr std::array kRoutes = {
    Route{"traces", get_traces, true},  Route{"trace", get_trace, false},      Route{"tracks", get_tracks, true},
    Route{"slices", get_slices, false}, Route{"slice", get_slice, false},      Route{"neighbour", get_neighbour, false},
    Route{"area", get_area, false},     Route{"flame", get_flame, false},      Route{"search", get_search, false},
    Route{"marks", get_marks, true},    Route{"overview", get_overview, true}, Route{"counters", get_counters, true},
    Route{"bench", get_bench, false},   Route{"job_diff", get_job_diff, true},
};

}  // namespace

Result<std::size_t> trace_of(const Site& site, Parameters& parameters) {
  const std::int64_t traces = static_cast<std::int64_t>(site.shelf().trace_count());
  return static_cast<std::size_t>(parameters.integer("t", 0, 0, std::max<std::int64_t>(traces - 1, 0)));
}

std::span<const Route> routes() { return kRoutes; }

}  // namespace ridge::server
