// The Shelf of a large job: ranks are answered from digests, a trace is read when it is asked for, and nothing that only a
// digest names is read.
#include "server/shelf.h"

#include <gtest/gtest.h>

#include <ridge/engine.h>
#include <ridge/render.h>

#include "server/site.h"
#include "support/files.h"

namespace ridge::server {
namespace {

std::vector<std::string> job_paths() {
  std::vector<std::string> paths;
  for (int rank = 0; rank < 4; ++rank)
    paths.push_back(test::source_dir() + "/tests/fixtures/ddp_gloo_rank" + std::to_string(rank) + ".json.gz");
  return paths;
}

Engine digests_of(const std::vector<std::string>& paths) {
  auto engine = Engine::open(paths, {.digests_only = true});
  EXPECT_TRUE(engine);
  EXPECT_EQ(engine->trace_count(), 0U);
  return std::move(*engine);
}

std::string text_of(const Report& report) { return *report_text(report, **find_format("json")); }
Answer ask(const Site& site, std::string_view target) { return site.get(*parse_target(target)); }

TEST(Shelf, AJobAnswersAsAnEngineThatHoldsAllDoes) {
  const Engine digests = digests_of(job_paths());
  const auto shelf = Shelf::of_job(digests, job_paths(), {});
  ASSERT_TRUE(shelf);
  const auto held = Engine::open(job_paths(), {});
  ASSERT_TRUE(held);
  EXPECT_EQ(shelf->trace_count(), 4U);
  EXPECT_EQ(text_of(**shelf->kept_report("ranks", {})), text_of(*held->run("ranks", {})));
  const auto of_one = shelf->kept_report("ops", {}, 2);
  ASSERT_TRUE(of_one);
  EXPECT_EQ((*of_one)->tables.front().size(), held->run("ops", {}, 2)->tables.front().size());
  const auto timeline = shelf->timeline(3, {});
  ASSERT_TRUE(timeline);
  EXPECT_EQ((*timeline)->facts().events, (*held->timeline(3, {}))->facts().events);
  EXPECT_FALSE(shelf->timeline(4, {}));
}

TEST(Shelf, ATraceThatOnlyADigestNamesIsNotRead) {
  const Engine digests = digests_of(job_paths());
  const auto shelf = Shelf::of_job(digests, {"job.digest"}, {});
  ASSERT_TRUE(shelf);
  for (const Shelf::Entry& entry : shelf->entries()) EXPECT_EQ(entry.state, "absent");
  EXPECT_TRUE(shelf->kept_report("ranks", {}));
  EXPECT_FALSE(shelf->timeline(0, {}));
  EXPECT_FALSE(shelf->kept_report("ops", {}, 0));
}

TEST(Shelf, APageLearnsOfAClosedTraceWhenItAsks) {
  const Engine digests = digests_of(job_paths());
  const auto shelf = Shelf::of_job(digests, job_paths(), {});
  ASSERT_TRUE(shelf);
  const Site site(*shelf, {});
  const std::string list = ask(site, "/api/v1/traces").text();
  EXPECT_NE(list.find("\"state\":\"closed\",\"window_ns\":null"), std::string::npos) << list.substr(0, 400);
  EXPECT_EQ(list.find("\"name\":\"diff\""), std::string::npos);
  EXPECT_NE(list.find("\"name\":\"ranks\""), std::string::npos);
  const std::string one = ask(site, "/api/v1/trace?t=1").text();
  EXPECT_NE(one.find("\"index\":1,\"name\":\"ddp_gloo_rank1.json.gz\""), std::string::npos) << one.substr(0, 200);
  EXPECT_NE(one.find("\"state\":\"open\""), std::string::npos);
  EXPECT_EQ(one.find("\"window_ns\":null"), std::string::npos);
  EXPECT_EQ(ask(site, "/api/v1/tracks?t=1").status, 200U);
  EXPECT_EQ(ask(site, "/api/v1/tracks?t=9").status, 400U);
}

}  // namespace
}  // namespace ridge::server
