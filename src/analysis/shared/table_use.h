// What a table of kernels that were measured alone (--table) served: how many of its rows, and for how much. A table of which
// nothing fits would else change nothing without a word.
#pragma once

#include <optional>

#include <ridge/report.h>

#include "facts/scope.h"
#include "predict/kernel_table.h"

namespace ridge {

// Of the launches of a scope; nothing without a table, or without kernels.
std::optional<Diagnostic> table_use(const Scope& scope);

// Of the lines of --ops.
class LinesOfTable {
 public:
  // One line, which the table tells with these rows, or does not tell.
  void add(bool told, const KernelTable::Used& used);
  Diagnostic told(const KernelTable& table, const DeviceSpec& device) const;

 private:
  KernelTable::Used used_;
  std::size_t lines_ = 0, told_ = 0;
};

}  // namespace ridge
