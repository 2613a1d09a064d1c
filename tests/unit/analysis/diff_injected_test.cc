// diff of a trace against copies of itself with one known change: exactly that is found, at many places, with and without
// shapes and stacks.
#include <gtest/gtest.h>

#include "support/diffed.h"
#include "support/edited_trace.h"
#include "support/files.h"
#include "support/sanitized.h"

namespace ridge {
namespace {

using diff::Group;
using test::Diffed;
using test::EditedTrace;

constexpr std::size_t kPlaces = test::kSanitized ? 2 : 9;  // per trace and change, spread over an iteration

// What a recording may leave out.
constexpr struct {
  const char* name;
  bool shapes, stacks;
} kRecorded[] = {
    {"as recorded", true, true}, {"shapes only", true, false}, {"stacks only", false, true}, {"neither", false, false}};

struct Subject {
  std::string what, text;
};

// Traces with ops of every mode, as they are and with less: without shapes, without stacks, without both.
std::vector<Subject> subjects() {
  std::vector<Subject> all;
  for (const char* name :
       {"resnet18_eager_shapes", "gpt_compiled_train", "clean_no_sync", "mlp_profiler_steps", "graph_breaks_stack"}) {
    const std::string whole = test::fixture(name);
    const bool has_stacks = test::without_stacks(whole) != whole;
    for (const auto& [recorded, shapes, stacks] : kRecorded) {
      if (stacks && !has_stacks && !shapes) continue;  // the same as neither
      if (!stacks && !has_stacks && shapes) continue;  // the same as recorded
      std::string text = shapes ? whole : test::without_shapes(whole);
      all.push_back({std::string(name) + ", " + recorded, stacks ? std::move(text) : test::without_stacks(std::move(text))});
    }
  }
  return all;
}

template <class Check>
void at_many_places(Check check) {
  for (const Subject& made : subjects()) {
    SCOPED_TRACE(made.what);
    const EditedTrace subject(made.text);
    ASSERT_GT(subject.calls(), 0U);
    const std::size_t step = std::max<std::size_t>(1, subject.calls() / kPlaces);
    for (std::size_t call = step / 2; call < subject.calls(); call += step) check(subject, call);
  }
}

std::int64_t mean_time(const EditedTrace& subject, std::size_t call) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < subject.iterations(); ++i) sum += subject.time_ns(call, i);
  return sum / static_cast<std::int64_t>(subject.iterations());
}

TEST(DiffInjected, ACallRemovedIsOneRemoval) {
  at_many_places([](const EditedTrace& subject, std::size_t call) {
    const Diffed diffed = test::diff_texts(subject.text(), subject.without_call(call));
    const std::string what = subject.op_of(call) + " " + std::to_string(call);
    int removed = 0;
    for (const Group& group : diffed.answer.groups) {
      if (group.changes[1].delta_ns == 0) continue;
      ++removed;
      // One of equal neighbours cannot be told from the others: they are matched as one.
      if (group.equal_calls == 1) {
        EXPECT_FALSE(group.match.has_value()) << what;
      }
      EXPECT_EQ(group.sides[0].positions.size(), group.sides[1].positions.size() + 1) << what << " " << group.name;
      EXPECT_EQ(group.name.substr(0, subject.op_of(call).size()), subject.op_of(call)) << what;
      EXPECT_NEAR(static_cast<double>(-group.changes[1].delta_ns), static_cast<double>(mean_time(subject, call)),
                  0.2 * static_cast<double>(mean_time(subject, call)) + 2)
          << what;
    }
    EXPECT_EQ(removed, 1) << what;
    expect_closed(diffed, what);
  });
}

TEST(DiffInjected, ACallRemovedInOneIterationIsOneChange) {
  at_many_places([](const EditedTrace& subject, std::size_t call) {
    if (subject.iterations() < 2) return;
    const Diffed diffed = test::diff_texts(subject.text(), subject.without_call(call, 1));
    const std::string what = subject.op_of(call) + " " + std::to_string(call);
    EXPECT_EQ(diffed.answer.sides[1].iterations, static_cast<std::int64_t>(subject.iterations())) << what;
    const auto changed = diffed.groups_where([](const Group& g) { return g.changes[1].delta_ns != 0; });
    ASSERT_EQ(changed.size(), 1U) << what;
    EXPECT_EQ(changed[0]->name.substr(0, subject.op_of(call).size()), subject.op_of(call)) << what;
  });
}

TEST(DiffInjected, ASlowerCallIsOneChange) {
  at_many_places([](const EditedTrace& subject, std::size_t call) {
    const Diffed diffed = test::diff_texts(subject.text(), subject.with_slower_call(call, 1.2));
    const std::string what = subject.op_of(call) + " " + std::to_string(call);
    const auto changed = diffed.groups_where([](const Group& g) { return g.changes[1].delta_ns != 0; });
    ASSERT_EQ(changed.size(), 1U) << what;
    EXPECT_EQ(changed[0]->name.substr(0, subject.op_of(call).size()), subject.op_of(call)) << what;
    EXPECT_EQ(changed[0]->match, diff::Match::kernel) << what;
    EXPECT_NEAR(changed[0]->changes[1].delta_pct.value(), 20, 0.5) << what;
    // Of a mean of 20 us, a fifth is beyond doubt; of 4 us it is not more than the absolute part.
    if (mean_time(subject, call) > 20'000) {
      EXPECT_TRUE(changed[0]->changes[1].significant) << what;
    } else if (mean_time(subject, call) < 4'500) {
      EXPECT_FALSE(changed[0]->changes[1].significant) << what;
    }
    expect_closed(diffed, what);
  });
}

TEST(DiffInjected, ARenamedOpIsMatchedAndNamed) {
  at_many_places([](const EditedTrace& subject, std::size_t call) {
    if (!subject.op_of(call).starts_with("aten::")) return;  // the name of a generated op is its kernel's
    const Diffed diffed = test::diff_texts(subject.text(), subject.with_renamed_call(call, "aten::renamed_op"));
    const std::string what = subject.op_of(call) + " " + std::to_string(call);
    int renamed = 0;
    for (const Group& group : diffed.answer.groups) {
      EXPECT_EQ(group.changes[1].delta_ns, 0) << what << " " << group.name;
      EXPECT_EQ(group.match, diff::Match::kernel) << what << " " << group.name;
      renamed += group.name == subject.op_of(call) + " -> aten::renamed_op";
    }
    EXPECT_EQ(renamed, 1) << what;
  });
}

}  // namespace
}  // namespace ridge
