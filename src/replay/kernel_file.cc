// Statement by statement. A later definition of a name takes the place of an earlier one, as in Python.
#include "replay/kernel_file.h"

#include <initializer_list>
#include <utility>

#include "replay/triton_words.h"

namespace ridge {
namespace {

// NAME = 64, NAME: tl.constexpr = 64, NAME = tl.constexpr(64)
bool is_constant(const PythonTokens& tokens) {
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

}  // namespace

KernelFile::KernelFile(std::string_view text) : text_(text), lines_(python_lines(text)) {
  for (std::size_t i = 0; i < lines_.size();) i = statement(i);
}

const JitFunction* KernelFile::kernel(std::string_view name) const {
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

std::size_t KernelFile::statement(std::size_t first) {
  PythonStatement found{lines_[first].begin, 0, {}};
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

void KernelFile::classify(PythonStatement found) {
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
void KernelFile::import(const PythonLine& line) {
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
void KernelFile::import_from(const PythonLine& line) {
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

void KernelFile::function(PythonStatement found) {
  JitFunction out;
  bool jit = false;
  std::size_t i = 0;
  for (; i < found.lines.size() && is_op(found.lines[i]->tokens[0], "@"); ++i) {
    const PythonTokens& tokens = found.lines[i]->tokens;
    const bool is_jit = tokens.size() == 4 && tokens[1].text == "triton" && tokens[2].text == "." && tokens[3].text == "jit";
    jit = jit || is_jit || (tokens.size() == 2 && tokens[1].text == "jit");
    out.wrapped = out.wrapped || tokens.size() > 5;
    out.decorators.push_back(found.lines[i]);
  }
  if (!jit || i >= found.lines.size()) return;
  out.definition = found.lines[i];
  const PythonTokens& tokens = out.definition->tokens;
  if (tokens.size() < 4 || !is_word(tokens[0], "def") || tokens[1].kind != PythonTokenKind::name) return;
  out.name = tokens[1].text;
  out.body.assign(found.lines.begin() + static_cast<std::ptrdiff_t>(i) + 1, found.lines.end());
  out.statement = std::move(found);
  const std::string name = out.name;
  functions_.insert_or_assign(name, std::move(out));
}

}  // namespace ridge
