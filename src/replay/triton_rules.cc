// Decorators hold literals, bodies known words (triton_words.h); the first that is neither refuses the source.
#include "replay/triton_rules.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include <fmt/format.h>

#include "replay/triton_words.h"

namespace ridge {
namespace {

tl::unexpected<Error> refused(const PythonLine& line, std::string_view what) {
  return fail(ErrorCode::usage,
              fmt::format("the source is refused: line {}: {}; --trust-source takes it as it stands", line.number, what));
}

std::string shown(const PythonToken& token) { return "'" + std::string(token.text.substr(0, 40)) + "'"; }

// Texts that are evaluated when a launcher is made: those behind two keys of Inductor's, up to the end of their value.
struct EvaluatedText {
  bool now = false;
  int depth = 0;

  void begin() { now = true, depth = 0; }
  void step(const PythonToken& token) {
    if (!now || token.kind != PythonTokenKind::op) return;
    if (std::string_view("([{").find(token.text) != std::string_view::npos) ++depth;
    if (std::string_view(")]}").find(token.text) != std::string_view::npos) --depth;
    if (depth < 0 || (depth == 0 && token.text != ":")) now = false;
  }
};

// Names, numbers and operators: no call, no attribute, no text.
bool is_arithmetic(std::string_view text) {
  if (text.find("__") != std::string_view::npos) return false;
  bool word = false;
  for (const char c : text) {
    const bool in_word = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    if (!in_word && std::string_view(" +-*/()<>=,").find(c) == std::string_view::npos) return false;
    if (c == '(' && word) return false;
    if (c != ' ') word = in_word;
  }
  return true;
}

// A launcher is put together as text, also from values that tell no more than a size or a type: none of them calls, indexes
// or begins a statement.
bool may_be_code(std::string_view text) { return text.find_first_of("()[]{};=\n\r\f") != std::string_view::npos; }

void collect_parameters(const PythonLine& line, std::set<std::string, std::less<>>* names) {
  int depth = 0;
  for (std::size_t i = 2; i < line.tokens.size(); ++i) {
    const PythonToken& token = line.tokens[i];
    if (is_op(token, "(") || is_op(token, "[")) ++depth;
    if (is_op(token, ")") || is_op(token, "]")) --depth;
    const bool first = is_op(line.tokens[i - 1], "(") || is_op(line.tokens[i - 1], ",");
    if (depth == 1 && first && token.kind == PythonTokenKind::name) names->insert(std::string(token.text));
  }
}

// Names left of an assignment, of a for loop, or of a walrus. Generous: a name that is read only is still looked at
// elsewhere.
void collect_targets(const PythonTokens& tokens, std::set<std::string, std::less<>>* names) {
  int depth = 0;
  std::size_t end = 0;  // of what stands left of the last "=" outside of brackets
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].kind == PythonTokenKind::op && std::string_view("([{").find(tokens[i].text[0]) != std::string_view::npos)
      ++depth;
    if (tokens[i].kind == PythonTokenKind::op && std::string_view(")]}").find(tokens[i].text[0]) != std::string_view::npos)
      --depth;
    const bool assigns = tokens[i].kind == PythonTokenKind::op && tokens[i].text.ends_with('=') && tokens[i].text != "==" &&
                         tokens[i].text != "<=" && tokens[i].text != ">=" && tokens[i].text != "!=";
    if (depth == 0 && assigns) end = i;
    if (is_word(tokens[i], "in") && is_word(tokens[0], "for") && end == 0) end = i;
  }
  bool annotation = false;
  for (std::size_t i = 0; i < end; ++i) {
    annotation = annotation || is_op(tokens[i], ":");
    const bool target = tokens[i].kind == PythonTokenKind::name && !annotation && (i == 0 || !is_op(tokens[i - 1], ".")) &&
                        !is_body_keyword(tokens[i].text);
    if (target) names->insert(std::string(tokens[i].text));
  }
}

Result<void> check_literal(const PythonLine& line, std::size_t i, EvaluatedText* evaluated) {
  const PythonTokens& t = line.tokens;
  const auto next_is = [&](std::string_view op) { return i + 1 < t.size() && is_op(t[i + 1], op); };
  switch (t[i].kind) {
    case PythonTokenKind::number: return {};
    case PythonTokenKind::string: {
      std::string value;
      if (!python_string_value(t[i], &value)) return refused(line, "text " + shown(t[i]));
      if (value == "precomputed_grids" || value == "extra_launcher_args") evaluated->begin();
      if (evaluated->now && !is_arithmetic(value)) return refused(line, "text " + shown(t[i]) + " that would be evaluated");
      if (!evaluated->now && may_be_code(value)) return refused(line, "text " + shown(t[i]) + " that may be code");
      return {};
    }
    case PythonTokenKind::op:
      if (std::string_view("([{}]),:=.-").find(t[i].text) != std::string_view::npos) return {};
      return refused(line, "an expression in a decorator: " + shown(t[i]));
    case PythonTokenKind::name: {
      if (is_op(t[i - 1], ".")) {
        const PythonToken& owner = t[i - 2];
        const bool member = (owner.text == "triton" && t[i].text == "Config") || owner.text == "ReductionHint" ||
                            owner.text == "TileHint" || owner.text == "AutotuneHint" || owner.text == "HeuristicType" ||
                            (owner.text == "AttrsDescriptor" && t[i].text == "from_dict");
        return member && !t[i].text.starts_with("_") ? Result<void>() : refused(line, shown(t[i]) + " in a decorator");
      }
      if (next_is("=") && !t[i].text.starts_with("__")) return {};
      if (t[i].text == "triton" && next_is(".")) return {};
      if (is_decorator_word(t[i].text)) return {};
      return refused(line, shown(t[i]) + " in a decorator");
    }
    case PythonTokenKind::other: break;
  }
  return refused(line, shown(t[i]) + " in a decorator");
}

}  // namespace

Result<void> SourceRules::check(const JitFunction& function) {
  for (const PythonLine* line : function.decorators) {
    if (auto good = check_decorator(*line); !good) return good;
  }
  std::set<std::string, std::less<>> locals;
  collect_parameters(*function.definition, &locals);
  for (const PythonLine* line : function.body) collect_targets(line->tokens, &locals);
  if (auto good = check_words(*function.definition, locals, true); !good) return good;
  for (const PythonLine* line : function.body) {
    if (auto good = check_words(*line, locals, false); !good) return good;
  }
  return {};
}

// @triton.jit, @triton_heuristics.pointwise(literals), @triton.autotune(configs=[triton.Config({...})], key=[...])
Result<void> SourceRules::check_decorator(const PythonLine& line) const {
  const PythonTokens& t = line.tokens;
  if (t.size() == 2 && is_word(t[1], "jit")) return {};
  const bool dotted = t.size() >= 4 && t[1].kind == PythonTokenKind::name && is_op(t[2], ".") &&
                      t[3].kind == PythonTokenKind::name && imports_bind(t[1].text);
  const bool known = dotted && ((t[1].text == "triton" && (t[3].text == "jit" || t[3].text == "autotune")) ||
                                (t[1].text == "triton_heuristics" && is_heuristic(t[3].text)));
  if (!known) return refused(line, "decorator " + shown(t.size() > 1 ? t[1] : t[0]) + " is not Triton's");
  EvaluatedText evaluated;
  for (std::size_t i = 4; i < t.size(); ++i) {
    evaluated.step(t[i]);
    if (auto good = check_literal(line, i, &evaluated); !good) return good;
  }
  return {};
}

bool SourceRules::imports_bind(std::string_view name) const {
  return name == "triton" || name == "tl" || file_.imports().contains(std::string(name));
}

Result<void> SourceRules::check_words(const PythonLine& line, const std::set<std::string, std::less<>>& locals,
                                      bool definition) {
  const PythonTokens& t = line.tokens;
  int depth = 0;
  for (std::size_t i = 0; i < t.size(); ++i) {
    if (is_op(t[i], "(") || is_op(t[i], "[") || is_op(t[i], "{")) ++depth;
    if (is_op(t[i], ")") || is_op(t[i], "]") || is_op(t[i], "}")) --depth;
    if (is_op(t[i], ";") || is_op(t[i], "@")) {
      if (is_op(t[i], "@") && i > 0) continue;  // a product
      return refused(line, shown(t[i]));
    }
    if (t[i].kind == PythonTokenKind::other) return refused(line, shown(t[i]));
    if (t[i].kind == PythonTokenKind::string) {
      std::string value;
      if (!python_string_value(t[i], &value)) return refused(line, "text " + shown(t[i]));
      note_index_limit(value);
      continue;
    }
    if (t[i].kind != PythonTokenKind::name) continue;
    const std::string_view word = t[i].text;
    if (definition && i < 2) continue;  // def NAME
    if (word.starts_with("__")) return refused(line, shown(t[i]));
    if (i > 0 && is_op(t[i - 1], ".")) {
      const bool of_library = i > 1 && file_.libraries().contains(std::string(t[i - 2].text)) && word != "core" &&
                              !word.starts_with('_') && (i < 3 || !is_op(t[i - 3], "."));
      if (!of_library && !is_triton_attribute(word)) return refused(line, "attribute " + shown(t[i]));
      continue;
    }
    const bool keyword_argument = depth > 0 && i + 1 < t.size() && is_op(t[i + 1], "=");
    if (is_reaching_builtin(word) && !keyword_argument) return refused(line, "name " + shown(t[i]));
    if (keyword_argument || is_body_keyword(word)) continue;
    // A default is evaluated before its function has parameters: a name of theirs is Python's own there.
    const bool called = i + 1 < t.size() && is_op(t[i + 1], "(");
    if (locals.contains(word) && !(definition && called)) continue;
    if (file_.functions().contains(std::string(word)) || file_.constants().contains(std::string(word))) {
      named_.insert(std::string(word));
      continue;
    }
    if (imports_bind(word) || is_body_builtin(word)) continue;
    return refused(line, "name " + shown(t[i]));
  }
  return {};
}

// 'index out of bounds: 0 <= tmp4 < 50257'
void SourceRules::note_index_limit(std::string_view message) {
  if (!message.starts_with("index out of bounds")) return;
  const std::size_t less = message.rfind("< ");
  if (less == std::string_view::npos) return;
  const std::string_view digits = message.substr(less + 2);
  std::int64_t limit = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), limit);
  if (error != std::errc() || limit <= 0) return;
  index_limit_ = std::min(index_limit_.value_or(limit), limit);
}

}  // namespace ridge
