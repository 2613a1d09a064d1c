// A graph's nodes against a sequence of launches: a record that is missing, added, damaged or moved costs its own node alone,
// and what cannot be told is not guessed.
#include "model/graph_alignment.h"

#include <gtest/gtest.h>

#include "base/hash.h"

namespace ridge {
namespace {

constexpr std::uint32_t kNowhere = GraphAlignment::kNowhere;

LaunchSign named(std::string_view name, std::uint64_t grid = 0) { return {hash_text(name) | 1U, grid, NodeKind::kernel}; }
LaunchItem item(LaunchSign sign, std::uint64_t call = 1) { return {sign, NodeId{0U}, NodeId{0U}, call}; }

// A model of layers, each of `names`; every layer's op has a call of its own if `distinct`.
std::vector<LaunchSign> layers(std::size_t count, const std::vector<std::string>& names) {
  std::vector<LaunchSign> out{named("embedding")};
  for (std::size_t i = 0; i < count; ++i) {
    for (const std::string& name : names) out.push_back(named(name));
  }
  out.push_back(named("head"));
  return out;
}
std::vector<LaunchItem> items_of(const std::vector<LaunchSign>& signs, bool distinct = true) {
  std::vector<LaunchItem> out;
  for (const LaunchSign& sign : signs) out.push_back(item(sign, distinct ? out.size() + 1 : sign.name));
  return out;
}

const std::vector<std::string> kLayer = {"norm", "qkv", "rope", "attention", "out", "norm", "up", "silu", "down"};

// How many nodes are where they belong: `origin` says which item each node was made from.
std::size_t right(const GraphAlignment& found, const std::vector<std::uint32_t>& origin) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < origin.size(); ++i) {
    if (found.place[i] == kNowhere) continue;
    EXPECT_EQ(found.place[i], origin[i]) << "node " << i;
    count += found.place[i] == origin[i];
  }
  return count;
}

TEST(GraphAlignment, EqualSequencesPairOneByOne) {
  const std::vector<LaunchSign> nodes = layers(48, kLayer);
  for (const bool ran : {false, true}) {
    const GraphAlignment found = align_graph(nodes, items_of(nodes), ran);
    EXPECT_TRUE(found.whole());
    EXPECT_EQ(found.named, nodes.size());
    EXPECT_EQ(found.skipped, 0U);
    EXPECT_TRUE(is_exact(nodes, items_of(nodes), ran));
  }
}

TEST(GraphAlignment, AMissingRecordCostsNothingElse) {
  const std::vector<LaunchSign> all = layers(48, kLayer);
  for (const std::size_t gone : {std::size_t{0}, std::size_t{7}, all.size() / 2, all.size() - 1}) {
    std::vector<LaunchSign> nodes;
    std::vector<std::uint32_t> origin;
    for (std::uint32_t i = 0; i < all.size(); ++i) {
      if (i == gone) continue;
      nodes.push_back(all[i]);
      origin.push_back(i);
    }
    EXPECT_EQ(right(align_graph(nodes, items_of(all), false), origin), nodes.size()) << gone;  // missing in the replay
    const GraphAlignment other = align_graph(all, items_of(nodes), true);                      // and in the capture
    EXPECT_EQ(other.matched, nodes.size()) << gone;
    EXPECT_EQ(other.place[gone], kNowhere);
  }
}

TEST(GraphAlignment, DamagedAndAddedRecordsCostThemselves) {
  const std::vector<LaunchSign> all = layers(24, kLayer);
  std::vector<LaunchSign> nodes = all;
  nodes[20] = named("mangl?d");
  nodes.insert(nodes.begin() + 100, named("of another stream"));
  const GraphAlignment found = align_graph(nodes, items_of(all), false);
  EXPECT_EQ(found.matched, all.size() - 1);
  EXPECT_EQ(found.place[20], kNowhere);
  EXPECT_EQ(found.place[100], kNowhere);
  EXPECT_EQ(found.place[101], 100U);
}

TEST(GraphAlignment, NeighboursThatChangedPlaces) {
  const std::vector<LaunchSign> all = layers(8, kLayer);
  std::vector<LaunchSign> nodes = all;
  std::swap(nodes[30], nodes[31]);
  const GraphAlignment found = align_graph(nodes, items_of(all), true);
  EXPECT_TRUE(found.whole());
  EXPECT_EQ(found.place[30], 31U);
  EXPECT_EQ(found.place[31], 30U);
}

// Which of three equal kernels is missing cannot be told: their ops are kept only where they are one call.
TEST(GraphAlignment, AMissingRecordAmongEquals) {
  const std::vector<LaunchSign> all = {named("a"), named("x"), named("x"), named("x"), named("b")};
  const std::vector<LaunchSign> nodes = {named("a"), named("x"), named("x"), named("b")};
  const GraphAlignment distinct = align_graph(nodes, items_of(all), false);
  EXPECT_EQ(distinct.place, (std::vector<std::uint32_t>{0, kNowhere, kNowhere, 4}));
  const GraphAlignment same = align_graph(nodes, items_of(all, false), false);
  EXPECT_TRUE(same.whole());
}

TEST(GraphAlignment, KernelsThatRanOnAnotherGridAreOthers) {
  const std::vector<LaunchSign> nodes = {named("a", 8), named("b", 8), named("c", 8)};
  const std::vector<LaunchItem> other = items_of({named("a", 8), named("b", 16), named("c", 8)});
  EXPECT_EQ(align_graph(nodes, other, true).place[1], kNowhere);
  EXPECT_EQ(align_graph(nodes, other, true).matched, 2U);
  EXPECT_TRUE(align_graph(nodes, other, false).whole()) << "a launch call may count its grid in threads";
  const std::vector<LaunchItem> untold = items_of({named("a", 8), named("b"), named("c", 8)});
  EXPECT_TRUE(align_graph(nodes, untold, true).whole());
}

// CUDA's captures: launches without names, between products and copies.
TEST(GraphAlignment, LaunchesWithoutNamesPairBetweenAnchors) {
  const LaunchSign plain{0, 0, NodeKind::kernel}, product{0, 0, NodeKind::matrix}, set{0, 0, NodeKind::set};
  const LaunchSign gemm{hash_text("gemm") | 1U, 0, NodeKind::matrix}, fill{hash_text("Memset") | 1U, 0, NodeKind::set};
  const std::vector<LaunchItem> items = items_of({set, plain, product, plain, plain, product, plain, product});
  const std::vector<LaunchSign> nodes = {fill, named("a"), gemm, named("b"), named("c"), gemm, named("d"), gemm};
  const GraphAlignment whole = align_graph(nodes, items, false);
  EXPECT_TRUE(whole.whole());
  EXPECT_EQ(whole.named, 0U);
  EXPECT_EQ(whole.alike, 4U);
  // One of two plain kernels is missing: neither can be told, all others can.
  std::vector<LaunchSign> short_one = nodes;
  short_one.erase(short_one.begin() + 3);
  const GraphAlignment found = align_graph(short_one, items, false);
  EXPECT_EQ(found.place, (std::vector<std::uint32_t>{0, 1, 2, kNowhere, 5, 6, 7}));
}

TEST(GraphAlignment, LongSequencesOfEqualNamesEnd) {
  constexpr std::size_t kMany = 50'000;
  std::vector<LaunchSign> nodes(kMany, named("x")), others(kMany, named("x"));
  for (std::size_t i = 0; i < kMany; i += 97) nodes[i] = named("a" + std::to_string(i));
  for (std::size_t i = 0; i < kMany; i += 89) others[i] = named("b" + std::to_string(i));
  const GraphAlignment found = align_graph(nodes, items_of(others, false), true);
  EXPECT_EQ(found.place.size(), kMany);
  EXPECT_LE(found.matched, most_matches(nodes, items_of(others)));
}

}  // namespace
}  // namespace ridge
