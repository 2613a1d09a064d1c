// The marks, one reader each, and a pass down the tree. Forms by the servers' own code: vLLM vllm/v1/worker/gpu_worker.py
// (annotate_profile), SGLang srt/utils/profile_utils.py (build_step_span_name), ATOM's "prefill[..]" and "decode[..]".
#include "model/server_steps.h"

#include <charconv>
#include <cmath>
#include <unordered_map>

namespace ridge {
namespace {

using Sum = ServerTokens::Sum;

// The number at the front of `text`, which loses it.
std::optional<double> take_number(std::string_view* text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc{}) return std::nullopt;
  text->remove_prefix(static_cast<std::size_t>(end - text->data()));
  return static_cast<double>(value);
}
bool take(std::string_view* text, std::string_view expected) {
  if (!text->starts_with(expected)) return false;
  text->remove_prefix(expected.size());
  return true;
}

Stage stage_by(const Sum& context, const Sum& generation) {
  if (context.queries > 0) return generation.queries > 0 ? Stage::mixed : Stage::prefill;
  return generation.queries > 0 ? Stage::decode : Stage::none;
}

// "2(14721)", "1(888_788544)": requests, tokens, squares; "32(sq32sk55086sqsq32sqsk55086)": also keys and pairs.
std::optional<Sum> take_requests(std::string_view* text) {
  Sum sum;
  const auto requests = take_number(text);
  if (!requests || !take(text, "(")) return std::nullopt;
  sum.requests = *requests;
  const bool detailed = take(text, "sq");
  const auto queries = take_number(text);
  if (!queries) return std::nullopt;
  sum.queries = *queries;
  if (detailed) {
    for (const auto& [name, to] :
         {std::pair<std::string_view, double*>{"sk", &sum.keys}, {"sqsq", &sum.squares}, {"sqsk", &sum.pairs}}) {
      const auto value = take(text, name) ? take_number(text) : std::nullopt;
      if (!value) return std::nullopt;
      *to = *value;
    }
  } else if (take(text, "_")) {
    sum.squares = take_number(text).value_or(-1);
  }
  return take(text, ")") ? std::optional(sum) : std::nullopt;
}

// "execute_context_1(888)_generation_0(0)", "execute_32_context_0(..)_generation_32(..)".
std::optional<ServerStep> of_vllm(std::string_view name) {
  if (!take(&name, "execute_")) return std::nullopt;
  if (take_number(&name) && !take(&name, "_")) return std::nullopt;
  if (!take(&name, "context_")) return std::nullopt;
  const auto context = take_requests(&name);
  if (!context || !take(&name, "_generation_")) return std::nullopt;
  const auto generation = take_requests(&name);
  if (!generation) return std::nullopt;
  return ServerStep{stage_by(*context, *generation), {*context, *generation, true}};
}

// The number behind " key=".
std::optional<double> value_of(std::string_view text, std::string_view key) {
  for (std::size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
    const bool whole = at > 0 && (text[at - 1] == ' ' || text[at - 1] == '[');
    std::string_view rest = text.substr(at + key.size());
    if (whole && take(&rest, "=")) return take_number(&rest);
  }
  return std::nullopt;
}

Sum sum_of(std::string_view text, std::string_view prefix) {
  const auto at = [&](std::string_view key) { return value_of(text, std::string(prefix) + std::string(key)); };
  return {.requests = 0,
          .queries = at("sq").value_or(0),
          .keys = at("sk").value_or(-1),
          .pairs = at("sqsk").value_or(-1),
          .squares = at("sqsq").value_or(-1)};
}

// "step[EXTEND bs=2 toks=14721]", "step[DECODE bs=64 g_sq=64 g_sk=131072 g_sqsq=64 g_sqsk=131072]".
std::optional<ServerStep> of_sglang(std::string_view name) {
  std::string_view rest = name;
  if (!take(&rest, "step[")) return std::nullopt;
  const double requests = value_of(name, "bs").value_or(0);
  ServerTokens tokens{sum_of(name, "c_"), sum_of(name, "g_"), true};
  struct Mode {
    std::string_view name;
    Stage stage;
  };
  constexpr Mode kModes[] = {{"EXTEND", Stage::prefill},
                             {"DECODE", Stage::decode},
                             {"MIXED", Stage::mixed},
                             {"SPLIT_PREFILL", Stage::prefill},
                             {"TARGET_VERIFY", Stage::decode}};
  for (const Mode& mode : kModes) {
    if (!rest.starts_with(mode.name)) continue;
    if (mode.stage == Stage::prefill) {
      tokens.context.requests = requests;
      if (tokens.context.queries <= 0) tokens.context.queries = value_of(name, "toks").value_or(0);
    } else if (mode.stage == Stage::decode) {
      tokens.generation.requests = requests;
      // A step makes a token for each request; where it checks several, their number is not told.
      if (tokens.generation.queries <= 0 && mode.name == "DECODE") tokens.generation.queries = requests;
    } else {
      tokens.context.requests = value_of(name, "c").value_or(0);
      tokens.generation.requests = value_of(name, "g").value_or(0);
    }
    tokens.known = tokens.context.queries > 0 || tokens.generation.queries > 0;
    return ServerStep{mode.stage, tokens};
  }
  return ServerStep{};
}

// "prefill[bs=2 tok=14721 ctx=[7803, 6918]]", "decode[bs=117/128 tok=117 d=117 sqsq=117 sqsk=262144 sk=262144]".
std::optional<ServerStep> of_atom(std::string_view name) {
  const bool prefill = name.starts_with("prefill[");
  if (!prefill && !name.starts_with("decode[")) return std::nullopt;
  const auto tokens = value_of(name, "tok");
  if (!tokens) return std::nullopt;
  ServerStep step{prefill ? Stage::prefill : Stage::decode, {}};
  Sum& sum = prefill ? step.tokens.context : step.tokens.generation;
  sum = {.requests = value_of(name, "bs").value_or(0),
         .queries = *tokens,
         .keys = value_of(name, "sk").value_or(-1),
         .pairs = value_of(name, "sqsk").value_or(-1),
         .squares = value_of(name, "sqsq").value_or(-1)};
  step.tokens.known = true;
  return step;
}

// "capture_32_DECODE", "capture_32_FULL": the making of a graph that steps replay.
std::optional<ServerStep> of_capture(std::string_view name) {
  if (!take(&name, "capture_") || !take_number(&name)) return std::nullopt;
  const auto holds = [&](std::string_view text) { return name.find(text) != std::string_view::npos; };
  if (holds("DECODE") || holds("decode")) return ServerStep{Stage::decode, {}};
  if (holds("EXTEND") || holds("prefill")) return ServerStep{Stage::prefill, {}};
  return ServerStep{};
}

struct KernelStage {
  std::string_view pattern;
  Stage stage;
};
constexpr KernelStage kKernelStages[] = {
    {"Context", Stage::prefill},                              // TensorRT-LLM: fmhaSm100aKernel_.._PersistentContext
    {"ForGen", Stage::decode},                                // and .._ForGen
    {"Prefill", Stage::prefill},                              // FlashInfer
    {"prefill", Stage::prefill}, {"extend", Stage::prefill},  // SGLang
    {"Decode", Stage::decode},   {"decode", Stage::decode},  {"paged_attention_", Stage::decode},
};

// "sglang/srt/model_executor/model_runner.py(2041): forward_decode".
Stage stage_of_frame(std::string_view name) {
  if (name.ends_with(": forward_decode")) return Stage::decode;
  if (name.ends_with(": forward_extend")) return Stage::prefill;
  return Stage::none;
}

// How much a mark tells.
int detail_of(const ServerStep& step) {
  const bool pairs = step.tokens.context.pairs >= 0 || step.tokens.generation.pairs >= 0;
  return pairs ? 3 : step.tokens.known ? 2 : step.stage != Stage::none ? 1 : 0;
}

}  // namespace

std::string_view name_of(Stage stage) {
  constexpr std::string_view names[] = {"[no stage]", "prefill", "decode", "mixed"};
  return names[static_cast<std::size_t>(stage)];
}

std::optional<ServerStep> parse_server_step(std::string_view name) {
  for (const auto read : {of_vllm, of_sglang, of_atom, of_capture}) {
    if (auto step = read(name)) return step;
  }
  return std::nullopt;
}

Stage stage_of_kernel(std::string_view kernel) {
  for (const KernelStage& each : kKernelStages) {
    if (kernel.find(each.pattern) != std::string_view::npos) return each.stage;
  }
  return Stage::none;
}

bool is_server_step(std::string_view name) { return of_vllm(name) || of_sglang(name) || of_atom(name); }

ServerSteps build_server_steps(const Trace& trace, const CallTree& tree) {
  ServerSteps result;
  // Of each name: as a mark 1 + the index of its step; as a frame its stage.
  std::vector<std::uint32_t> step_of(trace.strings.size());
  std::vector<Stage> frame(trace.strings.size(), Stage::none);
  bool frames = false;
  for (std::size_t i = 0; i < trace.strings.size(); ++i) {
    const std::string_view text = trace.text(StringId{i});
    frame[i] = stage_of_frame(text);
    frames = frames || frame[i] != Stage::none;
    if (const auto step = parse_server_step(text)) {
      result.steps.push_back(*step);
      step_of[i] = static_cast<std::uint32_t>(result.steps.size());
    }
  }
  if (result.steps.empty() && !frames) return result;
  result.of.assign(tree.size(), 0);
  result.stage.assign(tree.size(), Stage::none);
  for (std::size_t n = 0; n < tree.size(); ++n) {
    if (tree.parent[n] != kNoNode) {
      result.of[n] = result.of[tree.parent[n].value];
      result.stage[n] = result.stage[tree.parent[n].value];
    }
    const StringId name = trace.events.name(tree.event[n]);
    if (tree.event_class[n] == EventClass::python_frame) {
      if (frame[name.value] != Stage::none && result.of[n] == 0) result.stage[n] = frame[name.value];
      continue;
    }
    const std::uint32_t mark = tree.event_class[n] == EventClass::annotation ? step_of[name.value] : 0;
    if (mark == 0) continue;
    if (result.of[n] == 0 || detail_of(result.steps[mark - 1]) >= detail_of(result.steps[result.of[n] - 1]))
      result.of[n] = mark;
    const Stage stage = result.steps[result.of[n] - 1].stage;
    if (stage != Stage::none) result.stage[n] = stage;
  }
  return result;
}

}  // namespace ridge
