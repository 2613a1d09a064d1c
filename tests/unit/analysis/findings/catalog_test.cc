// The catalog of findings: every rule's file has its row, ids are unique, and the command line takes them.
#include "analysis/findings/catalog.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "analysis/catalog.h"
#include "support/files.h"
#include "support/table_rows.h"
#include "unit/analysis/findings/found.h"

namespace ridge {
namespace {

TEST(FindingCatalog, HasARowForEveryFile) {
  const std::set<std::string> parts = {"attention_shape", "bounds",     "catalog",       "claim_table",
                                       "ddp_copies",      "facts",      "findings",      "hidden_waits",
                                       "host_gone",       "host_loops", "least_time",    "ledger",
                                       "product_shape",   "savings",    "unclaimed_idle"};  // what the rules stand on
  std::set<std::string> ids;
  for (const FindingRow& rule : finding_catalog()) {
    EXPECT_TRUE(ids.insert(std::string(rule.id)).second) << rule.id;
    EXPECT_FALSE(rule.description.empty()) << rule.id;
  }
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(test::source_dir() + "/src/analysis/findings")) {
    const std::string stem = entry.path().stem().string();
    if (entry.path().extension() != ".cc" || parts.contains(stem)) continue;
    ++files;
    EXPECT_TRUE(ids.contains(stem)) << stem;
  }
  EXPECT_EQ(files, ids.size());
}

// A reader finds every rule by its id and its description: in the list that --all adds, and in the documents.
TEST(FindingCatalog, IsDescribedToReaders) {
  const auto path = test::path_of("fault_tiny_kernels");
  ASSERT_TRUE(path);
  const test::LoadedTrace loaded = test::load_file(*path);
  const auto report = run_findings(Scope(*loaded.model), {{"all", "true"}});
  ASSERT_TRUE(report);
  ASSERT_EQ(report->tables.size(), run_findings(Scope(*loaded.model), {})->tables.size() + 1);
  const std::vector<Row> rows = rows_of(report->tables.back());
  ASSERT_EQ(rows.size(), finding_catalog().size());
  const std::string page = test::contents(test::source_dir() + "/docs/findings.md");
  std::size_t found = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const FindingRow& rule = finding_catalog()[i];
    EXPECT_EQ(rows[i][0], Cell(std::string(rule.id)));
    EXPECT_EQ(rows[i][2], Cell(std::string(rule.description)));
    found += rows[i][1] == Cell() ? 0U : 1U;
    EXPECT_NE(page.find("| `" + std::string(rule.id) + "` | " + std::string(rule.description) + " |"), std::string::npos)
        << rule.id;
  }
  EXPECT_EQ(found, rows_of(report->tables.front()).size());
}

TEST(FindingCatalog, IsWhatIgnoreTakes) {
  const auto path = test::path_of("fault_tiny_kernels");
  ASSERT_TRUE(path);
  const test::LoadedTrace loaded = test::load_file(*path);
  const Scope scope(*loaded.model);
  const auto all = run_findings(scope, {});
  const auto fewer = run_findings(scope, {{"ignore", "tiny_kernels,launch_bound"}});
  ASSERT_TRUE(all && fewer);
  EXPECT_LT(rows_of(fewer->tables.front()).size(), rows_of(all->tables.front()).size());
  const auto unknown = run_findings(scope, {{"ignore", "tiny_kernel"}});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::usage);
  EXPECT_NE(unknown.error().hint.find("tiny_kernels"), std::string::npos) << unknown.error().hint;
  const auto far = run_findings(scope, {{"ignore", "nosuch"}});
  ASSERT_FALSE(far);
  EXPECT_NE(far.error().hint.find("launch_bound"), std::string::npos) << far.error().hint;  // all there are
}

}  // namespace
}  // namespace ridge
