// Graph breaks of two traces: which are the same ones when lines have moved, frames are numbered otherwise or stacks are
// missing.
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

Diffed diff_three(const std::string& a, const std::string& b, const std::string& c) {
  std::vector<test::LoadedTrace> traces;
  for (const std::string& text : {a, b, c}) traces.emplace_back(test::read_ok(text));
  return Diffed(std::move(traces));
}

// Each trace is held against the one before it.
TEST(DiffBreaks, MovesAreFollowedFromTraceToTrace) {
  const std::string text = test::fixture("graph_breaks_stack"), later = with_later_lines(text);
  const auto locations = [](const Diffed& diffed) {
    std::string all;
    for (const BreakChange& change : diffed.answer.breaks) all += (all.empty() ? "" : ", ") + change.location;
    return all;
  };
  const std::string at_95 = "gen_traces.py:95 (forward)", at_105 = "gen_traces.py:105 (forward)";
  EXPECT_EQ(locations(diff_three(text, later, later)), at_95 + " -> " + at_105);
  EXPECT_EQ(locations(diff_three(text, text, later)), at_95 + " -> " + at_105);
  EXPECT_EQ(locations(diff_three(text, later, text)), at_95 + " -> " + at_105 + " -> " + at_95);
}

// A region that breaks at m.py:14, where it needs what `op` tells, and resumes in the next one; from `at` us on.
std::string broken_by(std::string_view op, int frame, int at) {
  const auto slice = [&](std::string name, int ts, int dur, std::string_view cat = "cpu_op") {
    return test::event({.name = name, .ts = at + ts, .dur = dur, .cat = cat});
  };
  const auto region = [&](int id) { return "Torch-Compiled Region: " + std::to_string(id) + "/0"; };
  return test::join({slice(region(frame), 0, 100), slice("m.py(10): f", 1, 98, "python_function"),
                     slice("## Call CompiledFxGraph a ##", 10, 20, "user_annotation"), slice(std::string(op), 32, 10),
                     slice("TorchDynamo Cache Lookup", 44, 2), slice(region(frame + 1), 48, 50),
                     slice("m.py(10): torch_dynamo_resume_in_f_at_14", 49, 48, "python_function"),
                     slice("## Call CompiledFxGraph b ##", 52, 40, "user_annotation")});
}

TEST(DiffBreaks, OfOnePlaceKeepAllTheirReasons) {
  const std::string text =
      R"({"traceEvents": [)" +
      test::join({broken_by("aten::item", 0, 0), broken_by("aten::nonzero", 2, 200), broken_by("aten::item", 4, 400)}) + "]}";
  const Diffed diffed = test::diff_texts(text, text);
  EXPECT_EQ(changes(diffed), "both x3 m.py:14 (f)");
  ASSERT_FALSE(diffed.answer.breaks.empty());
  EXPECT_EQ(diffed.answer.breaks[0].reason, "data-dependent: aten::item; data-dependent shape: aten::nonzero");
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
