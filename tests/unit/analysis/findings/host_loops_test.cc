// Loops of a host thread as they are found: which ops are a round, how many rounds there are, and where none is one.
#include "analysis/findings/host_loops.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "unit/analysis/findings/found.h"

namespace ridge {
namespace {

// One op of the host; `inner` is called by it.
struct HostOp {
  std::string name, dims = "", inner = "";
};
using HostOps = std::vector<HostOp>;

HostOps times(int rounds, const HostOps& round) {
  HostOps all;
  for (int i = 0; i < rounds; ++i) all.insert(all.end(), round.begin(), round.end());
  return all;
}
HostOps operator+(HostOps a, const HostOps& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// Steps of ops of 20 us, one behind the other, each with a kernel; `marked` tells where a step begins and ends.
std::string steps_of(const std::vector<HostOps>& steps, bool marked = true) {
  std::string events;
  int at = 0, id = 0;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const int from = at;
    for (const HostOp& op : steps[s]) {
      const std::string dims = op.dims.empty() ? "" : fmt::format(R"("Input Dims": {}, "Input type": ["float"])", op.dims);
      events += test::event({.name = op.name, .ts = at + 1, .dur = 18, .args = dims}) + ", ";
      if (!op.inner.empty()) events += test::event({.name = op.inner, .ts = at + 3, .dur = 14}) + ", ";
      ++id;
      events += test::launch(id, at + 5, 5, fmt::format("kernel_{}", id), at + 12, 3) + ", ";
      at += 20;
    }
    if (marked)
      events +=
          test::event({.name = fmt::format("ProfilerStep#{}", s), .ts = from, .dur = at - from - 1, .cat = "user_annotation"}) +
          ", ";
  }
  return events + test::event({.name = "aten::empty", .ts = at + 10, .dur = 1});
}

struct LoopFound {
  std::uint32_t period, rounds;
  bool gathered;
  std::size_t ops_of_round;
  std::int64_t from_us, us;
};

std::vector<LoopFound> loops_in(const std::string& events, const std::string& step = "") {
  const test::LoadedTrace loaded = test::load_events(events);
  const auto scope = make_scope(*loaded.model, step.empty() ? Arguments{} : Arguments{{"step", step}});
  EXPECT_TRUE(scope);
  Ledger ledger(*scope);
  Facts facts(*scope, ledger, {});
  std::vector<LoopFound> out;
  const std::int64_t zero = loaded.model->tree().start_ns[0] / test::kUs;
  for (const HostLoop& loop : find_host_loops(facts))
    out.push_back({loop.period, loop.rounds, loop.gathered, loop.round.size(), loop.time.start_ns / test::kUs - zero,
                   (loop.time.end_ns - loop.time.start_ns) / test::kUs});
  return out;
}

const HostOps kOthers = {{"aten::a"}, {"aten::b"}, {"aten::c"}, {"aten::d"}};

// A linear layer calls a product: the round is what the program calls.
TEST(HostLoops, AreOfOutermostOps) {
  const HostOps loop = times(40, {{.name = "aten::linear", .inner = "aten::addmm"}, {"aten::relu"}});
  const std::vector<LoopFound> found = loops_in(steps_of({kOthers + loop + kOthers, kOthers + loop + kOthers}));
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].period, 2U);
  EXPECT_EQ(found[0].rounds, 40U);
  EXPECT_EQ(found[0].ops_of_round, 2U);
  EXPECT_EQ(found[0].us, 40 * 2 * 20 - 2) << "to the end of the last op";
  EXPECT_EQ(found[1].from_us - found[0].from_us, (8 + 80) * 20);
}

// A dozen are the layers of a model.
TEST(HostLoops, AreLong) {
  const auto repeated = [](int rounds) {
    return loops_in(steps_of(std::vector(2, kOthers + times(rounds, {{"aten::exp"}, {"aten::mul"}}) + kOthers)));
  };
  EXPECT_TRUE(repeated(12).empty());
  EXPECT_EQ(repeated(40).size(), 2U);
}

TEST(HostLoops, OfFewRoundsAreGathered) {
  const auto gathered = [](int rounds, const std::string& behind) {
    return loops_in(
        steps_of(std::vector(2, kOthers + times(rounds, {{"aten::exp"}, {"aten::mul"}}) + HostOps{{behind}} + kOthers)));
  };
  for (const char* gather : {"aten::stack", "aten::cat", "aten::vstack"}) {
    const std::vector<LoopFound> found = gathered(6, gather);
    ASSERT_EQ(found.size(), 2U) << gather;
    EXPECT_TRUE(found[0].gathered);
    EXPECT_EQ(found[0].rounds, 6U);
  }
  EXPECT_TRUE(gathered(6, "aten::sum").empty());
  EXPECT_TRUE(gathered(2, "aten::stack").empty()) << "two halves are no loop";
}

// What the rounds take tells them apart: lists of other lengths as well as other sizes.
TEST(HostLoops, ThatAreGatheredTakeAlike) {
  const auto rounds = [](const std::string& last) {
    HostOps loop;
    for (int i = 0; i < 6; ++i) loop.push_back({"aten::block", i < 5 ? "[[[8, 64], [8, 64]]]" : last});
    return loops_in(steps_of(std::vector(2, kOthers + loop + HostOps{{"aten::stack"}} + kOthers))).size();
  };
  EXPECT_EQ(rounds("[[[8, 64], [8, 64]]]"), 2U);
  EXPECT_EQ(rounds("[[[8, 64], [8, 64], [8, 64]]]"), 0U);
}

// What one step ends with and the next begins with is no loop.
TEST(HostLoops, LieWithinAStep) {
  const HostOps part = times(12, {{"aten::exp"}, {"aten::mul"}});
  EXPECT_TRUE(loops_in(steps_of({kOthers + part, part + kOthers})).empty());
  EXPECT_EQ(loops_in(steps_of({kOthers + part + part, kOthers})).size(), 1U);
}

TEST(HostLoops, AreNotSoughtWhereStepsAreAGuess) {
  const HostOps loop = kOthers + times(40, {{"aten::exp"}, {"aten::mul"}});
  EXPECT_EQ(loops_in(steps_of({loop, loop})).size(), 2U);
  EXPECT_TRUE(loops_in(steps_of({loop, loop}, false)).empty());
}

TEST(HostLoops, AreOfTheChosenStep) {
  const HostOps loop = kOthers + times(40, {{"aten::exp"}, {"aten::mul"}});
  EXPECT_EQ(loops_in(steps_of({loop, loop, loop}), "1").size(), 1U);
}

}  // namespace
}  // namespace ridge
