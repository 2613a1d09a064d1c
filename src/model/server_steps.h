// ServerSteps: the steps of a server that runs a language model, by its own marks: annotations in which vLLM, SGLang and ATOM
// say how many requests a step reads (context, prefill) and for how many it makes tokens (generation, decode), and how long
// they are.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "model/call_tree.h"
#include "ops/part.h"
#include "trace/trace.h"

namespace ridge {

enum class Stage : std::uint8_t { none, prefill, decode, mixed };
std::string_view name_of(Stage stage);  // "[no stage]" for none

struct ServerStep {
  Stage stage = Stage::none;
  ServerTokens tokens;  // known: the mark says how many
};

// What a mark says; nothing where the name is none. A mark of a capture has a stage where it tells one.
std::optional<ServerStep> parse_server_step(std::string_view name);
// Marks of steps that a server ran, not of captures.
bool is_server_step(std::string_view name);

// Which requests of a step a kernel of attention serves, by its name; none where it does not tell.
Stage stage_of_kernel(std::string_view kernel);

struct ServerSteps {
  std::vector<ServerStep> steps;  // the distinct ones
  std::vector<std::uint32_t> of;  // by node: 1 + the index of the mark around it, 0 where there is none; empty without marks
  std::vector<Stage> stage;       // by node: of the mark, else of a Python frame that says it; empty when nothing does

  const ServerStep* around(NodeId n) const {
    return n == kNoNode || of.empty() || of[n.value] == 0 ? nullptr : &steps[of[n.value] - 1];
  }
  Stage stage_of(NodeId n) const { return n == kNoNode || stage.empty() ? Stage::none : stage[n.value]; }
};

// Of nested marks the one that tells more counts, the inner one where they tell the same.
ServerSteps build_server_steps(const Trace& trace, const CallTree& tree);

}  // namespace ridge
