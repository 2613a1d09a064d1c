// SourceRules: whether a function of a kernel's file may be run. Triton itself calls Python functions that a kernel names, and
// Inductor makes code out of a decorator's texts: what is not known to be harmless is refused, with its line.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <ridge/result.h>

#include "replay/kernel_file.h"

namespace ridge {

class SourceRules {
 public:
  // The file must outlive it.
  explicit SourceRules(const KernelFile& file) : file_(file) {}

  Result<void> check(const JitFunction& function);

  // Of all that was checked: the functions and constants of the file that it names, and the least bound that it checks indices
  // against.
  const std::set<std::string, std::less<>>& named() const { return named_; }
  std::optional<std::int64_t> index_limit() const { return index_limit_; }

 private:
  Result<void> check_decorator(const PythonLine& line) const;
  Result<void> check_words(const PythonLine& line, const std::set<std::string, std::less<>>& locals, bool definition);
  void note_index_limit(std::string_view message);
  bool imports_bind(std::string_view name) const;

  const KernelFile& file_;
  std::set<std::string, std::less<>> named_;
  std::optional<std::int64_t> index_limit_;
};

}  // namespace ridge
