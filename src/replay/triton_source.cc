// What a script takes from a file: the kernel's function, the functions under triton.jit and the constants that it names, and
// the imports of Triton and of Inductor's runtime. Everything else in the file is left out, and so is never run. What is taken
// is looked at word by word (triton_words.h); the first word that is not known refuses the source.
#include "replay/triton_source.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/try.h"
#include "cost/triton/kernel_source.h"
#include "replay/python_tokens.h"
#include "replay/triton_words.h"

namespace ridge {
namespace {

using Tokens = std::vector<PythonToken>;

// A statement of the file at its left margin, with the lines under it.
struct Statement {
  std::size_t begin = 0, end = 0;  // in the text
  std::vector<const PythonLine*> lines;
};

struct JitFunction {
  std::string name;
  Statement statement;
  std::vector<const PythonLine*> decorators;
  const PythonLine* definition = nullptr;
  std::vector<const PythonLine*> body;
  bool wrapped = false;  // in one of Inductor's heuristics, or an autotuner
};

tl::unexpected<Error> refused(const PythonLine& line, std::string_view what) {
  return fail(ErrorCode::usage,
              fmt::format("the source is refused: line {}: {}; --trust-source takes it as it stands", line.number, what));
}

std::string shown(const PythonToken& token) { return "'" + std::string(token.text.substr(0, 40)) + "'"; }

class SourceReader {
 public:
  explicit SourceReader(std::string_view text) : text_(text), lines_(python_lines(text)) {
    for (std::size_t i = 0; i < lines_.size();) i = statement(i);
  }

  // The kernel of that name; else the only one that Inductor wrapped, else the only one at all.
  const JitFunction* kernel(std::string_view name) const {
    const JitFunction *wrapped = nullptr, *only = nullptr;
    std::size_t wrapped_count = 0;
    for (const auto& [known, function] : functions_) {
      if (known == name) return &function;
      if (function.wrapped) wrapped = &function, ++wrapped_count;
      only = &function;
    }
    if (wrapped_count == 1) return wrapped;
    return functions_.size() == 1 ? only : nullptr;
  }

  // The text that defines it, or why not.
  Result<std::string> reduced(const JitFunction& kernel) {
    std::vector<const JitFunction*> taken;
    std::vector<const JitFunction*> waiting = {&kernel};
    while (!waiting.empty()) {
      const JitFunction* function = waiting.back();
      waiting.pop_back();
      if (std::ranges::find(taken, function) != taken.end()) continue;
      taken.push_back(function);
      if (auto good = check(*function); !good) return tl::unexpected(good.error());
      for (const std::string& name : named_) {
        const auto found = functions_.find(name);
        if (found != functions_.end()) waiting.push_back(&found->second);
      }
    }
    // Code on the first line: a comment there could name another encoding.
    std::string out = "import triton\nimport triton.language as tl\n";
    for (const auto& [name, line] : imports_) {
      if (name != "triton" && name != "tl") out += line;
    }
    if (imports_.contains("triton_helpers")) out += "triton_helpers.set_driver_to_gpu()\n";
    for (const auto& [name, at] : constants_) {
      if (named_.contains(name)) out += without_comments(*at) + "\n";
    }
    std::ranges::sort(taken, {}, [](const JitFunction* f) { return f->statement.begin; });
    for (const JitFunction* function : taken) {
      out += "\n";
      for (const PythonLine* line : function->statement.lines)
        out += std::string(line->indent, ' ') + without_comments(*line) + "\n";
    }
    return out;
  }

 private:
  std::size_t statement(std::size_t first) {
    Statement found{lines_[first].begin, 0, {}};
    std::size_t i = first;
    const auto decorates = [&](const PythonLine& line) { return !line.tokens.empty() && is_op(line.tokens[0], "@"); };
    while (i + 1 < lines_.size() && decorates(lines_[i]) && lines_[i].indent == 0) ++i;
    for (++i; i < lines_.size() && lines_[i].indent > 0; ++i) {
    }
    for (std::size_t k = first; k < i; ++k) found.lines.push_back(&lines_[k]);
    found.end = lines_[i - 1].end;
    classify(std::move(found));
    return i;
  }

  void classify(Statement found) {
    const PythonLine& line = *found.lines.front();
    if (line.indent != 0) return;
    if (is_word(line.tokens[0], "import")) return import(line);
    if (is_word(line.tokens[0], "from")) return import_from(line);
    if (line.tokens.size() > 2 && line.tokens[0].kind == PythonTokenKind::name && is_constant(line.tokens)) {
      constants_[std::string(line.tokens[0].text)] = &line;
      return;
    }
    if (is_op(line.tokens[0], "@")) return function(std::move(found));
  }

  // import triton.language as tl
  void import(const PythonLine& line) {
    std::string module;
    std::size_t i = 1;
    for (; i < line.tokens.size() && !is_word(line.tokens[i], "as"); ++i) module += line.tokens[i].text;
    if (!is_triton_import({}, module)) return;
    const bool renamed = i + 2 == line.tokens.size();
    if (!renamed && i != line.tokens.size()) return;
    const std::string name(renamed ? line.tokens[i + 1].text : std::string_view("triton"));
    if (renamed && line.tokens[i + 1].kind != PythonTokenKind::name) return;
    imports_[name] = "import " + module + (renamed ? " as " + name : "") + "\n";
  }

  // from torch._inductor.runtime.triton_helpers import libdevice, math as tl_math
  void import_from(const PythonLine& line) {
    std::string module;
    std::size_t i = 1;
    for (; i < line.tokens.size() && !is_word(line.tokens[i], "import"); ++i) module += line.tokens[i].text;
    for (++i; i < line.tokens.size(); ++i) {
      const PythonToken& name = line.tokens[i];
      if (name.kind != PythonTokenKind::name) continue;  // commas, parentheses
      std::string bound(name.text);
      if (i + 2 < line.tokens.size() && is_word(line.tokens[i + 1], "as")) {
        if (line.tokens[i + 2].kind != PythonTokenKind::name) return;
        bound = line.tokens[i + 2].text;
        i += 2;
      }
      if (!is_triton_import(module, name.text)) continue;
      imports_[bound] =
          "from " + module + " import " + std::string(name.text) + (bound == name.text ? "" : " as " + bound) + "\n";
      if (is_device_library(module, name.text)) libraries_.insert(bound);
    }
  }

  // NAME = 64, NAME: tl.constexpr = 64, NAME = tl.constexpr(64)
  static bool is_constant(const Tokens& tokens) {
    std::size_t i = 1;
    const auto words = [&](std::initializer_list<std::string_view> expected) {
      std::size_t k = i;
      for (const std::string_view word : expected) {
        if (k >= tokens.size() || tokens[k].text != word) return false;
        ++k;
      }
      i = k;
      return true;
    };
    words({":", "tl", ".", "constexpr"});
    if (!words({"="})) return false;
    const bool wrapped = words({"tl", ".", "constexpr", "("});
    if (i < tokens.size() && is_op(tokens[i], "-")) ++i;
    const bool plain = i < tokens.size() &&
                       (tokens[i].kind == PythonTokenKind::number || is_word(tokens[i], "True") || is_word(tokens[i], "False"));
    return plain && i + (wrapped ? 2 : 1) == tokens.size();
  }

  void function(Statement found) {
    JitFunction out;
    bool jit = false;
    std::size_t i = 0;
    for (; i < found.lines.size() && is_op(found.lines[i]->tokens[0], "@"); ++i) {
      const Tokens& tokens = found.lines[i]->tokens;
      const bool is_jit = tokens.size() == 4 && tokens[1].text == "triton" && tokens[2].text == "." && tokens[3].text == "jit";
      jit = jit || is_jit || (tokens.size() == 2 && tokens[1].text == "jit");
      out.wrapped = out.wrapped || tokens.size() > 5;
      out.decorators.push_back(found.lines[i]);
    }
    if (!jit || i >= found.lines.size()) return;
    out.definition = found.lines[i];
    const Tokens& tokens = out.definition->tokens;
    if (tokens.size() < 4 || !is_word(tokens[0], "def") || tokens[1].kind != PythonTokenKind::name) return;
    out.name = tokens[1].text;
    out.body.assign(found.lines.begin() + static_cast<std::ptrdiff_t>(i) + 1, found.lines.end());
    out.statement = std::move(found);
    const std::string name = out.name;
    functions_.insert_or_assign(name, std::move(out));
  }

  Result<void> check(const JitFunction& function) {
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
  Result<void> check_decorator(const PythonLine& line) const {
    const Tokens& t = line.tokens;
    if (t.size() == 2 && is_word(t[1], "jit")) return {};
    const bool dotted = t.size() >= 4 && t[1].kind == PythonTokenKind::name && is_op(t[2], ".") &&
                        t[3].kind == PythonTokenKind::name && imports_bind(t[1].text);
    const bool known = dotted && ((t[1].text == "triton" && (t[3].text == "jit" || t[3].text == "autotune")) ||
                                  (t[1].text == "triton_heuristics" && is_heuristic(t[3].text)));
    if (!known) return refused(line, "decorator " + shown(t.size() > 1 ? t[1] : t[0]) + " is not Triton's");
    Evaluated evaluated;
    for (std::size_t i = 4; i < t.size(); ++i) {
      evaluated.step(t[i]);
      if (auto good = check_literal(line, i, &evaluated); !good) return good;
    }
    return {};
  }

  // Texts that are evaluated when a launcher is made: those behind two keys of Inductor's, up to the end of their value.
  struct Evaluated {
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

  Result<void> check_literal(const PythonLine& line, std::size_t i, Evaluated* evaluated) const {
    const Tokens& t = line.tokens;
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

  // Names, numbers and operators: no call, no attribute, no text.
  static bool is_arithmetic(std::string_view text) {
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
  static bool may_be_code(std::string_view text) { return text.find_first_of("()[]{};=\n\r\f") != std::string_view::npos; }

  bool imports_bind(std::string_view name) const {
    return name == "triton" || name == "tl" || imports_.contains(std::string(name));
  }

  static void collect_parameters(const PythonLine& line, std::set<std::string, std::less<>>* names) {
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
  static void collect_targets(const Tokens& tokens, std::set<std::string, std::less<>>* names) {
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

  Result<void> check_words(const PythonLine& line, const std::set<std::string, std::less<>>& locals, bool definition) {
    const Tokens& t = line.tokens;
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
        const bool of_library = i > 1 && libraries_.contains(std::string(t[i - 2].text)) && word != "core" &&
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
      if (functions_.contains(std::string(word)) || constants_.contains(std::string(word))) {
        named_.insert(std::string(word));
        continue;
      }
      if (imports_bind(word) || is_body_builtin(word)) continue;
      return refused(line, "name " + shown(t[i]));
    }
    return {};
  }

  // 'index out of bounds: 0 <= tmp4 < 50257'
  void note_index_limit(std::string_view message) {
    if (!message.starts_with("index out of bounds")) return;
    const std::size_t less = message.rfind("< ");
    if (less == std::string_view::npos) return;
    const std::string_view digits = message.substr(less + 2);
    std::int64_t limit = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), limit);
    if (error != std::errc() || limit <= 0) return;
    index_limit_ = std::min(index_limit_.value_or(limit), limit);
  }

  // From token to token, so that no comment comes along.
  std::string without_comments(const PythonLine& line) const {
    std::string out;
    for (std::size_t i = 0; i < line.tokens.size(); ++i) {
      const PythonToken& token = line.tokens[i];
      if (i > 0) {
        const PythonToken& before = line.tokens[i - 1];
        const std::string_view between =
            text_.substr(before.at + before.text.size(), token.at - before.at - before.text.size());
        const bool breaks = between.find_first_of("\n\r#\\\f") != std::string_view::npos;
        out += breaks ? "\n" + std::string(line.indent + 4, ' ') : std::string(between);
        // Outside of brackets a line may only be broken with a backslash.
        if (breaks && !inside_brackets(line, i)) out.insert(out.size() - line.indent - 5, " \\");
      }
      // A path in a decorator is where Inductor keeps files beside: the script's own.
      const bool path = i > 1 && token.kind == PythonTokenKind::string && is_op(line.tokens[i - 1], "=") &&
                        is_word(line.tokens[i - 2], "filename");
      out += path ? std::string_view("__file__") : token.text;
    }
    return out;
  }

  static bool inside_brackets(const PythonLine& line, std::size_t before) {
    int depth = 0;
    for (std::size_t i = 0; i < before; ++i) {
      if (is_op(line.tokens[i], "(") || is_op(line.tokens[i], "[") || is_op(line.tokens[i], "{")) ++depth;
      if (is_op(line.tokens[i], ")") || is_op(line.tokens[i], "]") || is_op(line.tokens[i], "}")) --depth;
    }
    return depth > 0;
  }

  std::string_view text_;
  std::vector<PythonLine> lines_;
  std::map<std::string, std::string> imports_;  // by the name that they bind
  std::set<std::string> libraries_;
  std::map<std::string, const PythonLine*> constants_;
  std::map<std::string, JitFunction, std::less<>> functions_;
  std::set<std::string, std::less<>> named_;  // functions and constants that what is taken names

 public:
  std::optional<std::int64_t> index_limit_;
};

void read_parameters_of(const JitFunction& kernel, TritonSource* out) {
  const Tokens& t = kernel.definition->tokens;
  int depth = 0;
  for (std::size_t i = 2; i < t.size(); ++i) {
    if (is_op(t[i], "(") || is_op(t[i], "[")) ++depth;
    if (is_op(t[i], ")") || is_op(t[i], "]")) --depth;
    const bool first = is_op(t[i - 1], "(") || is_op(t[i - 1], ",");
    if (depth != 1 || !first || t[i].kind != PythonTokenKind::name) continue;
    out->parameters.emplace_back(t[i].text);
    for (std::size_t k = i + 1; k < t.size() && !is_op(t[k], ",") && !is_op(t[k], ")"); ++k) {
      if (is_word(t[k], "constexpr")) {
        out->constants.emplace_back(t[i].text);
        break;
      }
    }
  }
}

// The sources that a generated module holds: async_compile.triton('name', '''source''', ...).
std::vector<std::string> kernels_in_module(std::string_view text, std::string_view kernel) {
  std::vector<std::string> out;
  if (text.find("async_compile.triton(") == std::string_view::npos) return out;
  for (const PythonLine& line : python_lines(text)) {
    const Tokens& t = line.tokens;
    for (std::size_t i = 0; i + 6 < t.size(); ++i) {
      const bool call =
          is_word(t[i], "async_compile") && is_op(t[i + 1], ".") && is_word(t[i + 2], "triton") && is_op(t[i + 3], "(");
      std::string name, source;
      if (call && python_string_value(t[i + 4], &name) && name == kernel && python_string_value(t[i + 6], &source))
        out.push_back(std::move(source));
    }
  }
  return out;
}

}  // namespace

Result<TritonSource> find_triton_source(std::string_view file_text, std::string_view kernel, std::string_view hash,
                                        SourceTrust trust) {
  std::vector<std::string> texts = kernels_in_module(file_text, kernel);
  if (texts.empty()) texts.emplace_back(file_text);
  const auto same = [&](const std::string& text) { return !hash.empty() && kernel_source_hash(text) == hash; };
  const auto match = std::ranges::find_if(texts, same);
  const std::string& text = match != texts.end() ? *match : texts.front();
  SourceReader reader(text);
  const JitFunction* found = reader.kernel(kernel);
  if (found == nullptr)
    return fail(ErrorCode::usage, "the source holds no kernel of that name under triton.jit: name another file with --source");
  TritonSource out;
  out.function = found->name;
  out.match = match_source(text, hash);
  read_parameters_of(*found, &out);
  auto reduced = reader.reduced(*found);
  if (!reduced && trust == SourceTrust::parsed) return tl::unexpected(reduced.error());
  out.index_limit = reader.index_limit_;
  out.text = trust == SourceTrust::whole ? text : std::move(*reduced);
  return out;
}

}  // namespace ridge
