// The call tree against a quadratic version on random slices, and its invariants on real traces.
#include "model/call_tree.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "ingest/reader.h"
#include "support/files.h"

namespace ridge {
namespace {

struct Slice {
  std::int64_t start, end;
};

std::string trace_of(const std::vector<Slice>& slices) {
  std::string json = "[";
  for (std::size_t i = 0; i < slices.size(); ++i) {
    json += fmt::format(R"({}{{"ph":"X","cat":"cpu_op","name":"op{}","pid":1,"tid":1,"ts":{},"dur":{}}})", i == 0 ? "" : ",", i,
                        slices[i].start, slices[i].end - slices[i].start);
  }
  return json + "]";
}

bool holds(const Slice& outer, const Slice& inner) { return outer.start <= inner.start && inner.end <= outer.end; }

// The innermost slice that holds `i`: of all that come before it in tree order and hold it, the one that starts last.
std::ptrdiff_t parent_of(const std::vector<Slice>& sorted, std::size_t i) {
  std::ptrdiff_t parent = -1;
  for (std::size_t j = 0; j < i; ++j) {
    if (holds(sorted[j], sorted[i])) parent = static_cast<std::ptrdiff_t>(j);
  }
  return parent;
}

// Profilers that write whole microseconds: a caller and what it calls share their times, and events come in any order.
TEST(CallTree, NumbersOfCallsTellTheParentWhereTimesAreEqual) {
  const auto op = [](std::string_view name, std::string_view args) {
    return fmt::format(R"({{"ph":"X","cat":"cpu_op","name":"{}","pid":1,"tid":1,"ts":5,"dur":2,"args":{{{}}}}})", name, args);
  };
  const auto innermost = [](const std::string& first, const std::string& second) {
    const auto trace = read_trace_bytes("[" + first + "," + second + "]", "ties", {});
    const CallTree tree = build_call_tree(**trace);
    EXPECT_EQ(tree.parent[1], NodeId{0U});
    return std::string((*trace)->text((*trace)->events.name(tree.event[1])));
  };
  for (const std::string_view key : {"External id", "Ev Idx", "Record function id"}) {
    const std::string outer = op("matmul", fmt::format(R"("{}":41)", key)), inner = op("mm", fmt::format(R"("{}":42)", key));
    EXPECT_EQ(innermost(outer, inner), "mm") << key;
    EXPECT_EQ(innermost(inner, outer), "mm") << key;
  }
  EXPECT_EQ(innermost(op("first", ""), op("second", R"("External id":1)")),
            "second");  // only one has a number: the file's order
}

TEST(CallTree, EqualsTheQuadraticOneOnNestedSlices) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    // Nested by construction: each slice splits a gap of one that is there.
    std::vector<Slice> slices{{0, 1000}};
    for (int k = 0; k < 30; ++k) {
      const Slice outer = slices[random() % slices.size()];
      if (outer.end - outer.start < 4) continue;
      const auto length = static_cast<unsigned>(outer.end - outer.start);
      Slice inner{outer.start + 1 + static_cast<std::int64_t>(random() % (length / 2)), 0};
      inner.end = inner.start + 1 + static_cast<std::int64_t>(random() % static_cast<unsigned>(outer.end - inner.start));
      inner.end = std::min(inner.end, outer.end);
      const bool nests = std::all_of(slices.begin(), slices.end(), [&](const Slice& s) {
        return holds(s, inner) || holds(inner, s) || s.end <= inner.start || inner.end <= s.start;
      });
      if (nests) slices.push_back(inner);
    }
    std::shuffle(slices.begin(), slices.end(), random);
    const auto trace = read_trace_bytes(trace_of(slices), "random", {});
    ASSERT_TRUE(trace);
    const CallTree tree = build_call_tree(**trace);
    ASSERT_EQ(tree.size(), slices.size());
    EXPECT_EQ(tree.overlaps, 0);
    std::vector<Slice> sorted;
    for (std::size_t n = 0; n < tree.size(); ++n) sorted.push_back({tree.start_ns[n], tree.end_ns[n]});
    for (std::size_t n = 0; n < tree.size(); ++n) {
      const std::ptrdiff_t expected = parent_of(sorted, n);
      const std::ptrdiff_t got = tree.parent[n] == kNoNode ? -1 : static_cast<std::ptrdiff_t>(tree.parent[n].value);
      EXPECT_EQ(got, expected) << "round " << round << " node " << n;
    }
  }
}

TEST(CallTree, KeepsAndCountsSlicesThatOverlap) {
  const auto trace = read_trace_bytes(trace_of({{0, 100}, {10, 50}, {40, 70}, {45, 60}, {80, 90}}), "overlap", {});
  ASSERT_TRUE(trace);
  const CallTree tree = build_call_tree(**trace);
  ASSERT_EQ(tree.size(), 5U);
  EXPECT_EQ(tree.overlaps, 1);
  EXPECT_EQ(tree.parent[1], NodeId{0U});
  EXPECT_EQ(tree.parent[2], NodeId{0U});  // overlaps [10, 50): hangs beside it
  EXPECT_EQ(tree.parent[3], NodeId{2U});  // the innermost that holds it
  EXPECT_EQ(tree.parent[4], NodeId{0U});
}

// Frames whose return was not recorded reach to the end of the trace; the ops around them are none the shorter for it.
TEST(CallTree, AFrameThatWasNeverClosedEndsWithWhatIsAroundIt) {
  const auto slice = [](const char* cat, const char* name, int start, int end) {
    return fmt::format(R"({{"ph":"X","cat":"{}","name":"{}","pid":1,"tid":1,"ts":{},"dur":{}}})", cat, name, start,
                       end - start);
  };
  const auto trace =
      read_trace_bytes("[" + slice("cpu_op", "outer", 0, 100) + "," + slice("python_function", "<built-in __exit__>", 10, 500) +
                           "," + slice("cpu_op", "inner", 20, 30) + "," + slice("cpu_op", "after", 120, 130) + "]",
                       "never closed", {});
  ASSERT_TRUE(trace);
  const CallTree tree = build_call_tree(**trace);
  ASSERT_EQ(tree.size(), 4U);
  EXPECT_EQ(tree.overlaps, 1);
  EXPECT_EQ(tree.parent[1], NodeId{0U});
  EXPECT_EQ(tree.end_ns[1], 100'000);
  EXPECT_EQ(tree.parent[2], NodeId{1U});
  EXPECT_EQ(tree.op_above(NodeId{2U}), NodeId{0U});
  EXPECT_EQ(tree.parent[3], kNoNode);
}

TEST(CallTree, RungsLeadUpADeepStackToTheSameNode) {
  constexpr int kDepth = 9'000;  // more than two long rungs
  std::vector<Slice> slices;
  for (int i = 0; i < kDepth; ++i) slices.push_back({i, 4 * kDepth - i});
  const auto trace = read_trace_bytes(trace_of(slices), "deep", {});
  ASSERT_TRUE(trace);
  const CallTree tree = build_call_tree(**trace);
  ASSERT_FALSE(tree.rungs.empty());
  for (int us = 0; us < 4 * kDepth + 10; us += 37) {
    const int open = us < kDepth ? us + 1 : std::min(kDepth, 4 * kDepth - us);  // how many still hold the time
    const NodeId expected = open <= 0 ? kNoNode : NodeId{static_cast<std::uint32_t>(open - 1)};
    ASSERT_EQ(tree.innermost_at(tree.threads.at(0), std::int64_t{us} * 1000), expected) << us;
  }
}

TEST(CallTree, FindsTheInnermostNodeAtATime) {
  const auto trace = read_trace_bytes(trace_of({{0, 100}, {10, 50}, {20, 30}}), "nested", {});
  ASSERT_TRUE(trace);
  const CallTree tree = build_call_tree(**trace);
  const HostThread& thread = tree.threads.at(0);
  const auto at = [&](std::int64_t us) { return tree.innermost_at(thread, us * 1000); };
  EXPECT_EQ(at(25), NodeId{2U});
  EXPECT_EQ(at(40), NodeId{1U});
  EXPECT_EQ(at(60), NodeId{0U});
  EXPECT_EQ(at(100), kNoNode);
  EXPECT_EQ(tree.innermost_at(thread, -1), kNoNode);
}

TEST(CallTree, ParentsStandBeforeAndAroundTheirChildren) {
  for (const std::string& path : test::own_traces()) {
    const auto trace = read_trace(path, {});
    ASSERT_TRUE(trace) << path;
    const CallTree tree = build_call_tree(**trace);
    std::size_t slices = 0;
    for (const EventClass c : {EventClass::python_frame, EventClass::annotation, EventClass::op, EventClass::launch})
      slices += (*trace)->of(c).size();
    EXPECT_EQ(tree.size(), slices) << path;
    for (std::uint32_t n = 0; n < tree.size(); ++n) {
      const NodeId parent = tree.parent[n];
      if (parent == kNoNode) continue;
      ASSERT_LT(parent.value, n) << path;
      ASSERT_LE(tree.start_ns[parent.value], tree.start_ns[n]) << path;
      ASSERT_GE(tree.end_ns[parent.value], tree.end_ns[n]) << path;
    }
  }
}

}  // namespace
}  // namespace ridge
