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
#include <ridge/render.h>

#include "server/report_file.h"
#include "support/sanitized.h"

namespace ridge::server {
namespace {

Engine open_fixtures(const std::vector<std::string>& names) {
  std::vector<std::string> paths;
  for (const std::string& name : names) paths.push_back(std::string(RIDGE_SOURCE_DIR) + "/tests/fixtures/" + name + ".json.gz");
  auto engine = Engine::open(paths, {});
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
  EXPECT_EQ(*answer.body, (*find_format("json"))->render(*report, {}));
}

TEST(Site, AnswersNameTheTracesThatTheyAreAbout) {
  const Engine engine = open_fixtures({"clean_no_sync", "fault_item_sync"});
  const Site site(engine, {});
  const auto names = [&](std::string_view target) {
    const std::string body = *get(site, target).body;
    return std::pair(body.find("clean_no_sync.json.gz") != body.npos, body.find("fault_item_sync.json.gz") != body.npos);
  };
  EXPECT_EQ(names("/api/v1/gpu"), std::pair(true, false));  // of the first, unless another is asked for
  EXPECT_EQ(names("/api/v1/gpu?t=1"), std::pair(false, true));
  EXPECT_EQ(names("/api/v1/diff"), std::pair(true, true));
}

TEST(Site, DefaultsHoldUnlessAskedOtherwise) {
  const Engine engine = open_fixtures({"fault_item_sync"});
  const Site plain(engine, {}), narrowed(engine, {{"filter", "nothing_is_called_so"}});
  EXPECT_NE(*get(plain, "/api/v1/kernels").body, *get(narrowed, "/api/v1/kernels").body);
  EXPECT_EQ(*get(plain, "/api/v1/kernels?filter=gemm").body, *get(narrowed, "/api/v1/kernels?filter=gemm").body);
}

TEST(Site, ParametersThatNameFilesAreRefused) {
  // Whatever sounds like a file must be marked as one; those that are marked are refused.
  const Engine engine = open_fixtures({"fault_item_sync"});
  const Site site(engine, {});
  for (const AnalysisInfo& analysis : analyses()) {
    for (const Parameter& parameter : analysis.parameters) {
      bool sounds = false;
      for (const std::string_view word : {"file", "cache", "path", "folder"})
        sounds |= parameter.name.find(word) != std::string_view::npos;
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

TEST(Site, TablesForArgumentsAreBounded) {
  const Engine engine = open_fixtures({"fault_item_sync"});
  const Site site(engine, {});
  int good = 0, refused = 0;
  for (int runs = 1; runs <= 20; ++runs)
    ++(get(site, "/api/v1/info?runs=" + std::to_string(runs)).status == 200 ? good : refused);
  EXPECT_EQ(good, 8);
  EXPECT_EQ(refused, 12);
}

// 42 kernels and ops with names of 100 KB, which differ at their end only: cut, and told apart all the same.
TEST(Report, StaysSmallWhateverTheNames) {
  constexpr int kNames = 42;
  std::string events;
  for (int i = 0; i < kNames; ++i) {
    const std::string name = std::string(100'000, 'n') + std::to_string(i);
    events += fmt::format(
        R"({}{{"ph": "X", "cat": "cpu_op", "name": "{}", "pid": 1, "tid": 1, "ts": {}, "dur": 8, "args": {{}}}},)"
        R"({{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": {}, "dur": 2, "args": {{"correlation": {}}}}},)"
        R"({{"ph": "X", "cat": "kernel", "name": "{}", "pid": 0, "tid": 7, "ts": {}, "dur": 5, "args": {{"device": 0, "stream": 7, "correlation": {}}}}})",
        i == 0 ? "" : ",", name, 10 * i, 10 * i + 1, i + 1, name, 10 * i + 4, i + 1);
  }
  const std::string path =
      (std::filesystem::temp_directory_path() / fmt::format("ridge_long_names_{}.json", ::getpid())).string();
  std::ofstream(path) << "{\"traceEvents\": [" << events << "]}";
  const auto engine = Engine::open({path}, {});
  std::filesystem::remove(path);
  ASSERT_TRUE(engine);
  const Site site(*engine, {});
  const auto report = make_report(site, "<script type=\"application/json\" id=\"ridge-data\">null</script>");
  ASSERT_TRUE(report);
  EXPECT_LE(report->size(), kMostReportBytes);
  std::set<std::string> names;
  const std::string mark = " bytes more, ";
  for (std::size_t at = 0; (at = report->find(mark, at)) != report->npos; ++at)
    names.insert(report->substr(at + mark.size(), 16));
  EXPECT_GE(names.size(), static_cast<std::size_t>(kNames));
}

TEST(Report, ShrinksUntilItFits) {
  const Engine engine =
      open_fixtures({test::kSanitized ? "mlp_profiler_steps" : "gpt_eager_train_stack_mem", "fault_item_sync"});
  const Site site(engine, {});
  const std::string page = "<html><script type=\"application/json\" id=\"ridge-data\">null</script></html>";
  const auto large = make_report(site, page, 50'000'000), small = make_report(site, page, 600'000);
  ASSERT_TRUE(large && small);
  EXPECT_GT(large->size(), small->size());
  EXPECT_LE(small->size(), 600'000U);
  EXPECT_TRUE(small->ends_with("</script></html>"));
  const std::string data = small->substr(page.find("null"), small->size() - page.size() + 4);
  EXPECT_EQ(data.find('<'), std::string::npos);
  EXPECT_NE(data.find("\"/api/v1/tracks?t=1\""), std::string::npos);
  EXPECT_EQ(*make_report(site, page, 600'000), *small);
  EXPECT_FALSE(make_report(site, "<html></html>", 600'000));
}

}  // namespace
}  // namespace ridge::server
