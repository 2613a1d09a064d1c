// Expected times of a trace's launches, on traces recorded on the device of the table.
#include "predict/expected_times.h"

#include <gtest/gtest.h>

#include "ingest/reader.h"
#include "support/files.h"

namespace ridge {
namespace {

struct Costed {
  explicit Costed(const std::string& name, CostOptions options = {})
      : trace(read_trace_bytes(test::fixture(name), "t", {}).value()), model(*trace), costs(model, std::move(options)) {}
  std::unique_ptr<Trace> trace;
  Model model;
  CostModel costs;
};

TEST(ExpectedTimes, LaunchesOfACallShareItsTime) {
  const Costed made("opzoo_eager");
  const ExpectedTimes times(made.costs);
  std::vector<double> sums(times.calls().size());
  for (std::size_t row = 0; row < made.costs.costs().of_row.size(); ++row) {
    const ExpectedCall* call = times.call(row);
    if (call == nullptr || !call->expected) {
      EXPECT_FALSE(times.ns(row).has_value());
      continue;
    }
    ASSERT_TRUE(times.ns(row).has_value());
    sums[static_cast<std::size_t>(call - times.calls().data())] += *times.ns(row);
  }
  std::size_t told = 0;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const ExpectedCall& call = times.calls()[i];
    if (!call.expected || call.time_ns <= 0) continue;
    ++told;
    EXPECT_NEAR(sums[i], call.expected->ns * static_cast<double>(call.count), 1e-6 * sums[i]);
  }
  EXPECT_GT(told, 20U);
}

TEST(ExpectedTimes, AreNearWhatWellUsedKernelsTook) {
  const Costed made("clean_busy_gemm");
  const ExpectedTimes times(made.costs);
  double took = 0, should = 0;
  for (const ExpectedCall& call : times.calls()) {
    if (!call.expected) continue;
    took += call.time_ns;
    should += call.expected->ns * static_cast<double>(call.count);
  }
  ASSERT_GT(should, 0);
  EXPECT_NEAR(took / should, 1, 0.3);
}

TEST(ExpectedTimes, NoneWithoutADevice) {
  DeviceSpec nothing;
  nothing.name = "nothing";
  CostOptions options;
  options.device = nothing;
  const Costed made("clean_busy_gemm", options);
  const ExpectedTimes times(made.costs);
  ASSERT_FALSE(times.calls().empty());
  for (const ExpectedCall& call : times.calls()) {
    EXPECT_FALSE(call.expected.has_value());
    EXPECT_FALSE(call.why.empty());
  }
}

}  // namespace
}  // namespace ridge
