#include "report_file.h"

#include <algorithm>
#include <array>
#include <map>
#include <ranges>
#include <tuple>

#include <fmt/format.h>

#include <ridge/render.h>
#include <ridge/timeline.h>

#include "short_texts.h"
#include "web_page.h"

namespace ridge::server {
namespace {

constexpr std::string_view kBefore = R"(<script type="application/json" id="ridge-data">)";
constexpr std::string_view kAfter = "</script>";

// Texts of a report are not longer; where the smallest timeline is still too large, not than the next.
constexpr std::size_t kLongestText = 4096;
constexpr std::array<std::size_t, 2> kShorterTexts = {1024, 256};

using Responses = std::map<std::string, std::shared_ptr<const std::string>>;  // by target

std::size_t bytes_of(const Responses& responses) {
  std::size_t bytes = 0;
  for (const auto& [target, body] : responses) bytes += target.size() + body->size() + 8;
  return bytes;
}

// What the site answers to `target` with `more` parameters, with texts of kLongestText at most; nothing where it cannot (the diff of one trace).
std::shared_ptr<const std::string> ask(const Site& site, const std::string& target, const std::string& more = {}) {
  const char joint = target.find('?') == std::string::npos ? '?' : '&';
  const auto parsed = parse_target(more.empty() ? target : target + joint + more);
  if (!parsed) return nullptr;
  const Answer made = site.get(*parsed);
  return made.status == 200 ? std::make_shared<const std::string>(with_short_texts(*made.body, kLongestText)) : nullptr;
}

// The analyses of all traces. Each is asked once; only those that turn out too large are asked again, for fewer rows.
class Analyses {
 public:
  explicit Analyses(const Site& site) : site_(site) {
    for (std::size_t t = 0; t < site.engine().trace_count(); ++t) {
      for (const AnalysisInfo& analysis : analyses()) {
        const std::string target =
            t == 0 ? fmt::format("/api/v1/{}", analysis.name) : fmt::format("/api/v1/{}?t={}", analysis.name, t);
        add(target, kRows);
      }
      add_kernels(t);
    }
  }

  void shrink_to(std::size_t most_bytes) {
    for (std::size_t each = 200'000; bytes_of(responses_) > most_bytes && each > 2000; each /= 2) {
      for (auto& [target, rows] : rows_) shrink(target, rows, each);
    }
  }

  const Responses& responses() const { return responses_; }

 private:
  static constexpr std::size_t kRows = 2000;  // of each table
  static constexpr std::size_t kFewestRows = 5;
  static constexpr std::size_t kKernels = 16;  // whose pages are embedded
  static constexpr std::size_t kKernelRows = 12;

  // The pages of the kernels with most time. The tables name no kernel by more than kLongestText, and the page asks by that name.
  void add_kernels(std::size_t t) {
    const auto kernels = site_.engine().run("kernels", {}, t);
    if (!kernels || kernels->tables.empty()) return;
    const Table& table = kernels->tables.front();
    const auto column = std::ranges::find(table.columns, "kernel", &Column::name) - table.columns.begin();
    for (const Row& row : table.rows | std::views::take(kKernels)) {
      const auto* name = std::get_if<std::string>(&row[static_cast<std::size_t>(column)]);
      if (name != nullptr && !name->empty() && name->size() <= kLongestText)
        add(Target{"/api/v1/kernel", {{"name", *name}, {"t", std::to_string(t)}}}.canonical(), kKernelRows);
    }
  }

  void add(const std::string& target, std::size_t rows) {
    auto body = ask(site_, target, fmt::format("limit={}", rows));
    if (body == nullptr) return;
    responses_[target] = std::move(body);
    rows_[target] = rows;
  }

  void shrink(const std::string& target, std::size_t& rows, std::size_t most_bytes) {
    for (std::size_t size; rows > kFewestRows && (size = responses_[target]->size()) > most_bytes;) {
      rows = std::max(kFewestRows, rows * most_bytes / size);
      add(target, rows);
    }
  }

  const Site& site_;
  Responses responses_;
  std::map<std::string, std::size_t> rows_;
};

// How much of the timeline is embedded: the first that fits is taken.
struct Detail {
  int px;
  int depths;  // rows of slices per track
  int tracks;
  int slices;  // whose details are embedded
};
constexpr std::array kDetails = {
    Detail{1600, 12, 64, 200}, Detail{1600, 8, 48, 100}, Detail{1600, 6, 32, 50}, Detail{1200, 5, 24, 20},
    Detail{800, 4, 16, 0},     Detail{400, 3, 8, 0},     Detail{200, 2, 4, 0},    Detail{100, 1, 1, 0},
};

// Streams first, then the threads with most slices.
std::vector<std::uint32_t> tracks_of(const Timeline& timeline, int most) {
  std::vector<TrackInfo> all;
  for (TrackGroup& group : timeline.groups()) std::move(group.tracks.begin(), group.tracks.end(), std::back_inserter(all));
  std::stable_sort(all.begin(), all.end(), [](const TrackInfo& a, const TrackInfo& b) {
    return std::tuple(a.kind != "stream", b.slices) < std::tuple(b.kind != "stream", a.slices);
  });
  std::vector<std::uint32_t> ids;
  for (const TrackInfo& track : all) {
    if (ids.size() < static_cast<std::size_t>(most)) ids.push_back(track.id);
  }
  return ids;
}

void add_timeline(const Site& site, std::size_t t, const Timeline& timeline, const Detail& detail, Responses* out) {
  const auto add = [&](const std::string& target, const std::string& more = {}) {
    if (auto body = ask(site, target, more)) (*out)[target] = std::move(body);
  };
  add(fmt::format("/api/v1/tracks?t={}", t));
  add(fmt::format("/api/v1/marks?t={}", t));
  add(fmt::format("/api/v1/overview?px=1000&t={}", t));
  const std::int64_t window = timeline.facts().window_ns;
  for (const std::uint32_t track : window > 0 ? tracks_of(timeline, detail.tracks) : std::vector<std::uint32_t>{}) {
    add(fmt::format("/api/v1/slices?from=0&px={}&t={}&to={}&track={}", detail.px, t, window, track),
        fmt::format("depths={}", detail.depths));
  }
  int left = detail.slices;
  for (const Mark& mark : timeline.marks()) {
    if (mark.id && left-- > 0) add(fmt::format("/api/v1/slice?id={}&t={}", *mark.id, t));
  }
}

Result<Responses> timelines(const Site& site, const Detail& detail) {
  Responses out;
  for (std::size_t t = 0; t < site.engine().trace_count(); ++t) {
    const auto timeline = site.engine().timeline(t, site.defaults());
    if (!timeline) return tl::unexpected(timeline.error());
    add_timeline(site, t, **timeline, detail, &out);
  }
  return out;
}

// {"version":1,"responses":{...}}, with no "<" in it: the text stands inside a script element.
std::string bundle(const Responses& responses) {
  std::string out = R"({"version":1,"responses":{)";
  bool first = true;
  for (const auto& [target, body] : responses) {
    if (!first) out += ',';
    first = false;
    append_json_string(out, target);
    out += ':';
    out += *body;
  }
  out += "}}";
  std::string safe;
  safe.reserve(out.size());
  for (const char c : out) c == '<' ? void(safe += "\\u003c") : void(safe += c);
  return safe;
}

}  // namespace

Result<std::string_view> report_page() {
  const auto found = std::ranges::find(web_files(), "/report.html", &WebFile::path);
  if (found == web_files().end())
    return fail(ErrorCode::cannot_open, "this ridge was built without its web page, because npm was not found", "",
                "install Node 18 or newer with npm (Debian: apt-get install nodejs npm) and build again");
  return found->bytes;
}

Result<std::string> make_report(const Site& site, std::string_view page, std::size_t most_bytes) {
  const std::size_t begin = page.find(kBefore);
  const std::size_t end = begin == std::string_view::npos ? begin : page.find(kAfter, begin);
  if (end == std::string_view::npos) return fail(ErrorCode::cannot_open, "the page of this build has no place for data");
  const std::string_view head = page.substr(0, begin + kBefore.size()), tail = page.substr(end);
  const std::size_t room = most_bytes - std::min(most_bytes, head.size() + tail.size());
  Analyses analyses_of_all(site);
  analyses_of_all.shrink_to(room / 2);
  const auto traces = ask(site, "/api/v1/traces");
  std::string data;
  for (const Detail& detail : kDetails) {
    auto responses = timelines(site, detail);
    if (!responses) return tl::unexpected(responses.error());
    if (traces != nullptr) (*responses)["/api/v1/traces"] = traces;
    responses->insert(analyses_of_all.responses().begin(), analyses_of_all.responses().end());
    data = bundle(*responses);
    if (data.size() <= room) break;
  }
  for (const std::size_t longest : kShorterTexts) {
    if (data.size() > room) data = with_short_texts(data, longest);
  }
  std::string out(head);
  out += data;
  out += tail;
  return out;
}

}  // namespace ridge::server
