// Kernels queued before the recording, told by the launches around them: steps of a made program, with the truth beside it.
#include "replay/queued_launches.h"

#include <gtest/gtest.h>

#include "analysis/replay/replay.h"
#include "support/loaded_trace.h"

namespace ridge {
namespace {

using test::event;

// A layer: norm, three products that share a kernel, attention, one more of them. Calls by place: 0 to 5.
constexpr std::uint32_t kLayer[] = {1, 2, 2, 2, 3, 2};

TEST(QueuedLaunches, AreOfTheCallWithTheSameNeighbours) {
  QueuedLaunches launches;
  std::vector<std::uint32_t> truth;
  constexpr std::uint32_t kSteps = 8, kQueued = 23;
  for (std::uint32_t i = 0; i < kSteps * 6; ++i) {
    const bool queued = i < kQueued;
    if (queued) truth.push_back(i % 6);
    launches.add({0, 7}, kLayer[i % 6], queued, queued ? std::nullopt : std::optional(i % 6));
    launches.add({0, 8}, 9, false, 77U);  // another stream between them
  }
  const auto found = launches.calls();
  ASSERT_EQ(found.size(), truth.size());
  for (std::size_t i = 0; i < truth.size(); ++i) EXPECT_EQ(found[i], truth[i]) << i;
}

TEST(QueuedLaunches, StayUntoldWhereSeveralCallsHaveTheirNeighbours) {
  QueuedLaunches launches;
  for (std::uint32_t i = 0; i < 200; ++i) launches.add({0, 7}, 1, i < 20, i < 20 ? std::nullopt : std::optional(i % 2));
  for (const auto& call : launches.calls()) EXPECT_EQ(call, std::nullopt);
  QueuedLaunches strange;  // nothing recorded is like it
  for (std::uint32_t i = 0; i < 200; ++i)
    strange.add({0, 7}, i < 20 ? i : 100 + i % 5, i < 20, i < 20 ? std::nullopt : std::optional(i % 5));
  for (const auto& call : strange.calls()) EXPECT_EQ(call, std::nullopt);
}

// In a trace: two calls of one kernel and grid, in turn; the queued ones are given to the one whose turn it was.
TEST(QueuedLaunches, GoToTheirCallsOfATrace) {
  const auto kernel = [](std::string_view name, int ts, int dur, int correlation) {
    return event({.name = name,
                  .ts = ts,
                  .dur = dur,
                  .cat = "kernel",
                  .args = R"("device": 0, "stream": 7, "grid": [2, 1, 1], "block": [32, 1, 1], "correlation": )" +
                          std::to_string(correlation),
                  .tid = 7});
  };
  std::string events;
  int id = 1;
  for (int step = 0; step < 10; ++step) {
    for (int place = 0; place < 3; ++place, ++id) {
      const int ts = 1000 * step + 100 * place;
      const std::string_view name = place == 0 ? "norm" : "product";
      const int dur = 5 + 10 * place;  // norm 5, first product 15, second 25
      if (!events.empty()) events += ",";
      events += kernel(name, ts + 50, dur, id);
      if (step < 3) continue;  // queued before the recording
      const std::string dims =
          R"("Input Dims": [[)" + std::to_string(64 + place) + R"(]], "Input type": ["float"], "Concrete Inputs": [""])";
      events += "," + event({.name = "aten::relu", .ts = ts, .dur = 9, .args = dims}) + "," +
                event({.name = "cudaLaunchKernel",
                       .ts = ts + 1,
                       .dur = 1,
                       .cat = "cuda_runtime",
                       .args = "\"correlation\": " + std::to_string(id)});
    }
  }
  const auto loaded = test::load_events(events);
  const Replays replays = *compute_replays(Scope(*loaded.model), {});
  ASSERT_EQ(replays.rows.size(), 3U);
  for (const ReplayRow& row : replays.rows) {
    EXPECT_EQ(row.call.cannot, "");
    EXPECT_EQ(row.call.count, 10);
    const int place = static_cast<int>(row.call.call.arguments[0].tensor.sizes[0]) - 64;
    EXPECT_EQ(row.call.median_ns, 1000 * (5 + 10 * place));
    EXPECT_EQ(row.call.time_ns, 10'000 * (5 + 10 * place));
  }
}

}  // namespace
}  // namespace ridge
