// KernelFile: what stands in the file of a Triton kernel at its left margin, told apart: imports, constants, functions under
// triton.jit. Whatever else there is, is not kept. Nothing is judged here (triton_rules.h) but which imports are Triton's.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "replay/python_tokens.h"

namespace ridge {

using PythonTokens = std::vector<PythonToken>;

// A statement of the file at its left margin, with the lines under it.
struct PythonStatement {
  std::size_t begin = 0, end = 0;  // in the text
  std::vector<const PythonLine*> lines;
};

struct JitFunction {
  std::string name;
  PythonStatement statement;
  std::vector<const PythonLine*> decorators;
  const PythonLine* definition = nullptr;
  std::vector<const PythonLine*> body;
  bool wrapped = false;  // in one of Inductor's heuristics, or an autotuner
};

class KernelFile {
 public:
  // The text must outlive it.
  explicit KernelFile(std::string_view text);
  KernelFile(const KernelFile&) = delete;
  KernelFile& operator=(const KernelFile&) = delete;

  // The kernel of that name; else the only one that Inductor wrapped, else the only one at all; nullptr: none.
  const JitFunction* kernel(std::string_view name) const;

  std::string_view text() const { return text_; }
  const std::map<std::string, std::string>& imports() const { return imports_; }
  const std::set<std::string>& libraries() const { return libraries_; }
  const std::map<std::string, const PythonLine*>& constants() const { return constants_; }
  const std::map<std::string, JitFunction, std::less<>>& functions() const { return functions_; }

 private:
  std::size_t statement(std::size_t first);
  void classify(PythonStatement found);
  void import(const PythonLine& line);
  void import_from(const PythonLine& line);
  void function(PythonStatement found);

  std::string_view text_;
  std::vector<PythonLine> lines_;
  std::map<std::string, std::string> imports_;  // by the name that they bind
  std::set<std::string> libraries_;             // imports that are modules of device functions
  std::map<std::string, const PythonLine*> constants_;
  std::map<std::string, JitFunction, std::less<>> functions_;
};

}  // namespace ridge
