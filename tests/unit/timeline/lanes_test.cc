// Lanes: no slice is lost, no row overlaps, inner slices stand below what holds them, self times are right; on random slices
// and real traces.
#include "timeline/lanes.h"

#include <algorithm>
#include <random>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/interval_set.h"
#include "support/files.h"
#include "support/loaded_trace.h"

namespace ridge {
namespace {

using test::load_events;
using test::LoadedTrace;

struct Piece {
  std::int64_t start, end;
};

// Kernels of one stream; times in ns.
LoadedTrace kernels(const std::vector<Piece>& pieces) {
  std::string events;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    events += fmt::format(
        R"({}{{"ph":"X","cat":"kernel","name":"k{}","pid":0,"tid":7,"ts":{:.3f},"dur":{:.3f},"args":{{"device":0,"stream":7}}}})",
        i == 0 ? "" : ",", i, static_cast<double>(pieces[i].start) / 1000,
        static_cast<double>(pieces[i].end - pieces[i].start) / 1000);
  }
  return load_events(events);
}

std::vector<std::size_t> depths_of(const LoadedTrace& t, const Lanes& lanes, std::size_t count) {
  std::vector<std::size_t> depths;
  for (std::size_t i = 0; i < count; ++i) {
    const auto place = lanes.place_of(*t.trace, EventId{i});
    EXPECT_TRUE(place);
    depths.push_back(place ? place->row : SIZE_MAX);
  }
  return depths;
}

void check_rows(const Lanes& lanes) {
  for (const Lane& lane : lanes.lanes) {
    std::uint64_t slices = 0;
    for (const LaneRow& row : lane.rows) {
      slices += row.size();
      ASSERT_GT(row.size(), 0U);
      for (std::size_t i = 1; i < row.size() && !row.overlapping; ++i) ASSERT_GE(row.start_ns[i], row.end_ns[i - 1]);
      for (std::size_t i = 0; i < row.size(); ++i) {
        ASSERT_GE(row.self_ns[i], 0);
        ASSERT_LE(row.self_ns[i], row.duration_ns(i));
      }
    }
    EXPECT_EQ(slices, lane.slices);
  }
}

TEST(Lanes, NestedSlicesStandByDepth) {
  const auto t = kernels({{0, 100}, {10, 60}, {20, 30}, {70, 90}, {110, 120}});
  const Lanes lanes = build_lanes(*t.model);
  EXPECT_EQ(depths_of(t, lanes, 5), (std::vector<std::size_t>{0, 1, 2, 1, 0}));
  const Lane& lane = lanes.lanes.at(0);
  EXPECT_EQ(lane.rows[0].self_ns, (std::vector<std::int64_t>{30, 10}));
  EXPECT_EQ(lane.rows[1].self_ns, (std::vector<std::int64_t>{40, 20}));
  EXPECT_EQ(lane.busy_ns, 110);
}

TEST(Lanes, OverlappingSlicesAreLaidBelowEachOtherAndRowsAreUsedAgain) {
  // A chain in which each kernel overlaps the next (programmatic dependent launch): two rows are enough, however long it is.
  std::vector<Piece> chain;
  for (std::int64_t i = 0; i < 1000; ++i) chain.push_back({i * 100, i * 100 + 130});
  const auto t = kernels(chain);
  const Lanes lanes = build_lanes(*t.model);
  ASSERT_EQ(lanes.lanes.size(), 1U);
  EXPECT_EQ(lanes.lanes[0].rows.size(), 2U);
  EXPECT_EQ(lanes.lanes[0].slices, 1000U);
  EXPECT_EQ(lanes.lanes[0].busy_ns, 999 * 100 + 130);
  check_rows(lanes);
}

TEST(Lanes, ChildrenThatOverlapEachOtherCountOnceInSelfTime) {
  const auto t = kernels({{0, 100}, {10, 50}, {40, 60}});
  const Lanes lanes = build_lanes(*t.model);
  EXPECT_EQ(depths_of(t, lanes, 3), (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(lanes.lanes[0].rows[0].self_ns[0], 50);
}

TEST(Lanes, ManyOverlappingSlicesShareTheLastRow) {
  std::vector<Piece> pile;
  for (std::int64_t i = 0; i < 3000; ++i) pile.push_back({i, 10'000 + i});
  const auto t = kernels(pile);
  const Lanes lanes = build_lanes(*t.model);
  EXPECT_EQ(lanes.lanes[0].rows.size(), kMostRows);
  EXPECT_EQ(lanes.lanes[0].slices, 3000U);
  EXPECT_TRUE(lanes.lanes[0].rows.back().overlapping);
  check_rows(lanes);
  for (std::size_t i = 0; i < pile.size(); ++i) EXPECT_TRUE(lanes.place_of(*t.trace, EventId{i}));
}

TEST(Lanes, RandomSlicesKeepTheInvariants) {
  std::mt19937 random(23);
  for (int round = 0; round < 60; ++round) {
    std::vector<Piece> pieces;
    for (int i = 0; i < 120; ++i) {
      const auto start = static_cast<std::int64_t>(random() % 1000);
      pieces.push_back({start, start + static_cast<std::int64_t>(random() % 200)});
    }
    const auto t = kernels(pieces);
    const Lanes lanes = build_lanes(*t.model);
    check_rows(lanes);
    const Lane& lane = lanes.lanes.at(0);
    std::vector<Interval> all;
    for (const Piece& p : pieces) all.push_back({p.start, p.end});
    EXPECT_EQ(lane.busy_ns, IntervalSet(all).length());
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const auto place = lanes.place_of(*t.trace, EventId{i});
      ASSERT_TRUE(place);
      EXPECT_EQ(lane.rows[place->row].start_ns[place->index], pieces[i].start);
      EXPECT_EQ(lane.rows[place->row].end_ns[place->index], pieces[i].end);
    }
  }
}

// Annotations on a stream from 0 to 100 and, in it, from 10 to 50; kernels at 5-15, 20-30, 60-70 and 90-120.
constexpr std::string_view kAnnotated = R"json(
  {"ph":"X","cat":"kernel","name":"a","pid":0,"tid":7,"ts":0.005,"dur":0.010,"args":{"device":0,"stream":7}},
  {"ph":"X","cat":"kernel","name":"b","pid":0,"tid":7,"ts":0.020,"dur":0.010,"args":{"device":0,"stream":7}},
  {"ph":"X","cat":"kernel","name":"c","pid":0,"tid":7,"ts":0.060,"dur":0.010,"args":{"device":0,"stream":7}},
  {"ph":"X","cat":"kernel","name":"d","pid":0,"tid":7,"ts":0.090,"dur":0.030,"args":{"device":0,"stream":7}},
  {"ph":"X","cat":"gpu_user_annotation","name":"step","pid":0,"tid":7,"ts":0,"dur":0.100},
  {"ph":"X","cat":"gpu_user_annotation","name":"forward","pid":0,"tid":7,"ts":0.010,"dur":0.040},
  {"ph":"X","cat":"gpu_user_annotation","name":"later","pid":0,"tid":7,"ts":0.130,"dur":0.500})json";

TEST(Lanes, AnnotationsOfAStreamAreNoBusyTimeAndShareNoRowWithWork) {
  const auto t = load_events(kAnnotated);
  const Lanes lanes = build_lanes(*t.model);
  const Lane& lane = lanes.lanes.at(0);
  EXPECT_TRUE(lane.is_stream());
  EXPECT_EQ(lane.busy_ns, 10 + 10 + 10 + 30);
  EXPECT_EQ(lane.upper_rows, 2U);
  EXPECT_EQ(depths_of(t, lanes, 7), (std::vector<std::size_t>{2, 2, 2, 2, 0, 1, 0}));
  // `step` holds a and `forward`, which cover 5 to 50 together, and c; d ends behind it. `forward` holds b.
  EXPECT_EQ(lane.rows[0].self_ns, (std::vector<std::int64_t>{100 - 45 - 10, 500}));
  EXPECT_EQ(lane.rows[1].self_ns, (std::vector<std::int64_t>{30}));
  check_rows(lanes);
}

TEST(Lanes, AStreamOfAnnotationsAloneIsNeverBusy) {
  const auto t = load_events(R"({"ph":"X","cat":"gpu_user_annotation","name":"a","pid":0,"tid":7,"ts":1,"dur":5},
    {"ph":"X","cat":"gpu_user_annotation","name":"b","pid":0,"tid":7,"ts":2,"dur":2},
    {"ph":"X","cat":"user_annotation","name":"host","pid":9,"tid":9,"ts":1,"dur":5})");
  const Lanes lanes = build_lanes(*t.model);
  ASSERT_EQ(lanes.lanes.size(), 2U);
  EXPECT_EQ(lanes.lanes[0].busy_ns, 0);
  EXPECT_EQ(lanes.lanes[0].rows.size(), 2U);
  EXPECT_EQ(lanes.lanes[1].busy_ns, 5'000);
}

// So many overlapping annotations that no row is left for work: then rows are shared, and nothing is lost.
TEST(Lanes, APileOfAnnotationsLosesNothing) {
  std::string events = R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":5,"dur":1,"args":{"device":0,"stream":7}})";
  for (int i = 0; i < 1500; ++i)
    events += fmt::format(R"(,{{"ph":"X","cat":"gpu_user_annotation","name":"a","pid":0,"tid":7,"ts":{},"dur":5000}})", i);
  const auto t = load_events(events);
  const Lanes lanes = build_lanes(*t.model);
  EXPECT_EQ(lanes.lanes[0].rows.size(), kMostRows);
  EXPECT_EQ(lanes.lanes[0].busy_ns, 1000);
  check_rows(lanes);
}

TEST(Lanes, EveryOtherThreadIdHasItsOwnTrack) {
  const auto t = load_events(R"({"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":-1029147072,"ts":0,"dur":5},
    {"ph":"X","cat":"cpu_op","name":"b","pid":1,"tid":1,"ts":0,"dur":5},
    {"ph":"X","cat":"cpu_op","name":"c","pid":1,"tid":"1","ts":0,"dur":5},
    {"ph":"X","cat":"Trace","name":"d","pid":"Spans","tid":"PyTorch Profiler","ts":0,"dur":5},
    {"ph":"X","cat":"cpu_op","name":"e","pid":1,"tid":139876543210000,"ts":0,"dur":5},
    {"ph":"B","cat":"cpu_op","name":"never ends","pid":1,"tid":9,"ts":1})");
  const Lanes lanes = build_lanes(*t.model);
  EXPECT_EQ(lanes.lanes.size(), 6U);
  for (const Lane& lane : lanes.lanes) EXPECT_EQ(lane.slices, 1U);
}

TEST(Lanes, RealTracesLoseNothing) {
  auto paths = test::own_traces();
  for (const std::string& path : paths) {
    const LoadedTrace t = test::load_file(path);
    const Lanes lanes = build_lanes(*t.model);
    std::uint64_t drawn = 0, expected = 0;
    for (const Lane& lane : lanes.lanes) drawn += lane.slices;
    for (std::uint32_t i = 0; i < t.trace->events.size(); ++i) expected += t.trace->kind(EventId{i}).phase == 'X' ? 1U : 0U;
    EXPECT_EQ(drawn, expected) << path;
    check_rows(lanes);
    for (const Lane& lane : lanes.lanes) {
      if (!lane.is_stream()) continue;
      std::vector<Interval> work;
      for (std::size_t r = 0; r < lane.rows.size(); ++r) {
        for (std::size_t i = 0; i < lane.rows[r].size(); ++i) {
          const bool is_work = t.trace->kind(lane.rows[r].event[i]).event_class == EventClass::device_work;
          ASSERT_EQ(is_work, r >= lane.upper_rows) << path;
          if (is_work) work.push_back({lane.rows[r].start_ns[i], lane.rows[r].end_ns[i]});
        }
      }
      EXPECT_EQ(lane.busy_ns, IntervalSet(std::move(work)).length()) << path;
    }
  }
}

}  // namespace
}  // namespace ridge
