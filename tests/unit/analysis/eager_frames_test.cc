// Frames that Dynamo gave up: they run eager, and what they call is compiled piece by piece. Hand-made nestings, and programs
// recorded on a CPU.
#include "facts/eager_frames.h"

#include <gtest/gtest.h>

#include "facts/breaks.h"
#include "support/compiled_events.h"

namespace ridge::test {
namespace {

// torch.compile's wrapper, a function in it that runs eager, and calls of compiled ones from there.
std::string wrapper(int ts, int dur) { return python("torch/_dynamo/eval_frame.py(956): compile_wrapper", ts, dur); }

TEST(EagerFrames, ALoopThatDynamoGaveUp) {
  const LoadedTrace t = load_events(join({
      wrapper(0, 300),
      python("model.py(12): forward", 1, 298),
      region("1/0", 10, 50),
      graph_call("a", 20, 30),
      launch(1, 30, 5, "k", 36, 5),
      region("1/0", 110, 50),
      graph_call("a", 120, 30),
      launch(2, 130, 5, "k", 136, 5),
      region("1/0", 210, 50),
      graph_call("a", 220, 30),
      launch(3, 230, 5, "k", 236, 5),
  }));
  const Breaks breaks = breaks_of(t);
  ASSERT_EQ(lines(breaks), Lines{"1<-1 2"});
  EXPECT_EQ(breaks.breaks[0].location, "model.py:12 (forward)");
  EXPECT_NE(breaks.breaks[0].reason.find("eager"), std::string::npos);
  EXPECT_EQ(breaks.breaks[0].cpu_ns, 140'000);  // twice from the end of a graph, at 50, to the next, at 120
  EXPECT_EQ(breaks.breaks[0].gpu_idle_ns, 140'000);
  // What the finding looks at as one: from the first compiled call to the end of the last.
  ASSERT_EQ(breaks.given_up.size(), 1U);
  EXPECT_EQ(t.model->tree().start_ns[breaks.given_up[0].first.value], 10'000);
  EXPECT_EQ(breaks.given_up[0].end_ns, 260'000);
}

TEST(EagerFrames, NotALoopOverWhatIsCompiledOneByOne) {
  // Each layer is asked to be compiled by itself; a function that is compiled whole calls nothing.
  const LoadedTrace layers = load_events(join({
      python("model.py(12): forward", 0, 300),
      wrapper(5, 60),
      region("0/0", 10, 50),
      graph_call("a", 20, 30),
      wrapper(105, 60),
      region("0/0", 110, 50),
      graph_call("a", 120, 30),
  }));
  EXPECT_EQ(breaks_of(layers).occurrences(), 0);
  // What reached the recompile limit runs eager for another reason: it is looked up, and nothing is found.
  const LoadedTrace limit = load_events(join({
      wrapper(0, 300),
      lookup(1),
      python("model.py(12): forward", 5, 290),
      lookup(7),
      region("1/0", 10, 50),
      graph_call("a", 20, 30),
      lookup(107),
      region("1/0", 110, 50),
      graph_call("a", 120, 30),
  }));
  EXPECT_EQ(breaks_of(limit).occurrences(), 0);
  // A decorator's frame is no function that Dynamo gave up.
  const LoadedTrace decorated = load_events(join({
      wrapper(0, 300),
      python("torch/utils/_contextlib.py(120): decorate_context", 1, 290),
      region("1/0", 10, 50),
      graph_call("a", 20, 30),
      region("1/0", 110, 50),
      graph_call("a", 120, 30),
  }));
  EXPECT_EQ(breaks_of(decorated).occurrences(), 0);
}

// In the middle of a compiled function: its break resumes behind the loop, which runs eager. Without stacks a function that
// Dynamo is told to leave alone, and that calls compiled ones, looks the same.
TEST(EagerFrames, ALoopInsideACompiledFunction) {
  const auto calls = [](bool stacks) {
    return join({
        region("0/0", 0, 400),
        stacks ? python("model.py(5): whole", 1, 398) : "",
        graph_call("first", 5, 10),
        stacks ? python("model.py(12): loop", 20, 280) : "",
        region("2/0", 30, 40),
        graph_call("a", 40, 20),
        region("2/0", 110, 40),
        graph_call("a", 120, 20),
        region("3/0", 310, 80),
        stacks ? python("model.py(5): torch_dynamo_resume_in_whole_at_7", 311, 78) : "",
        graph_call("last", 330, 20),
    });
  };
  const Breaks stacks = breaks_of(load_events(calls(true)));
  EXPECT_EQ(lines(stacks), (Lines{"2<-1 1", "3<0 1"}));
  EXPECT_TRUE(stacks.given_up.empty()) << "inside of a call that is looked at whole";
  const Breaks bare = breaks_of(load_events(calls(false)));
  EXPECT_EQ(lines(bare), Lines{"3<0 1"});
  EXPECT_EQ(bare.maybe_given_up, 2);
  // The last call of a loop is no function that goes on, though nothing of its caller follows it.
  const Breaks last = breaks_of(load_events(join({region("0/0", 0, 400), region("1/0", 30, 40), graph_call("a", 40, 20),
                                                  region("1/0", 110, 40), graph_call("a", 120, 20)})));
  EXPECT_EQ(last.occurrences(), 0);
  EXPECT_EQ(last.maybe_given_up, 2);
}

// Without stacks: frame 0 has no code here, and the one after it is called twice in each iteration. It may have been given up,
// or be what reads the prompt, before the recording began.
TEST(EagerFrames, WithoutStacksAreNotCertain) {
  const auto program = [](std::string_view layer) {
    std::string text;
    for (int i = 0; i < 3; ++i) {
      const int at = i * 1'000;
      const std::string step = "ProfilerStep#" + std::to_string(i);
      text = join({text, event({.name = step, .ts = at, .dur = 900, .cat = "user_annotation"})});
      for (const int call : {at + 100, at + 500}) {
        text = join({text, region(layer, call, 200), graph_call("a", call + 10, 20), lookup(call + 40),
                     region("2/0", call + 50, 100), graph_call("b", call + 60, 20)});
      }
    }
    return breaks_of(load_events(text));
  };
  const Breaks unsure = program("1/0");
  EXPECT_EQ(lines(unsure), Lines{"2<1 6"});
  EXPECT_EQ(unsure.maybe_given_up, 6);
  EXPECT_EQ(program("0/0").maybe_given_up, 0) << "what is compiled first was asked for";
}

// Hooks that autograd calls, and what a library's file named alike is not.
TEST(EagerFrames, AreNotCalledByAutograd) {
  const auto called = [](const std::string& around, std::string_view caller) {
    return load_events(join({wrapper(0, 300), around, python(caller, 2, 296), region("1/0", 10, 50), graph_call("a", 20, 30),
                             region("1/0", 110, 50), graph_call("a", 120, 30)}));
  };
  EXPECT_EQ(breaks_of(called("", "my_functools.py(12): forward")).occurrences(), 1);
  EXPECT_EQ(breaks_of(called("", "/usr/lib/python3.11/functools.py(12): wrapper")).occurrences(), 0);
  const std::string engine = event({.name = "autograd::engine::evaluate_function: MyBackward", .ts = 3, .dur = 290});
  EXPECT_EQ(breaks_of(load_events(join({wrapper(0, 300), python("model.py(12): step", 2, 296), engine, region("1/0", 10, 50),
                                        graph_call("a", 20, 30), region("1/0", 110, 50), graph_call("a", 120, 30)})))
                .occurrences(),
            0);
}

// Nor can calls without ids be told to be of one function.
TEST(EagerFrames, WithoutIdsAreNotGuessed) {
  const auto bare = [](int ts, int dur) { return event({.name = "Torch-Compiled Region", .ts = ts, .dur = dur}); };
  const Breaks breaks = breaks_of(load_events(join({bare(0, 300), bare(10, 20), bare(50, 20), graph_call("own", 100, 20)})));
  EXPECT_EQ(breaks.maybe_given_up, 0);
}

// A function over the recompile limit before the loop is another one.
TEST(EagerFrames, AreTheirOwnBesideOneOverTheLimit) {
  const LoadedTrace t = load_events(join({
      wrapper(0, 300),
      lookup(1),
      python("model.py(3): scaled", 4, 4),
      python("model.py(12): forward", 9, 280),
      lookup(11),
      region("1/0", 14, 50),
      graph_call("a", 20, 30),
      lookup(107),
      region("1/0", 110, 50),
      graph_call("a", 120, 30),
  }));
  EXPECT_EQ(lines(breaks_of(t)), Lines{"1<-1 1"});
}

// Three layers called in a loop, three steps: the loop breaks, with stacks; each layer breaks, without; each is compiled by
// itself.
TEST(EagerFrames, OfRecordedLoopsOverLayers) {
  const auto breaks_in = [](const char* name) {
    const auto path = path_of(name);
    EXPECT_TRUE(path) << name;
    return breaks_of(load_file(path.value_or("")));
  };
  const Breaks loop = breaks_in("given_up_loop");
  EXPECT_EQ(lines(loop), Lines{"1<-1 6"});
  EXPECT_EQ(loop.breaks.at(0).reason,
            "torch._dynamo.graph_break(); the function runs eager, what it calls is compiled piece by piece");
  EXPECT_NE(loop.breaks.at(0).location.find("(forward)"), std::string::npos);
  EXPECT_EQ(lines(breaks_in("given_up_layers")), Lines{"2<1 9"});
  EXPECT_EQ(breaks_in("given_up_layers").maybe_given_up, 9);
  EXPECT_EQ(lines(breaks_in("compiled_layers")), Lines{"1<0 9"});
}

}  // namespace
}  // namespace ridge::test
