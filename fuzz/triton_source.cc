// Sources of Triton kernels from any bytes: what is taken holds none of the words that reach beyond Triton, and is taken again
// as it stands; a text becomes one Python literal.
#include "replay/triton_source.h"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "replay/python_text.h"
#include "replay/python_tokens.h"

namespace {

using namespace ridge;

void require(bool condition) {
  if (!condition) std::abort();
}

void check_taken(const TritonSource& source) {
  for (const PythonLine& line : python_lines(source.text)) {
    for (const PythonToken& token : line.tokens) {
      require(token.kind != PythonTokenKind::other);
      for (const char* word : {"eval", "exec", "open", "os", "sys", "getattr", "lambda", "class"})
        require(token.kind != PythonTokenKind::name || token.text != word || is_op(line.tokens.front(), "@") ||
                source.text.find(std::string(word) + "(") == std::string::npos);
    }
  }
  const auto again = find_triton_source(source.text, source.function, "", SourceTrust::parsed);
  require(again.has_value() && again->text == source.text && again->parameters == source.parameters);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const SourceTrust trust : {SourceTrust::parsed, SourceTrust::whole}) {
    const auto source = find_triton_source(text, "k", "", trust);
    if (source && trust == SourceTrust::parsed) check_taken(*source);
  }
  std::string literal;
  append_python_string(literal, text);
  const auto lines = python_lines(literal);
  require(lines.size() == 1 && lines[0].tokens.size() == 1 && lines[0].tokens[0].kind == PythonTokenKind::string);
  std::string block = "x = ";
  append_python_block(block, text);
  require(python_lines(block).size() == 1);
  return 0;
}
