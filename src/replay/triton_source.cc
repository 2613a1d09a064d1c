// What a script takes from a file: the kernel's function, the functions under triton.jit and the constants that it names, and
// the imports of Triton and of Inductor's runtime (kernel_file.h). Everything else in the file is left out, and so is never
// run. What is taken is looked at (triton_rules.h).
#include "replay/triton_source.h"

#include <algorithm>

#include "base/try.h"
#include "cost/triton/kernel_source.h"
#include "replay/kernel_file.h"
#include "replay/triton_rules.h"

namespace ridge {
namespace {

bool inside_brackets(const PythonLine& line, std::size_t before) {
  int depth = 0;
  for (std::size_t i = 0; i < before; ++i) {
    if (is_op(line.tokens[i], "(") || is_op(line.tokens[i], "[") || is_op(line.tokens[i], "{")) ++depth;
    if (is_op(line.tokens[i], ")") || is_op(line.tokens[i], "]") || is_op(line.tokens[i], "}")) --depth;
  }
  return depth > 0;
}

// From token to token, so that no comment comes along.
std::string without_comments(std::string_view text, const PythonLine& line) {
  std::string out;
  for (std::size_t i = 0; i < line.tokens.size(); ++i) {
    const PythonToken& token = line.tokens[i];
    if (i > 0) {
      const PythonToken& before = line.tokens[i - 1];
      const std::string_view between = text.substr(before.at + before.text.size(), token.at - before.at - before.text.size());
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

// The text that defines it, or why not.
Result<std::string> reduced(const KernelFile& file, const JitFunction& kernel, SourceRules* rules) {
  std::vector<const JitFunction*> taken;
  std::vector<const JitFunction*> waiting = {&kernel};
  while (!waiting.empty()) {
    const JitFunction* function = waiting.back();
    waiting.pop_back();
    if (std::ranges::find(taken, function) != taken.end()) continue;
    taken.push_back(function);
    if (auto good = rules->check(*function); !good) return tl::unexpected(good.error());
    for (const std::string& name : rules->named()) {
      const auto found = file.functions().find(name);
      if (found != file.functions().end()) waiting.push_back(&found->second);
    }
  }
  // Code on the first line: a comment there could name another encoding.
  std::string out = "import triton\nimport triton.language as tl\n";
  for (const auto& [name, line] : file.imports()) {
    if (name != "triton" && name != "tl") out += line;
  }
  if (file.imports().contains("triton_helpers")) out += "triton_helpers.set_driver_to_gpu()\n";
  for (const auto& [name, at] : file.constants()) {
    if (rules->named().contains(name)) out += without_comments(file.text(), *at) + "\n";
  }
  std::ranges::sort(taken, {}, [](const JitFunction* f) { return f->statement.begin; });
  for (const JitFunction* function : taken) {
    out += "\n";
    for (const PythonLine* line : function->statement.lines)
      out += std::string(line->indent, ' ') + without_comments(file.text(), *line) + "\n";
  }
  return out;
}

void read_parameters_of(const JitFunction& kernel, TritonSource* out) {
  const PythonTokens& t = kernel.definition->tokens;
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
    const PythonTokens& t = line.tokens;
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
  const KernelFile file(text);
  const JitFunction* found = file.kernel(kernel);
  if (found == nullptr)
    return fail(ErrorCode::usage, "the source holds no kernel of that name under triton.jit: name another file with --source");
  TritonSource out;
  out.function = found->name;
  out.match = match_source(text, hash);
  read_parameters_of(*found, &out);
  SourceRules rules(file);
  auto taken = reduced(file, *found, &rules);
  if (!taken && trust == SourceTrust::parsed) return tl::unexpected(taken.error());
  out.index_limit = rules.index_limit();
  out.text = trust == SourceTrust::whole ? text : std::move(*taken);
  return out;
}

}  // namespace ridge
