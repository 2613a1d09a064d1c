// The ledger: whose a nanosecond is, and that it is claimed once.
#include "analysis/findings/ledger.h"

#include <gtest/gtest.h>

#include "analysis/findings/findings.h"
#include "support/files.h"
#include "support/host_device_trace.h"
#include "support/loaded_trace.h"

namespace ridge {
namespace {

using test::TraceText;

// A copy [100, 500), a kernel [200, 300) inside it, a collective [250, 600): computation owns 100, the collective 300, the copy
// 100.
TEST(Ledger, GivesOverlappingTimeToComputationFirst) {
  TraceText text;
  text.call("cudaMemcpyAsync", 0, 10, 1).call("cudaLaunchKernel", 20, 30, 2).call("cudaLaunchKernel", 40, 50, 3);
  text.copy("Memcpy HtoD (Pinned -> Device)", 100, 500, 1, 20)
      .kernel("some_kernel", 200, 300, 2)
      .kernel("ncclDevKernel_AllReduce", 250, 600, 3, 21);
  const auto trace = text.read();
  const Model model(*trace);
  const Ledger ledger{Scope(model)};
  ASSERT_EQ(ledger.devices().size(), 1U);
  const auto& work = ledger.devices()[0].work;
  ASSERT_EQ(work.size(), 3U);
  EXPECT_EQ(work[0].owned_ns, 100);
  EXPECT_EQ(work[1].owned_ns, 100);
  EXPECT_EQ(work[2].owned_ns, 300);
  EXPECT_EQ(ledger.devices()[0].busy_ns, 500);
  EXPECT_EQ(ledger.span_ns(), 600);  // from the first launch on
}

// What lies before the first launch and behind the last work is of no iteration.
TEST(Ledger, LeavesOutIdleTimeAtBothEnds) {
  TraceText text;
  text.op("aten::mm", 0, 1'000'000).call("cudaLaunchKernel", 500'000, 510'000, 1).kernel("k", 520'000, 530'000, 1);
  text.call("cudaLaunchKernel", 600'000, 610'000, 2).kernel("k", 620'000, 630'000, 2).op("aten::add", 1'000'000, 5'000'000);
  const auto trace = text.read();
  const Model model(*trace);
  const Ledger ledger{Scope(model)};
  EXPECT_EQ(ledger.span_ns(), 630'000 - 500'000);
}

TEST(Ledger, ClaimsOnceAndGivesBackWhatIsNotKept) {
  TraceText text;
  text.call("cudaLaunchKernel", 0, 10, 1)
      .kernel("k", 100, 10'100, 1)
      .call("cudaLaunchKernel", 20'000, 20'010, 2)
      .kernel("k", 20'100, 30'100, 2);
  const auto trace = text.read();
  const Model model(*trace);
  const Scope scope(model);
  Ledger ledger(scope);
  {
    Claim claim(ledger);
    EXPECT_EQ(claim.take_work(0, 0, 4'000), 4'000);
    EXPECT_EQ(claim.take_work(0, 0), 6'000);
    EXPECT_EQ(claim.take_work(0, 0), 0);
    EXPECT_EQ(claim.ns(), 10'000);
  }
  EXPECT_EQ(ledger.devices()[0].work[0].open_ns, 10'000);
  Claim kept(ledger);
  kept.take_work(0, 0);
  EXPECT_TRUE(kept.keep());
  Claim other(ledger);
  EXPECT_EQ(other.take_work(0, 0), 0);
  EXPECT_FALSE(other.keep());
  // What another has can bound it, and stays the other's.
  EXPECT_EQ(other.reach_work(0, 0), 0);
  EXPECT_EQ(other.reach_taken_work(0, 0), 10'000);
  EXPECT_EQ(other.reach_taken_work(0, 0), 0);
  EXPECT_FALSE(other.keep()) << "a bound alone is no finding";
  // [15'000, 18'000) of the pause [10'100, 20'100).
  EXPECT_EQ(other.take_idle_within(0, {15'000, 18'000}), 3'000);
}

// What is claimed no more needs no slots; what is divided by it stays.
TEST(Ledger, KeepsItsSumsWhenItIsClosed) {
  const test::LoadedTrace loaded(test::read_ok(test::fixture("gpt_eager_train_stack_mem")));
  const Scope scope(*loaded.model);
  Ledger ledger(scope), open(scope);
  ledger.close();
  ASSERT_FALSE(open.devices().empty());
  ASSERT_EQ(ledger.devices().size(), open.devices().size());
  EXPECT_TRUE(ledger.devices()[0].idle.empty());
  EXPECT_TRUE(ledger.devices()[0].work.empty());
  EXPECT_EQ(ledger.devices()[0].work.capacity() + ledger.devices()[0].idle.capacity(), 0U);
  EXPECT_GT(open.devices()[0].busy_ns, 0);
  EXPECT_EQ(ledger.devices()[0].busy_ns, open.devices()[0].busy_ns);
  EXPECT_EQ(ledger.span_ns(), open.span_ns());
  EXPECT_EQ(ledger.rounds(), open.rounds());
  EXPECT_EQ(ledger.least_work_ns(), open.least_work_ns());
}

// The step's graph is made when all rules are through, and then their time is let go of; who asks for a claim gets it.
TEST(Ledger, IsClosedBeforeTheStepIsReplayed) {
  const test::LoadedTrace loaded(test::read_ok(test::fixture("gpt_eager_train_stack_mem")));
  const Scope scope(*loaded.model);
  Ledger ledger(scope), claimed(scope);
  const Findings findings = compute_findings(scope, {}, {.ledger = &ledger});
  ASSERT_FALSE(findings.rows.empty());
  EXPECT_TRUE(ledger.devices()[0].work.empty());
  const Findings same = compute_findings(scope, {}, {.ledger = &claimed}, findings.rows[0].id);
  EXPECT_FALSE(claimed.devices()[0].work.empty());
  EXPECT_FALSE(same.claim.empty());
  ASSERT_EQ(same.rows.size(), findings.rows.size());
  EXPECT_EQ(same.rows[0].savings.saves_ns, findings.rows[0].savings.saves_ns);
}

// Owned times add up to busy time, and those with idle time to the span, on every trace of the repository.
TEST(Ledger, ClosesOnEveryTrace) {
  for (const std::string& path : test::own_traces()) {
    const test::LoadedTrace loaded = test::load_file(path);
    const Scope scope(*loaded.model);
    const Ledger ledger(scope);
    for (std::size_t d = 0; d < ledger.devices().size(); ++d) {
      const DeviceLedger& device = ledger.devices()[d];
      std::int64_t owned = 0, idle = 0;
      for (const WorkSlot& slot : device.work) owned += slot.owned_ns;
      for (const IdleSlot& slot : device.idle) idle += slot.open_ns;
      const IntervalSet busy = busy_time(loaded.model->timeline().devices[d], scope.window());
      EXPECT_EQ(owned, intersect(busy, ledger.time().spans).length()) << path;
      EXPECT_EQ(owned + idle, ledger.span_ns()) << path;
    }
  }
}

}  // namespace
}  // namespace ridge
