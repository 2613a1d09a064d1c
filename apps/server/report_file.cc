// Asks the Site what the page would ask, in ever less detail until the file fits its limit, and embeds the answers.
#include "report_file.h"

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <tuple>

#include <fmt/format.h>

#include <ridge/json.h>
#include <ridge/render.h>
#include <ridge/timeline.h>

#include "slice_pack.h"
#include "web_page.h"

namespace ridge::server {
namespace {

constexpr std::string_view kBefore = R"(<script type="application/json" id="ridge-data">)";
constexpr std::string_view kAfter = "</script>";

// No text of a report is longer than the first; the others are tried, each from the start, when even the smallest timeline does
// not fit.
constexpr std::array<std::size_t, 3> kLongestTexts = {4096, 1024, 256};

using Responses = std::map<std::string, std::shared_ptr<const std::string>>;  // by target

std::size_t bytes_of(const Responses& responses) {
  std::size_t bytes = 0;
  for (const auto& [target, body] : responses) bytes += target.size() + body->size() + 8;
  return bytes;
}

// Asks the site for what a report holds, with texts of `longest` bytes at most.
struct Asker {
  const Site& site;
  std::size_t longest;

  // Nothing where the site cannot answer (the diff of one trace).
  std::shared_ptr<const std::string> get(const Target& target) const {
    const Answer made = site.get(target, longest);
    return made.status == 200 ? std::make_shared<const std::string>(made.text()) : nullptr;
  }
  std::shared_ptr<const std::string> get(const std::string& target) const {
    const auto parsed = parse_target(target);
    return parsed ? get(*parsed) : nullptr;
  }
};

// The analyses of all traces. Each is asked once; only those that turn out too large are asked again, for fewer rows.
class Analyses {
 public:
  explicit Analyses(const Asker& ask) : ask_(ask) {
    for (std::size_t t = 0; t < ask.site.shelf().trace_count(); ++t) {
      for (const AnalysisInfo& analysis : analyses()) {
        if (analysis.whole_job) continue;  // not of one trace
        Target target{fmt::format("/api/v1/{}", analysis.name), {}};
        if (t > 0) target.query["t"] = std::to_string(t);
        add(target.canonical(), {target, kRows});
      }
      add_kernels(t);
      add_claims(t);
    }
    if (ask.site.shelf().trace_count() > 1) add_job();
  }

  void shrink_to(std::size_t most_bytes) {
    // Scripts first, those of kernels with least time before the others.
    for (; !scripts_.empty() && bytes_of(responses_) > most_bytes; scripts_.pop_back()) {
      responses_.erase(scripts_.back());
      questions_.erase(scripts_.back());
    }
    for (std::size_t each = 200'000; bytes_of(responses_) > most_bytes && each > 2000; each /= 2) {
      for (auto& [key, question] : questions_) shrink(key, question, each);
    }
  }

  // For a report whose least form is still too large: pages of kernels, those with least time before the others.
  void drop_pages(std::size_t bytes) {
    std::ranges::stable_sort(pages_, {}, &std::pair<std::size_t, std::string>::first);
    for (std::size_t dropped = 0; !pages_.empty() && dropped < bytes; pages_.pop_back()) {
      const auto page = responses_.extract(pages_.back().second);
      if (page) dropped += page.mapped()->size();
    }
  }

  const Responses& responses() const { return responses_; }

 private:
  static constexpr std::size_t kRows = 2000;  // of each table
  static constexpr std::size_t kFewestRows = 5;
  static constexpr std::size_t kKernels = 16;  // whose pages are embedded
  static constexpr std::size_t kKernelRows = 12;
  static constexpr std::size_t kScripts = 6;       // kernels with the script that runs them alone
  static constexpr std::size_t kClaimRows = 400;   // pieces of a finding's time, the longest
  static constexpr std::size_t kJobRows = 20'000;  // ranks by steps
  static constexpr std::size_t kMostArrivals = 6'000;
  static constexpr std::size_t kFindingsOf = 16;  // ranks: of more the page does not ask by itself

  struct Question {
    Target target;
    std::size_t rows;          // of each table
    bool whole_texts = false;  // a script is nothing when it is cut
    bool parts_serve = true;   // else it is there whole or not at all
  };

  // What all ranks are asked together. Of a collective that lacks ranks nothing could be said: arrivals are all there or not.
  void add_job() {
    for (const AnalysisInfo& analysis : analyses()) {
      if (!analysis.whole_job) continue;
      const Target target{fmt::format("/api/v1/{}", analysis.name), {}};
      const bool parts_serve = analysis.name != kWholeOnly;
      if (!parts_serve) {
        const auto report = ask_.site.shelf().kept_report(analysis.name, {});
        if (!report || (*report)->tables.empty() || (*report)->tables.front().size() > kMostArrivals) continue;
      }
      add(target.canonical(), {target, kJobRows, false, parts_serve});
    }
    if (ask_.site.beside().job_diff != nullptr) {
      const Target changes{"/api/v1/job_diff", {}};
      add(changes.canonical(), {changes, kJobRows});
    }
    if (ask_.site.shelf().trace_count() > kFindingsOf) return;
    const Target findings{"/api/v1/ranks", {{"findings", "true"}}};
    add(findings.canonical(), {findings, kRows});
  }
  static constexpr std::string_view kWholeOnly = "arrivals";

  // The pages of the kernels with most time. The page asks for a kernel by the name that the tables show, which may be a short
  // one.
  void add_kernels(std::size_t t) {
    const auto kernels = ask_.site.shelf().kept_report("kernels", {}, t);
    if (!kernels || (*kernels)->tables.empty()) return;
    const Column& names = (*kernels)->tables.front().column("kernel");
    for (std::size_t row = 0; row < std::min(kKernels, names.size()); ++row) {
      const std::string_view name = names.text(row).value_or("");
      if (name.empty()) continue;
      const auto target = [&](std::string_view called) {
        return Target{"/api/v1/kernel", {{"name", std::string(called)}, {"t", std::to_string(t)}}};
      };
      const std::string shown = short_text(name, ask_.longest);
      const std::string page = target(shown).canonical();
      if (add(page, {target(name), kKernelRows})) pages_.emplace_back(row, page);
      const auto of_kernel = [&](std::string_view route, std::string_view called) {
        Target asked{fmt::format("/api/v1/{}", route), {{"kernel", std::string(called)}}};
        if (route == "replay") asked.query["t"] = std::to_string(t);
        return asked;
      };
      add(of_kernel("replay", shown).canonical(), {of_kernel("replay", name), kKernelRows, true});
      if (ask_.site.beside().bench != nullptr)
        add(of_kernel("bench", shown).canonical(), {of_kernel("bench", name), kKernelRows});
    }
  }

  // Where each finding is to be seen.
  void add_claims(std::size_t t) {
    const auto findings = ask_.site.shelf().kept_report("findings", {}, t);
    if (!findings || (*findings)->tables.empty()) return;
    const Column& ids = (*findings)->tables.front().column("id");
    for (std::size_t row = 0; row < ids.size(); ++row) {
      const Target target{"/api/v1/findings", {{"claim", std::string(ids.text(row).value_or(""))}, {"t", std::to_string(t)}}};
      Target sorted = target;
      sorted.query["sort"] = "time_ns";
      add(target.canonical(), {sorted, kClaimRows});
    }
  }

  // Puts what is answered under `key`; whether something was.
  bool add(const std::string& key, const Question& question) {
    Target target = question.target;
    target.query["limit"] = std::to_string(question.rows);
    auto body = Asker{ask_.site, question.whole_texts ? 0 : ask_.longest}.get(target);
    if (body == nullptr) return false;
    responses_[key] = std::move(body);
    questions_.insert_or_assign(key, question);
    if (question.whole_texts && std::ranges::find(scripts_, key) == scripts_.end()) scripts_.push_back(key);
    return true;
  }

  void shrink(const std::string& key, Question& question, std::size_t most_bytes) {
    if (!question.parts_serve) {
      const auto kept = responses_.find(key);
      if (kept != responses_.end() && kept->second->size() > most_bytes) responses_.erase(kept);
      return;
    }
    for (std::size_t size; question.rows > kFewestRows && (size = responses_[key]->size()) > most_bytes;) {
      question.rows = std::max(kFewestRows, question.rows * most_bytes / size);
      add(key, Question(question));
    }
  }

  Asker ask_;
  Responses responses_;
  std::map<std::string, Question> questions_;
  std::vector<std::string> scripts_;                        // keys of those with whole texts, most time first
  std::vector<std::pair<std::size_t, std::string>> pages_;  // of kernels: place by time in their trace, key
};

// How much of the timeline is embedded: the first that fits is taken.
struct Detail {
  int px;      // 0: every slice is there one by one
  int depths;  // rows of slices per track
  int tracks;
  int slices;  // whose details are embedded
};
constexpr Detail kWhole = {0, 0, 0, 200};
constexpr std::array kDetails = {
    Detail{1600, 12, 64, 200}, Detail{1600, 8, 48, 100}, Detail{1600, 6, 32, 50}, Detail{1200, 5, 24, 20},
    Detail{800, 4, 16, 0},     Detail{400, 3, 8, 0},     Detail{200, 2, 4, 0},    Detail{100, 1, 1, 0},
};

// The page asks for a thousand points a counter; in a small report there are fewer behind that question.
constexpr int counter_pixels(const Detail& detail) { return detail.px == 0 ? 1000 : std::clamp(detail.px, 100, 1000); }

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

// The slices of a trace one by one, if they are few enough, and how often each name occurs if not.
constexpr std::uint64_t kMostWholeSlices = 400'000;
constexpr std::size_t kMostWholeBytes = 1'400'000;  // of all traces
constexpr std::size_t kMostNameBytes = 400'000;
constexpr std::string_view kAllSlices = "/api/v1/all_slices?t=", kNameCounts = "/api/v1/name_counts?t=";

std::uint64_t slices_of(const Timeline& timeline) {
  std::uint64_t slices = 0;
  for (const TrackGroup& group : timeline.groups()) {
    for (const TrackInfo& track : group.tracks) slices += track.slices;
  }
  return slices;
}

// Of all traces; empty where it would take too much.
struct Packs {
  Responses whole, counts;
};
Result<Packs> packs_of(const Asker& ask) {
  Packs packs;
  std::uint64_t slices = 0;
  const Shelf& shelf = ask.site.shelf();
  for (std::size_t t = 0; t < shelf.trace_count(); ++t) {
    const auto timeline = shelf.timeline(t, ask.site.defaults());
    if (!timeline) return tl::unexpected(timeline.error());
    slices += slices_of(**timeline);
    const auto keep = [&](std::string_view target, std::string pack, Responses* into) {
      (*into)[fmt::format("{}{}", target, t)] = std::make_shared<const std::string>(std::move(pack));
    };
    if (slices <= kMostWholeSlices) keep(kAllSlices, packed_slices(**timeline, ask.longest), &packs.whole);
    keep(kNameCounts, packed_name_counts(**timeline, ask.longest), &packs.counts);
  }
  if (slices > kMostWholeSlices || bytes_of(packs.whole) > kMostWholeBytes) packs.whole.clear();
  if (bytes_of(packs.counts) > kMostNameBytes) packs.counts.clear();
  return packs;
}

void add_timeline(const Asker& ask, std::size_t t, const Timeline& timeline, const Detail& detail, Responses* out) {
  const auto add = [&](const std::string& target, const std::string& more = {}) {
    if (auto body = ask.get(target + more)) (*out)[target] = std::move(body);
  };
  add(fmt::format("/api/v1/tracks?t={}", t));
  add(fmt::format("/api/v1/marks?t={}", t));
  add(fmt::format("/api/v1/overview?px=1000&t={}", t));
  if (auto body = ask.get(fmt::format("/api/v1/counters?px={}&t={}", counter_pixels(detail), t)))
    (*out)[fmt::format("/api/v1/counters?px=1000&t={}", t)] = std::move(body);
  const std::int64_t window = timeline.facts().window_ns;
  const bool drawn_whole = detail.px == 0;
  for (const std::uint32_t track :
       window > 0 && !drawn_whole ? tracks_of(timeline, detail.tracks) : std::vector<std::uint32_t>{}) {
    add(fmt::format("/api/v1/slices?from=0&px={}&t={}&to={}&track={}", detail.px, t, window, track),
        fmt::format("&depths={}", detail.depths));
  }
  int left = detail.slices;
  for (const Mark& mark : timeline.marks()) {
    if (mark.id && left-- > 0) add(fmt::format("/api/v1/slice?id={}&t={}", *mark.id, t));
  }
}

Result<Responses> timelines(const Asker& ask, const Detail& detail) {
  Responses out;
  for (std::size_t t = 0; t < ask.site.shelf().trace_count(); ++t) {
    const auto timeline = ask.site.shelf().timeline(t, ask.site.defaults());
    if (!timeline) return tl::unexpected(timeline.error());
    add_timeline(ask, t, **timeline, detail, &out);
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

// With the first of `details` that fits into `room`, else with the last.
Result<std::string> bundle_for(const Asker& ask, std::span<const Detail> details, std::size_t room) {
  Analyses analyses_of_all(ask);
  analyses_of_all.shrink_to(room / 2);
  const auto traces = ask.get("/api/v1/traces");
  const auto packs = packs_of(ask);
  if (!packs) return tl::unexpected(packs.error());
  std::vector<Detail> tried(details.begin(), details.end());
  if (!packs->whole.empty()) tried.insert(tried.begin(), kWhole);
  const auto bundled = [&](const Responses& drawn) {
    Responses all = drawn;
    all.insert(analyses_of_all.responses().begin(), analyses_of_all.responses().end());
    return bundle(all);
  };
  std::string data;
  Responses drawn;
  for (const Detail& detail : tried) {
    auto responses = timelines(ask, detail);
    if (!responses) return tl::unexpected(responses.error());
    drawn = std::move(*responses);
    const Responses& slices = detail.px == 0 ? packs->whole : packs->counts;
    drawn.insert(slices.begin(), slices.end());
    if (traces != nullptr) drawn["/api/v1/traces"] = traces;
    data = bundled(drawn);
    if (data.size() <= room) return data;
  }
  if (ask.longest == kLongestTexts.back()) {
    analyses_of_all.drop_pages(data.size() - room);
    data = bundled(drawn);
  }
  return data;
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
  if (end == std::string_view::npos) return fail(ErrorCode::cannot_open, "the web page of this build has no slot for data");
  const std::string_view head = page.substr(0, begin + kBefore.size()), tail = page.substr(end);
  const std::size_t room = most_bytes - std::min(most_bytes, head.size() + tail.size());
  std::string data;
  std::span<const Detail> details = kDetails;
  for (const std::size_t longest : kLongestTexts) {
    auto made = bundle_for({site, longest}, details, room);
    if (!made) return tl::unexpected(made.error());
    data = std::move(*made);
    if (data.size() <= room) break;
    details = details.last(1);
  }
  std::string out(head);
  out += data;
  out += tail;
  return out;
}

}  // namespace ridge::server
