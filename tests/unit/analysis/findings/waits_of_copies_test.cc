// Copies between the device and ordinary memory, the waits that go with them, and explicit waits of the host.
#include <set>

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "unit/analysis/findings/found.h"
#include "unit/analysis/findings/program.h"

namespace ridge {
namespace {

using test::Found;
using test::kUs;

// A copy behind which the device does not wait: what follows is launched before it ends.
std::string host_copy(int correlation, int at, int us, std::string_view name, int megabytes) {
  const std::string id = fmt::format(R"("correlation": {})", correlation);
  return test::join({test::event({.name = "cudaMemcpyAsync", .ts = at - 7, .dur = us - 20, .cat = "cuda_runtime", .args = id}),
                     test::event({.name = name,
                                  .ts = at,
                                  .dur = us,
                                  .cat = "gpu_memcpy",
                                  .args = fmt::format(R"({}, "device": 0, "stream": 7, "bytes": {}000000)", id, megabytes),
                                  .tid = 7})});
}

// 64 MB in 10 ms, and 7 us of the call before; from pinned memory they take 1 ms at the 64 GB/s of PCIe 5, which the kernel
// behind them may cover.
TEST(WaitsOfCopies, CopiesFromPinnedMemoryTakeTimeToo) {
  constexpr std::string_view kToDevice = "Memcpy HtoD (Pageable -> Device)", kToHost = "Memcpy DtoH (Device -> Pageable)";
  const auto at_most_us = [](std::string_view events) {
    const Found found = test::found_on_h200(events);
    const RankedFinding* row = found.find("pageable_copy");
    return row == nullptr ? -1 : row->finding.at_most_ns.value_or(-1) / kUs;
  };
  const std::string copy = host_copy(1, 100, 10'000, kToDevice, 64);
  const std::string kernel = test::launch(2, 10'085, 4, "nvjet_sm90_tst_128x64", 10'100, 200);
  EXPECT_EQ(at_most_us(test::join({copy, kernel})), 10'007 - (1'000 - 200));
  EXPECT_EQ(at_most_us(test::join({copy, test::launch(2, 10'085, 4, "nvjet_sm90_tst_128x64", 10'100, 5'000)})), 10'007);
  // What is kept on the device is not sent.
  const std::string back = host_copy(3, 10'300, 5'000, kToHost, 32);
  EXPECT_EQ(at_most_us(test::join({copy, kernel, back})), 15'007 - (1'000 - 200));
  // Another copy shows that this link is twice as fast.
  const std::string faster = host_copy(3, 10'300, 500, "Memcpy HtoD (Pinned -> Device)", 64);
  EXPECT_EQ(at_most_us(test::join({copy, kernel, faster})), 10'007 - (500 - 200));
}

// Who pins a batch pins its small tensors too: the host waits neither for the large copy nor for the label behind it.
TEST(WaitsOfCopies, WhoPinsABatchWaitsForNoneOfItsTensors) {
  std::string events;
  const auto copy = [&](int id, int at, int us, int bytes) {
    using test::event;
    events += (events.empty() ? "" : ", ") +
              test::join({event({.name = "aten::copy_", .ts = at, .dur = us + 20}),
                          event({.name = "cudaMemcpyAsync",
                                 .ts = at + 1,
                                 .dur = us,
                                 .cat = "cuda_runtime",
                                 .args = fmt::format(R"("correlation": {})", id)}),
                          event({.name = "cudaStreamSynchronize", .ts = at + us + 2, .dur = 10, .cat = "cuda_runtime"}),
                          event({.name = "Memcpy HtoD (Pageable -> Device)",
                                 .ts = at + 2,
                                 .dur = us + 2,
                                 .cat = "gpu_memcpy",
                                 .args = fmt::format(R"("correlation": {}, "device": 0, "stream": 7, "bytes": {})", id, bytes),
                                 .tid = 7})});
  };
  for (int i = 0; i < 5; ++i) {
    copy(2 * i + 1, 20'000 * i + 100, 10'000, 64'000'000);
    copy(2 * i + 2, 20'000 * i + 10'200, 10, 4'096);
  }
  const test::Found found = test::found_on_h200(events);
  const RankedFinding* row = found.find("pageable_copy");
  ASSERT_NE(row, nullptr) << found.ids();
  std::set<std::uint32_t> waits;
  const CallTree& tree = found.loaded.model->tree();
  for (const NodeId node : row->remedy.removal.waits) {
    if (found.loaded.trace->text(found.loaded.trace->events.name(tree.event[node.value])) == "cudaStreamSynchronize")
      waits.insert(node.value);
  }
  EXPECT_EQ(waits.size(), 10U) << "two in each of five steps";
}

// Twice a step a hundred launches, an explicit wait, and 80 us of the program's own. While it is recorded the host launches
// every 10 us kernels of 7 us, and waits for next to nothing; without the recorder it would be ahead and wait for long. A wait
// at the end of the recording is none of the program's.
TEST(WaitsOfCopies, ExplicitWaitsInEveryStepAreFoundWhereTheRecorderHidesThem) {
  const auto program = [](bool each) {
    test::TraceText text;
    int id = 0;
    for (int part = 0; part < 12; ++part) {
      const std::int64_t at = part * 1'100 * kUs;
      if (part % 2 == 0) text.annotation(fmt::format("ProfilerStep#{}", part / 2), at, at + 2'199 * kUs);
      for (int k = 0; k < 100; ++k) {
        const std::int64_t op = at + k * 10 * kUs;
        ++id;
        text.op("aten::add", op, op + 9 * kUs).call("cudaLaunchKernel", op + 2 * kUs, op + 6'400, id);
        text.kernel("k", op + 8 * kUs, op + 15 * kUs, id);
      }
      if (each || part == 11) text.call("cudaDeviceSynchronize", at + 1'001 * kUs, at + 1'010 * kUs);
    }
    return test::found_in(text);
  };
  const test::Found every = program(true);
  ASSERT_TRUE(every.has("host_sync")) << every.ids();
  EXPECT_GT(every.find("host_sync")->savings.saves_pct.value_or(0), 5);
  const test::Found once = program(false);
  EXPECT_FALSE(once.has("host_sync")) << once.ids();
}

// Copies by one op: each waits in the call behind it, and what else the op waits for stays. As many waits go as copies twice
// over, whatever op they are in.
TEST(WaitsOfCopies, OfAnOpThatCopiesOftenTheCopiesWaitsGo) {
  using test::event;
  const auto program = [](int copies) {
    std::string events = event({.name = "my::op", .ts = 0, .dur = 1'000 * copies + 900});
    for (int i = 0; i < copies; ++i) {
      events += ", " +
                test::join({host_copy(i + 1, 1'000 * i + 100, 800, "Memcpy HtoD (Pageable -> Device)", 1),
                            event({.name = "cudaStreamSynchronize", .ts = 1'000 * i + 880, .dur = 30, .cat = "cuda_runtime"})});
    }
    const test::Found found = test::found_on_h200(events);
    const RankedFinding* row = found.find("pageable_copy");
    std::set<std::uint32_t> waits;
    if (row != nullptr) {
      for (const NodeId node : row->remedy.removal.waits) waits.insert(node.value);
      EXPECT_LE(row->remedy.removal.waits.size(), static_cast<std::size_t>(6 * copies));
    }
    return waits.size();
  };
  EXPECT_EQ(program(10), 20U);
  EXPECT_EQ(program(100), 200U);
}

}  // namespace
}  // namespace ridge
