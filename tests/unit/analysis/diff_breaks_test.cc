// Graph breaks of two traces: which are the same ones when lines have moved, frames are numbered otherwise or stacks are missing.
#include <gtest/gtest.h>

#include "analysis/diff/break_changes.h"
#include "support/diffed.h"
#include "support/files.h"

namespace ridge {
namespace {

using diff::BreakChange;
using test::Diffed;

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

// As if one more function had been compiled before.
std::string with_later_frames(std::string text) {
  for (int frame = 3; frame >= 0; --frame) {
    text = replaced(std::move(text), "Region: " + std::to_string(frame) + "/", "Region: " + std::to_string(frame + 1) + "/");
  }
  return text;
}

// As if ten lines had been put above the break.
std::string with_later_lines(const std::string& text) {
  return replaced(replaced(text, "gen_traces.py(95)", "gen_traces.py(105)"), "_at_95", "_at_105");
}

// "new x1 place, ..." by trace b.
std::string changes(const Diffed& diffed) {
  std::string all;
  for (const BreakChange& change : diffed.answer.breaks) {
    const bool before = change.occurrences[0] > 0, after = change.occurrences[1] > 0;
    all += (all.empty() ? "" : ", ") +
           std::string(before && after ? "both"
                       : after         ? "new"
                                       : "gone") +
           " x" + std::to_string(change.breaks) + " " + change.location;
  }
  return all;
}

TEST(DiffBreaks, MovedLinesAreNoNewBreaks) {
  const std::string text = test::fixture("graph_breaks_stack");
  EXPECT_EQ(changes(test::diff_texts(text, with_later_lines(text))),
            "both x3 gen_traces.py:95 (forward) -> gen_traces.py:105 (forward)");
  EXPECT_EQ(changes(test::diff_texts(text, text)), "both x3 gen_traces.py:95 (forward)");
}

TEST(DiffBreaks, FramesNumberedOtherwiseAreNoNewBreaks) {
  const std::string text = test::fixture("graph_breaks");
  EXPECT_EQ(changes(test::diff_texts(text, with_later_frames(text))),
            "both x1 frame 1 -> frame 2, both x1 frame 2 -> frame 3, both x1 frame 3 -> frame 4");
}

TEST(DiffBreaks, StacksOnOneSideAlone) {
  const std::string with = test::fixture("graph_breaks_stack"), without = with_later_frames(test::fixture("graph_breaks"));
  for (const auto& [a, b] : {std::pair(with, without), std::pair(without, with)}) {
    const Diffed diffed = test::diff_texts(a, b);
    std::int64_t both = 0;
    for (const BreakChange& change : diffed.answer.breaks) {
      EXPECT_GT(change.occurrences[0], 0) << change.location;
      EXPECT_GT(change.occurrences[1], 0) << change.location;
      both += change.breaks;
    }
    EXPECT_EQ(both, 3);
  }
}

TEST(DiffBreaks, NewOnesAreCountedEachWithAndWithoutStacks) {
  const std::string whole = test::fixture("resnet18_eager_shapes");
  for (const char* name : {"graph_breaks", "graph_breaks_stack"}) {
    const Diffed diffed = test::diff_texts(whole, test::fixture(name));
    for (const auto& [most, fails] : {std::pair("2", true), std::pair("3", false)}) {
      Report report;
      const auto gates = diff::gates_of({{"max_new_breaks", most}});
      ASSERT_TRUE(gates);
      diff::apply_gates(diffed.answer, *gates, report);
      EXPECT_EQ(report.gate_failed, fails) << name << ", at most " << most;
    }
  }
}

// Another function is another break, however alike the rest.
TEST(DiffBreaks, AnotherFunctionIsAnotherBreak) {
  const std::string text = test::fixture("graph_breaks_stack");
  const std::string found = changes(test::diff_texts(text, replaced(text, "resume_in_forward_at", "resume_in_encode_at")));
  EXPECT_NE(found.find("new x3"), std::string::npos) << found;
  EXPECT_NE(found.find("gone x3"), std::string::npos) << found;
}

}  // namespace
}  // namespace ridge
