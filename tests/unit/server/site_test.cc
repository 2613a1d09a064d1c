// The Site: its analyses are the engine's, its files are out of reach, its refusals are told apart.
#include "server/site.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ridge/engine.h>
#include <ridge/json.h>
#include <ridge/render.h>

#include "server/report_file.h"
#include "support/files.h"
#include "support/sanitized.h"

namespace ridge::server {
namespace {

Engine open_fixtures(const std::vector<std::string>& names, const OpenOptions& options = {}) {
  std::vector<std::string> paths;
  for (const std::string& name : names) paths.push_back(test::source_dir() + "/tests/fixtures/" + name + ".json.gz");
  auto engine = Engine::open(paths, options);
  EXPECT_TRUE(engine);
  return std::move(*engine);
}

Answer get(const Site& site, std::string_view target) { return site.get(*parse_target(target)); }

TEST(Site, AnalysesAnswerAsTheEngineDoes) {
  const Engine engine = open_fixtures({"fault_item_sync"});
  const Site site(engine, {});
  const auto report = engine.run("kernels", {{"filter", "gemm"}});
  ASSERT_TRUE(report);
  const Answer answer = get(site, "/api/v1/kernels?filter=gemm");
  EXPECT_EQ(answer.status, 200U);
  EXPECT_EQ(answer.text(), *report_text(*report, **find_format("json")));
}

TEST(Site, AnswersNameTheTracesThatTheyAreAbout) {
  const Engine engine = open_fixtures({"clean_no_sync", "fault_item_sync"});
  const Site site(engine, {});
  const auto names = [&](std::string_view target) {
    const std::string body = get(site, target).text();
    return std::pair(body.find("clean_no_sync.json.gz") != body.npos, body.find("fault_item_sync.json.gz") != body.npos);
  };
  EXPECT_EQ(names("/api/v1/gpu"), std::pair(true, false));  // of the first, unless another is asked for
  EXPECT_EQ(names("/api/v1/gpu?t=1"), std::pair(false, true));
  EXPECT_EQ(names("/api/v1/diff"), std::pair(true, true));
}

TEST(Site, DefaultsHoldUnlessAskedOtherwise) {
  const Engine engine = open_fixtures({"fault_item_sync"});
  const Site plain(engine, {}), narrowed(engine, {{"filter", "nothing_is_called_so"}});
  EXPECT_NE(get(plain, "/api/v1/kernels").text(), get(narrowed, "/api/v1/kernels").text());
  EXPECT_EQ(get(plain, "/api/v1/kernels?filter=gemm").text(), get(narrowed, "/api/v1/kernels?filter=gemm").text());
}

TEST(Site, ParametersThatNameFilesAreRefused) {
  // Whatever sounds like a file must be marked as one; those that are marked are refused.
  const Engine engine = open_fixtures({"fault_item_sync"});
  const Site site(engine, {});
  for (const AnalysisInfo& analysis : analyses()) {
    for (const Parameter& parameter : analysis.parameters) {
      // Files of op calls, of source, of digests, of measured kernels; the others by one of their words: "device_file".
      constexpr std::string_view kFiles[] = {"ops", "source", "digest", "before", "table"};
      bool sounds = std::ranges::find(kFiles, parameter.name) != std::end(kFiles);
      for (const std::string_view word : {"_file_", "_cache_", "_path_", "_folder_"})
        sounds |= ("_" + std::string(parameter.name) + "_").find(word) != std::string::npos;
      EXPECT_EQ(parameter.names_file, sounds) << analysis.name << " " << parameter.name;
      if (!parameter.names_file) continue;
      EXPECT_EQ(get(site, "/api/v1/" + std::string(analysis.name) + "?" + std::string(parameter.name) + "=/etc/passwd").status,
                400U);
    }
  }
}

TEST(Site, TellsRefusalsApart) {
  const Engine engine = open_fixtures({"fault_item_sync"});
  const Site site(engine, {});
  EXPECT_EQ(get(site, "/api/v1/nothing").status, 404U);
  EXPECT_EQ(get(site, "/nothing").status, 404U);
  EXPECT_EQ(get(site, "/api/v1/kernels?nothing=1").status, 400U);
  EXPECT_EQ(get(site, "/api/v1/kernels?t=1").status, 400U);
  EXPECT_EQ(get(site, "/api/v1/slices?track=1").status, 400U);
}

// Each combination has tables of its own: room is made for them, and none is refused.
TEST(Site, AnyNumberOfCombinationsIsAnswered) {
  const Engine engine = open_fixtures({"fault_item_sync"}, {.cache_bytes = 100'000});
  const Site site(engine, {});
  for (int runs = 1; runs <= 20; ++runs) {
    EXPECT_EQ(get(site, fmt::format("/api/v1/kernels?device=h100&clock_mhz={}&runs={}", 1000 + runs, runs)).status, 200U);
    EXPECT_LE(engine.cached_bytes(), 100'000U);
  }
}

constexpr std::string_view kPage = "<html><script type=\"application/json\" id=\"ridge-data\">null</script></html>";

// A trace of one op and one kernel of each name.
Engine open_names(const std::vector<std::string>& names) {
  std::string events;
  for (std::size_t i = 0; i < names.size(); ++i) {
    events += fmt::format(
        R"({}{{"ph": "X", "cat": "cpu_op", "name": "{}", "pid": 1, "tid": 1, "ts": {}, "dur": 8, "args": {{}}}},)"
        R"({{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": {}, "dur": 2, "args": {{"correlation": {}}}}},)"
        R"({{"ph": "X", "cat": "kernel", "name": "{}", "pid": 0, "tid": 7, "ts": {}, "dur": 5, "args": {{"device": 0, "stream": 7, "correlation": {}}}}})",
        i == 0 ? "" : ",", names[i], 10 * i, 10 * i + 1, i + 1, names[i], 10 * i + 4, i + 1);
  }
  const std::string path =
      (std::filesystem::temp_directory_path() / fmt::format("ridge_long_names_{}.json", ::getpid())).string();
  std::ofstream(path) << "{\"traceEvents\": [" << events << "]}";
  auto engine = Engine::open({path}, {});
  std::filesystem::remove(path);
  EXPECT_TRUE(engine);
  return std::move(*engine);
}

// 42 kernels and ops with names of 100 KB, which differ at their end only: cut, and told apart all the same.
TEST(Report, StaysSmallWhateverTheNames) {
  std::vector<std::string> long_names;
  for (int i = 0; i < 42; ++i) long_names.push_back(std::string(test::kSanitized ? 20'000 : 100'000, 'n') + std::to_string(i));
  const Engine engine = open_names(long_names);
  const Site site(engine, {});
  const auto report = make_report(site, kPage);
  ASSERT_TRUE(report);
  EXPECT_LE(report->size(), kMostReportBytes);
  std::set<std::string> names;
  const std::string mark = " bytes more, ";
  for (std::size_t at = 0; (at = report->find(mark, at)) != report->npos; ++at)
    names.insert(report->substr(at + mark.size(), 16));
  EXPECT_GE(names.size(), long_names.size());
}

std::string replaced_all(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size()) text.replace(at, from.size(), to);
  return text;
}

// The page asks for a kernel by the name that its tables show, however short the report had to make it. Five kernels: no table
// loses a row.
TEST(Report, KernelsAreFoundByTheNamesThatItShows) {
  std::vector<std::string> names;
  for (int i = 0; i < 5; ++i) {
    std::string name = fmt::format("k{}_", i);
    while (name.size() < 10'000) name += fmt::format("a<{}, {}>", name.size(), i);
    names.push_back(std::move(name));
  }
  const Engine engine = open_names(names);
  const Site site(engine, {});
  const auto has_page = [](const std::string& report, std::string_view shown) {
    const Target asked{"/api/v1/kernel", {{"name", std::string(shown)}, {"t", "0"}}};
    return report.find("\"" + asked.canonical() + "\":{") != report.npos;
  };
  std::set<std::size_t> seen;
  for (std::size_t most_bytes = 2'000'000; most_bytes > 50'000; most_bytes /= test::kSanitized ? 16 : 2) {
    const auto report = make_report(site, kPage, most_bytes);
    ASSERT_TRUE(report);
    const std::size_t table = report->find("\"/api/v1/kernels\":");
    for (const std::size_t longest : {4096U, 1024U, 256U}) {
      if (!has_page(*report, short_text(names[0], longest))) continue;
      seen.insert(longest);
      for (const std::string& name : names) {
        const std::string shown = short_text(name, longest);
        EXPECT_TRUE(has_page(*report, shown)) << most_bytes << " " << shown.substr(0, 10);
        const std::string cell = replaced_all(replaced_all(shown, "<", "\\u003c"), "\u2026", "\\u2026");
        EXPECT_NE(report->find("[\"" + cell + "\",", table), std::string::npos) << most_bytes << " " << shown.substr(0, 10);
      }
    }
  }
  EXPECT_FALSE(seen.empty());
  if (!test::kSanitized) {
    EXPECT_EQ(seen, (std::set<std::size_t>{256, 1024, 4096}));
  }
}

TEST(Report, ShrinksUntilItFits) {
  const Engine engine =
      open_fixtures({test::kSanitized ? "mlp_profiler_steps" : "gpt_eager_train_stack_mem", "fault_item_sync"});
  const Site site(engine, {});
  const std::string page(kPage);
  const auto large = make_report(site, page, 50'000'000), small = make_report(site, page, 600'000);
  ASSERT_TRUE(large && small);
  EXPECT_GT(large->size(), small->size());
  for (std::size_t most_bytes = 600'000; most_bytes >= 450'000; most_bytes -= 150'000)
    EXPECT_LE(make_report(site, page, most_bytes)->size(), most_bytes);
  EXPECT_TRUE(small->ends_with("</script></html>"));
  const std::string data = small->substr(page.find("null"), small->size() - page.size() + 4);
  EXPECT_EQ(data.find('<'), std::string::npos);
  EXPECT_NE(data.find("\"/api/v1/tracks?t=1\""), std::string::npos);
  EXPECT_EQ(*make_report(site, page, 600'000), *small);
  EXPECT_FALSE(make_report(site, "<html></html>", 600'000));
}

// Every slice where there is room for them, and else windows with the counts of names.
TEST(Report, HoldsEverySliceOrCountsNames) {
  const Engine engine = open_fixtures({"fault_item_sync"});
  const Site site(engine, {});
  const auto whole = make_report(site, kPage), small = make_report(site, kPage, 150'000);
  ASSERT_TRUE(whole && small);
  const auto has = [](const std::string& report, std::string_view target) { return report.find(target) != report.npos; };
  EXPECT_TRUE(has(*whole, "/api/v1/all_slices?t=0"));
  EXPECT_FALSE(has(*whole, "/api/v1/slices?"));
  EXPECT_TRUE(has(*whole, "/api/v1/counters?"));
  EXPECT_TRUE(has(*whole, "/api/v1/findings?claim=host_sync&t=0"));
  EXPECT_FALSE(has(*small, "/api/v1/all_slices?"));
  EXPECT_TRUE(has(*small, "/api/v1/slices?"));
  EXPECT_TRUE(has(*small, "/api/v1/name_counts?t=0"));
}

// The page filters by the server's expressions: rows by their numbers, a bad one refused.
TEST(Site, RowsThatAnExpressionMatches) {
  const Engine engine = open_fixtures({"fault_item_sync"});
  const Site site(engine, {});
  const auto kernels = engine.run("kernels", {});
  ASSERT_TRUE(kernels);
  const Column& names = kernels->tables[0].column("kernel");
  std::string wanted;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names.text(i)->find("elementwise") != std::string_view::npos)
      wanted += fmt::format("{}{}", wanted.empty() ? "" : ",", i);
  }
  ASSERT_FALSE(wanted.empty());
  EXPECT_EQ(get(site, "/api/v1/kernels?match=ELEMENT.*WISE").text(), "{\"rows\":[" + wanted + "]}");
  EXPECT_EQ(get(site, "/api/v1/kernels?match=%5E(%5Cw%2B)%2B!$").text(), "{\"rows\":[]}");  // ^(\w+)+!$
  EXPECT_EQ(get(site, "/api/v1/kernels?match=(").status, 400U);
  EXPECT_EQ(get(site, "/api/v1/kernels?match=a&table=nothing").status, 400U);
  EXPECT_EQ(get(site, "/api/v1/kernels?match=.&limit=3").text(), "{\"rows\":[0,1,2]}");
}

}  // namespace
}  // namespace ridge::server
