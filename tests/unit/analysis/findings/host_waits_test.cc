// host_sync: what a wait costs, what goes with it and what to do about it, on traces made by hand with savings computed by
// hand.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "support/says.h"
#include "unit/analysis/findings/found.h"
#include "unit/analysis/findings/program.h"

namespace ridge {
namespace {

using test::Found;
using test::found_in;
using test::kUs;
using test::Program;
using test::TraceText;

// Reading a value: 30 us of aten::item, 4 of which the host waits, while the device is idle but for the copy. Without the op
// all of it goes.
TEST(HostWaits, AnOpThatReadsAValueGoesWithItsWait) {
  Program p;
  p.kernel(10).kernel(200);
  p.text.op("aten::item", 120 * kUs, 150 * kUs).op("aten::_local_scalar_dense", 121 * kUs, 149 * kUs);
  p.text.call("cudaMemcpyAsync", 130 * kUs, 136 * kUs, 77).copy("Memcpy DtoH (Device -> Pageable)", 138 * kUs, 140 * kUs, 77);
  p.text.call("cudaStreamSynchronize", 137 * kUs, 141 * kUs);
  const Found found = found_in(p.text);
  ASSERT_TRUE(found.has("host_sync")) << found.ids();
  // 120 to 150 us, the copy's 2 with them. At most all that the device waits for launches goes, 110 to 200 us: a host that does
  // not wait may be ahead.
  std::int64_t taken_ns = 0;
  for (const ClaimPart& part : test::claim_of(found, "host_sync")) taken_ns += part.reached ? 0 : part.ns;
  EXPECT_EQ(taken_ns, 30 * kUs);
  EXPECT_EQ(found.find("host_sync")->finding.at_most_ns, 90 * kUs);
}

// Two waits of one thread, behind each of which both of its devices idle, in three iterations: two waits, not four.
TEST(HostWaits, AWaitIsCountedOnceWhateverWaitsBehindIt) {
  test::TraceText text;
  for (int i = 0; i < 3; ++i) {
    const std::int64_t at = i * 300 * kUs;
    for (int device = 0; device < 2; ++device) {
      const int id = 2 * i + device + 1;
      text.call("cudaLaunchKernel", at + device * 6 * kUs, at + device * 6 * kUs + 5 * kUs, id);
      text.kernel("k", at + 15 * kUs, at + 100 * kUs, id, 7, device);
    }
    text.call("cudaDeviceSynchronize", at + 20 * kUs, at + 102 * kUs);
  }
  const Found found = found_in(text);
  ASSERT_TRUE(found.has("host_sync")) << found.ids();
  EXPECT_NE(found.find("host_sync")->finding.evidence.find("per iteration: cudaDeviceSynchronize, 0.7 x"), std::string::npos)
      << found.find("host_sync")->finding.evidence;
}

// Rows are found by nonzero, which waits, and indexed with: who uses a mask calls neither, so that both go, with the kernel of
// each, and so does the comparison before them. What computes with them stays.
TEST(HostWaits, RowsThatAWaitFoundGoWithIt) {
  const auto step = [](const std::string& before, const std::string& second) {
    TraceText text;
    for (int i = 0; i < 4; ++i) {
      const std::int64_t at = i * 1'000 * kUs;
      const int id = 10 * i;
      text.annotation("ProfilerStep#" + std::to_string(i), at, at + 1'000 * kUs);
      text.op(before, at + 10 * kUs, at + 95 * kUs).call("cudaLaunchKernel", at + 20 * kUs, at + 25 * kUs, id + 5);
      text.kernel("compare", at + 26 * kUs, at + 30 * kUs, id + 5);
      text.op("aten::nonzero", at + 100 * kUs, at + 300 * kUs).call("cudaLaunchKernel", at + 110 * kUs, at + 115 * kUs, id + 1);
      text.kernel("flag_heads", at + 116 * kUs, at + 126 * kUs, id + 1);
      text.call("cudaMemcpyAsync", at + 130 * kUs, at + 136 * kUs, id + 2);
      text.copy("Memcpy DtoH (Device -> Pinned)", at + 138 * kUs, at + 140 * kUs, id + 2);
      text.call("cudaStreamSynchronize", at + 137 * kUs, at + 280 * kUs);
      text.op(second, at + 310 * kUs, at + 500 * kUs).call("cudaLaunchKernel", at + 320 * kUs, at + 325 * kUs, id + 3);
      text.kernel("gather", at + 326 * kUs, at + 336 * kUs, id + 3);
      text.op("aten::mm", at + 510 * kUs, at + 700 * kUs).call("cudaLaunchKernel", at + 520 * kUs, at + 525 * kUs, id + 4);
      text.kernel("gemm", at + 526 * kUs, at + 700 * kUs, id + 4);
    }
    return found_in(text);
  };
  const auto saves = [&](const std::string& before, const std::string& second) {
    const Found found = step(before, second);
    return found.has("host_sync") ? found.find("host_sync")->savings.saves_ns.value_or(0) : 0;
  };
  const std::int64_t one = saves("aten::add", "aten::gather");
  EXPECT_GT(one, 150 * kUs);
  EXPECT_GT(saves("aten::add", "aten::index"), one + 100 * kUs);
  EXPECT_GT(saves("aten::add", "aten::index_add_"), one + 100 * kUs);
  EXPECT_GT(saves("aten::eq", "aten::gather"), one + 40 * kUs);
}

// The host reads a result, or sends a value, and waits until 400 us: what to do depends on the way of the copy.
TEST(HostWaits, WhatToDoAboutAWaitDependsOnTheCopy) {
  const auto program = [](std::string_view copy) {
    Program p;
    p.kernel(10).kernel(800);
    p.text.op("aten::to", 20 * kUs, 405 * kUs).op("aten::copy_", 21 * kUs, 404 * kUs);
    p.text.call("cudaMemcpyAsync", 22 * kUs, 30 * kUs, 77).copy(copy, 112 * kUs, 114 * kUs, 77);
    p.text.call("cudaStreamSynchronize", 31 * kUs, 400 * kUs);
    return found_in(p.text);
  };
  const auto action = [](const Found& found) {
    return found.has("host_sync") ? found.find("host_sync")->finding.action : "none of " + found.ids();
  };
  EXPECT_TRUE(test::says(action(program("Memcpy HtoD (Pageable -> Device)")), {"torch.full"}));
  EXPECT_FALSE(test::says(action(program("Memcpy DtoH (Device -> Pageable)")), {"torch.full"}));
}

}  // namespace
}  // namespace ridge
