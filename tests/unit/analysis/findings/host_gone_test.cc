// Host time that goes while the device is busy: what is reached of the late launches behind it, and what is told of the cause.
#include "analysis/findings/host_gone.h"

#include <gtest/gtest.h>

#include "unit/analysis/findings/found.h"

namespace ridge {
namespace {

using test::Found;
using test::found_in;
using test::kUs;
using test::TraceText;

constexpr std::string_view kKernel = "void at::native::softmax_warp_forward<float>()";

// Steps of 2 ms. The host first works in Python for 500 us, while the device still does the 700 us of the step before; then it
// launches four kernels 300 us apart, each late.
TraceText busy_while_prepared(std::int64_t python_us) {
  TraceText text;
  int correlation = 0;
  for (int step = 0; step < 5; ++step) {
    const std::int64_t at = step * (1'500 + python_us);
    text.annotation("ProfilerStep#" + std::to_string(step + 1), at * kUs, (at + 1'499 + python_us) * kUs);
    for (int i = 0; i < 4; ++i) {
      const std::int64_t launch = at + python_us + i * 300;
      const std::int64_t length = i == 3 ? 700 : 100;
      ++correlation;
      text.op("aten::softmax", launch * kUs, (launch + 290) * kUs);
      text.call("cudaLaunchKernel", (launch + 280) * kUs, (launch + 285) * kUs, correlation);
      text.kernel(std::string(kKernel), (launch + 290) * kUs, (launch + 290 + length) * kUs, correlation, 7);
    }
  }
  return text;
}

TEST(HostGone, PreparationCountsWhileTheDeviceIsBusy) {
  const Found found = found_in(busy_while_prepared(500));
  const RankedFinding* row = found.find("preprocessing");
  ASSERT_NE(row, nullptr) << found.ids();
  // Each step is 500 us shorter, but for what the recorder is thought to have cost.
  EXPECT_GE(*row->at_most_ns, 450 * kUs);
  EXPECT_LE(*row->at_most_ns, found.findings.time.mean_ns());
  ASSERT_TRUE(row->savings.saves_ns);
  EXPECT_NEAR(static_cast<double>(*row->savings.saves_ns), 500.0 * kUs, 60.0 * kUs);
  // What calling anything takes is no preparation.
  EXPECT_FALSE(found_in(busy_while_prepared(60)).has("preprocessing"));
}

// What another process prepares is handed over, tensor by tensor. Preparing 900 us takes hardly longer than that: a thread does
// it.
TEST(HostGone, OfWhatIsPreparedTheHandingOverStays) {
  const auto saves_us = [](int tensors, std::int64_t python_us) {
    TraceText text;
    int correlation = 0;
    for (int step = 0; step < 5; ++step) {
      const std::int64_t at = step * (400 + python_us), sent = at + python_us;
      text.annotation("ProfilerStep#" + std::to_string(step + 1), at * kUs, (at + 399 + python_us) * kUs);
      for (int i = 0; i < tensors; ++i) {
        const std::int64_t copy = sent + i * 20;
        text.call("cudaMemcpyAsync", copy * kUs, (copy + 5) * kUs, ++correlation);
        text.copy("Memcpy HtoD (Pinned -> Device)", (copy + 6) * kUs, (copy + 10) * kUs, correlation);
      }
      text.op("aten::softmax", (sent + 100) * kUs, (sent + 120) * kUs);
      text.call("cudaLaunchKernel", (sent + 110) * kUs, (sent + 115) * kUs, ++correlation);
      text.kernel(std::string(kKernel), (sent + 120) * kUs, (sent + 300) * kUs, correlation, 7);
    }
    const Found found = found_in(text);
    const RankedFinding* row = found.find("preprocessing");
    return row == nullptr ? -1.0 : static_cast<double>(row->savings.saves_ns.value_or(-1)) / kUs;
  };
  const double one = saves_us(1, 6'000), three = saves_us(3, 6'000);
  EXPECT_GT(one - three, 550) << one;  // of 1100: what the host does besides hides a part
  EXPECT_LT(one - three, 1'100);
  EXPECT_NEAR(saves_us(1, 900), saves_us(0, 900), 60);
}

// The device is never idle: a host that is ahead of it may prepare what it likes.
TEST(HostGone, NothingIsReachedOfADeviceThatIsNeverIdle) {
  TraceText text;
  for (int step = 0; step < 5; ++step) {
    const std::int64_t at = step * 1'000;
    text.annotation("ProfilerStep#" + std::to_string(step + 1), at * kUs, (at + 999) * kUs);
    text.op("aten::softmax", (at + 500) * kUs, (at + 520) * kUs);
    text.call("cudaLaunchKernel", (at + 505) * kUs, (at + 510) * kUs, step + 1);
    text.kernel(std::string(kKernel), (600 + at) * kUs, (600 + at + 1'000) * kUs, step + 1, 7);
  }
  const Found found = found_in(text);
  EXPECT_FALSE(found.has("preprocessing")) << found.ids();
}

// Two findings may reach the same time, neither takes it from the other, and of one nothing counts twice.
TEST(HostGone, ReachedTimeStaysOpen) {
  const test::LoadedTrace loaded(busy_while_prepared(500).read());
  const Scope scope(*loaded.model);
  Ledger ledger(scope);
  std::int64_t late = 0;
  for (const IdleSlot& slot : ledger.devices().at(0).idle) late += is_late(slot.piece.cause) ? slot.open_ns : 0;
  ASSERT_GT(late, 0);
  for (int i = 0; i < 2; ++i) {
    Claim claim(ledger);
    for (int again = 0; again < 2; ++again) {
      for (std::size_t s = 0; s < ledger.devices()[0].idle.size(); ++s) {
        if (is_late(ledger.devices()[0].idle[s].piece.cause)) claim.reach_idle(0, s);
      }
    }
    EXPECT_EQ(claim.ns(), late);
    EXPECT_TRUE(claim.keep());
  }
  std::int64_t open = 0;
  for (const IdleSlot& slot : ledger.devices().at(0).idle) open += is_late(slot.piece.cause) ? slot.open_ns : 0;
  EXPECT_EQ(open, late);
}

// A slice at the end of its thread is not taken to go on in the next one's.
TEST(HostGone, EndsWithItsThread) {
  test::TraceText text;
  text.op("aten::copy_", 1'000 * kUs, 2'000 * kUs, 1).call("cudaStreamSynchronize", 1'100 * kUs, 1'900 * kUs, 0, 1);
  text.op("aten::item", 100 * kUs, 1'500 * kUs, 2).call("cudaStreamSynchronize", 200 * kUs, 1'400 * kUs, 0, 2);
  text.op("aten::add", 10 * kUs, 20 * kUs, 1)
      .call("cudaLaunchKernel", 12 * kUs, 16 * kUs, 1, 1)
      .kernel("k", 20 * kUs, 30 * kUs, 1);
  const test::LoadedTrace loaded(text.read());
  const Scope scope(*loaded.model);
  Ledger ledger(scope);
  const Facts facts(scope, ledger, {});
  HostGone gone(facts);
  const CallTree& tree = loaded.model->tree();
  for (std::uint32_t n = 0; n < tree.recorded; ++n) {
    if (loaded.trace->text(loaded.trace->events.name(tree.event[n])) == "aten::copy_") gone.add(NodeId{n});
  }
  const Removal removal = gone.removal();
  ASSERT_EQ(removal.waits.size(), 1U);
  EXPECT_EQ(tree.start_ns[removal.waits[0].value], 1'100 * kUs);
}

}  // namespace
}  // namespace ridge
