// What is kept until it is let go, and what the model and a scope keep so.
#include "model/retained.h"

#include <gtest/gtest.h>

#include "base/grow_array.h"
#include "base/let_go.h"
#include "facts/scope.h"
#include "support/files.h"
#include "support/loaded_trace.h"

namespace ridge::test {
namespace {

TEST(Retained, StaysUntilItIsLetGo) {
  Retained<int> value;
  int made = 0;
  const auto ask = [&] { return value.get([&] { return ++made; }); };
  EXPECT_EQ(value.if_held(), nullptr);
  EXPECT_EQ(*ask(), 1);
  EXPECT_EQ(*ask(), 1) << "nobody holds it, and it stays";
  auto held = ask();
  value.let_go();
  EXPECT_EQ(*ask(), 1) << "somebody holds it";
  EXPECT_NE(value.if_held(), nullptr);
  held.reset();
  EXPECT_EQ(value.if_held(), nullptr);
  EXPECT_EQ(*ask(), 2);
  EXPECT_EQ(*ask(), 3) << "let go, it lives as long as it is held";
}

TEST(Retained, WhatCouldNotBeMadeIsMadeByTheNext) {
  Retained<int> value;
  EXPECT_THROW(value.get([]() -> int { throw 1; }), int);
  EXPECT_EQ(*value.get([] { return 7; }), 7);
}

TEST(LetGo, TheRoomGoesToo) {
  std::vector<int> values(1'000);
  let_go(values);
  EXPECT_EQ(values.capacity(), 0U);
}

TEST(GrowArray, FitsItsValues) {
  GrowArray<int> values;
  values.fit();
  for (int i = 0; i < 1'000; ++i) values.push_back(i);
  values.reserve_more(5'000);
  values.fit();
  EXPECT_EQ(values.room(), 0U);
  ASSERT_EQ(values.size(), 1'000U);
  for (int i = 0; i < 1'000; ++i) EXPECT_EQ(values[static_cast<std::size_t>(i)], i);
  values.push_back(7);
  EXPECT_EQ(values.back(), 7);
}

TEST(Model, NodesByEventGoWhenTheTablesMadeFromThemAreThere) {
  const LoadedTrace t = load_file(source_dir() + "/tests/fixtures/clean_cast_loop_train.json.gz");
  const Model& model = *t.model;
  const std::weak_ptr<const NodeOfEvent> nodes = model.node_of();
  model.links();
  model.iterations();
  const std::uint64_t with = model.memory_bytes();
  EXPECT_FALSE(nodes.expired());
  model.forward_backward();
  EXPECT_TRUE(nodes.expired());
  EXPECT_LT(model.memory_bytes(), with);
  // Asked for later it is the same.
  const auto again = model.node_of();
  const CallTree& tree = model.tree();
  for (std::uint32_t n = 0; n < tree.size(); ++n) ASSERT_EQ((*again)[tree.event[n]], NodeId{n});
}

TEST(Model, OneNodeIsFoundAsAllAre) {
  for (const std::string& path : own_traces()) {
    SCOPED_TRACE(path);
    const LoadedTrace t = load_file(path);
    const auto nodes = t.model->node_of();
    for (std::uint32_t e = 0; e < t.trace->events.size(); ++e)
      ASSERT_EQ(find_node(*t.trace, t.model->tree(), EventId{e}), (*nodes)[EventId{e}]) << e;
  }
}

TEST(Scope, IdleTimeIsLetGo) {
  const LoadedTrace t = load_events(join({launch(1, 0, 5, "a", 10, 10), launch(2, 30, 5, "b", 40, 10)}));
  const Scope scope(*t.model);
  const Scope same = scope.unfiltered();
  const std::weak_ptr<const std::vector<DeviceIdle>> idle = scope.idle();
  EXPECT_EQ(same.idle(), idle.lock()) << "shared by copies";
  same.let_go_of_idle();
  EXPECT_TRUE(idle.expired());
  const auto again = scope.idle();
  EXPECT_EQ(again->at(0).gaps.size(), 2U) << "before the first work, and between the two";
}

}  // namespace
}  // namespace ridge::test
